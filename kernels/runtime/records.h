// SPDX-License-Identifier: LGPL-2.1-or-later
// What the records of the protocol and of the driver interface have in common: the same fields under the same names.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

#include <simaai/runtime/transport.h>

#include "runtime/common.h"

namespace simaai::runtime {

/// A completion as a client sees it. An outcome that this version does not know is a refusal.
template <class Record> [[nodiscard]] Completion completion_of(const Record& record) noexcept {
  Completion made;
  made.job = record.job;
  made.outcome = record.outcome <= static_cast<std::uint32_t>(JobOutcome::Overfull)
                     ? static_cast<JobOutcome>(record.outcome)
                     : JobOutcome::Refused;
  made.entry_status = record.entry_status;
  made.detail = record.detail;
  made.counters = {record.dma_calls_in,  record.dma_calls_out,    record.dma_bytes_in,
                   record.dma_bytes_out, record.typed_load_bytes, record.typed_store_bytes,
                   record.cycles,        record.workers,          record.route};
  made.started_ns = record.started_ns;
  made.done_ns = record.done_ns;
  return made;
}

/// A record as a server writes it, but for the number of the job and what precedes it.
template <class Record> [[nodiscard]] Record record_of(const Completion& from) noexcept {
  Record record{};
  record.outcome = static_cast<std::uint32_t>(from.outcome);
  record.entry_status = from.entry_status;
  record.detail = from.detail;
  record.dma_calls_in = from.counters.dma_calls_in;
  record.dma_calls_out = from.counters.dma_calls_out;
  record.dma_bytes_in = from.counters.dma_bytes_in;
  record.dma_bytes_out = from.counters.dma_bytes_out;
  record.typed_load_bytes = from.counters.typed_load_bytes;
  record.typed_store_bytes = from.counters.typed_store_bytes;
  record.cycles = from.counters.cycles;
  record.started_ns = from.started_ns;
  record.done_ns = from.done_ns;
  record.workers = from.counters.workers;
  record.route = from.counters.route;
  return record;
}

/// The table of a greeting, whose `capability_count` was checked.
template <class Greeting>
[[nodiscard]] CapabilityTable capabilities_of(const Greeting& greeting) noexcept {
  CapabilityTable table;
  for (std::uint32_t i = 0; i < greeting.capability_count; ++i) {
    const auto& entry = greeting.capabilities[i];
    (void)table.add({entry.operation, entry.version, entry.flags, entry.source_dtypes,
                     entry.destination_dtypes});
  }
  return table;
}

/// Of a device that cannot be opened.
[[nodiscard]] inline Error unavailable(int reason) noexcept {
  return make_error(ErrorCode::DeviceUnavailable, 0, 0, reason);
}

[[nodiscard]] inline timespec to_timespec(std::chrono::nanoseconds time) noexcept {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((time - seconds).count())};
}

} // namespace simaai::runtime
