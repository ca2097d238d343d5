// SPDX-License-Identifier: LGPL-2.1-or-later
// What all native entries do alike: judge the packet, launch workers, join their results.
// Freestanding C++17.
#pragma once

#include <cstdint>

#include "firmware/common/dma.h"
#include "firmware/common/partition.h"
#include "firmware/common/route.h"
#include "firmware/common/services.h"
#include "wire/descriptor.h"
#include "wire/status.h"

namespace simaai::firmware {

using kernels::wire::EntryStatus;

/// Judges the call and the whole packet, with nothing submitted and nothing written. `local_bytes`
/// is what a worker of this operation needs. The descriptor is meaningful where Completed returns.
EntryStatus admit(const void* packet, std::uint32_t bytes, const Ev74Services* services,
                  kernels::wire::Operation operation, std::uint32_t local_bytes,
                  kernels::wire::Descriptor& out) noexcept;

/// Workers that the services offer, at most kMaxWorkers.
constexpr std::uint32_t offered_workers(const Ev74Services& services) noexcept {
  return services.workers < kMaxWorkers ? services.workers : kMaxWorkers;
}

inline void report(const Ev74Services& services, Route route) noexcept {
  if (services.report_route != nullptr)
    services.report_route(services.context, static_cast<std::uint32_t>(route));
}

namespace detail {
template <class Job> struct Launched {
  const Ev74Services* services;
  const Job* job;
  void (*run)(Worker& worker, std::byte* local, const Job& job);
  std::uint32_t local_bytes;
  EntryStatus status[kMaxWorkers];

  static void body(void* argument, std::uint32_t index) {
    auto& self = *static_cast<Launched*>(argument);
    Worker worker(*self.services, index);
    std::byte* local = worker.acquire(self.local_bytes);
    if (local == nullptr) {
      self.status[index] = EntryStatus::LocalMemory;
      return;
    }
    self.run(worker, local, *self.job);
    if (!worker.ok())
      self.status[index] = EntryStatus::TransferFault;
  }
};
} // namespace detail

/// Runs `run(worker, its local memory, job)` on `workers` workers. Completed where none failed.
template <class Job>
EntryStatus launch(const Ev74Services& services, std::uint32_t workers, std::uint32_t local_bytes,
                   void (*run)(Worker&, std::byte*, const Job&), const Job& job) noexcept {
  detail::Launched<Job> launched{&services, &job, run, local_bytes, {}};
  services.launch(services.context, workers, &detail::Launched<Job>::body, &launched);
  for (const EntryStatus status : launched.status)
    if (status != EntryStatus::Completed)
      return status;
  return EntryStatus::Completed;
}

} // namespace simaai::firmware
