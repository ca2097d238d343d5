// SPDX-License-Identifier: LGPL-2.1-or-later
// The EV74 on this machine: runs the firmware sources against bounded local memory, a 32-bit
// address space and a DMA engine that can be as late and as unordered as hardware may be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "firmware/common/route.h"
#include "firmware/common/services.h"
#include "wire/packet.h"
#include "wire/status.h"

namespace simaai::model {

/// When transfers complete. Immediate: at once. Deferred: as late as waits and declared
/// dependencies allow, in an order drawn from the seed.
enum class DmaEngine : std::uint8_t { Immediate, Deferred };

/// Bounds: every access lies in a mapped region and in local memory. Full: also ownership, holes,
/// granules, waits, slot reuse and local bytes that were never written; costs a byte of host memory
/// a byte of output.
enum class Checking : std::uint8_t { Bounds, Full };

/// Assumptions of the cycle estimate; docs/firmware.md says how they combine. None is measured on
/// hardware.
struct CycleCosts {
  std::uint32_t launch = 2000;              ///< job to first instruction of a worker
  std::uint32_t dma_call = 150;             ///< setup of a transfer
  std::uint32_t dma_row = 4;                ///< each further row of a transfer
  std::uint32_t dma_bytes_per_cycle = 16;   ///< payload
  std::uint32_t wait = 20;                  ///< a wait that finds its transfer complete
  std::uint32_t typed_access = 40;          ///< one scalar load or store in system memory
  std::uint32_t local_bytes_per_cycle = 32; ///< conversion, by local bytes read and written
};

struct ModelConfig {
  std::uint32_t workers = 4; ///< 1 to 4; other values are clamped
  DmaEngine dma = DmaEngine::Immediate;
  std::uint64_t seed = 1;       ///< of the deferred order and of what unwritten memory holds
  std::uint32_t latency_us = 0; ///< added to each run by sleeping
  std::uint32_t local_bytes = 128 * 1024; ///< of each worker
  Checking checking = Checking::Full;
  std::uint32_t supported_flags = kernels::wire::kKnownFlags; ///< fewer: an older firmware
  CycleCosts costs{};
};

enum class RegionAccess : std::uint8_t { Read = 1, Write = 2, ReadWrite = 3 };

/// What a job did wrong although its packet was valid: always an error of the firmware, never of
/// the caller, except Unmapped and AccessDenied.
enum class FaultKind : std::uint8_t {
  Unmapped,          ///< device range outside every mapped region
  AccessDenied,      ///< region does not permit this access
  BadTransfer,       ///< no rows or bytes, or more rows than 65,535
  PitchTooLarge,     ///< a pitch above 65,535 bytes
  LocalOverrun,      ///< local range outside what the worker acquired
  LocalMemory,       ///< a worker acquired more than it has, or wrote beyond
  OutsideSource,     ///< read outside the source span
  OutputRead,        ///< read of the destination span
  OutsideOwned,      ///< write outside the worker's declared interval or the destination span
  HoleWrite,         ///< write to a byte that is no element
  MisalignedWrite,   ///< DMA write that is not whole aligned 16-byte granules
  OwnerOverlap,      ///< two workers wrote one 16-byte granule
  GranuleInFlight,   ///< write to a granule that a transfer in flight also writes
  Rewritten,         ///< an output byte written twice
  MissingOutput,     ///< an output byte never written by a job that reports completion
  MissingWait,       ///< local bytes used while a transfer into them was in flight
  EarlyReuse,        ///< local bytes overwritten while a transfer still needed them
  NeverWritten,      ///< local bytes used that nobody wrote
  UnretiredTransfer, ///< a worker returned with transfers in flight
  UnknownTicket,     ///< wait or dependency on a ticket that this worker was never given
};

const char* fault_name(FaultKind kind) noexcept;

struct Fault {
  FaultKind kind{};
  std::uint32_t worker = 0;
  std::uint64_t address = 0; ///< device address, or offset in local memory for local faults
  std::uint64_t bytes = 0;
};

/// Totals over all workers of one job.
struct Counters {
  std::uint64_t dma_calls_in = 0;
  std::uint64_t dma_calls_out = 0;
  std::uint64_t dma_bytes_in = 0;
  std::uint64_t dma_bytes_out = 0;
  std::uint64_t typed_load_bytes = 0;
  std::uint64_t typed_store_bytes = 0;
  std::uint64_t waits = 0;
  std::uint32_t workers = 0;     ///< launched
  std::uint32_t local_bytes = 0; ///< most that a worker acquired
  std::uint64_t cycles = 0;      ///< estimate: the slowest worker
  friend bool operator==(const Counters&, const Counters&) = default;
};

inline constexpr std::size_t kMaxReportedFaults = 8;

struct RunResult {
  kernels::wire::EntryStatus status = kernels::wire::EntryStatus::Completed;
  firmware::Route route = firmware::Route::None;
  Counters counters{};
  std::uint64_t fault_count = 0;                  ///< all faults
  std::array<Fault, kMaxReportedFaults> faults{}; ///< the first of them

  /// Completed, and nothing was done that hardware would not forgive.
  [[nodiscard]] bool clean() const noexcept {
    return status == kernels::wire::EntryStatus::Completed && fault_count == 0;
  }
};

/// What an entry of this firmware accepts: a packet matches where version, flags and both dtypes
/// are covered. Dtype bits are 1 << wire tag.
struct EntryCapability {
  kernels::wire::Operation operation{};
  std::uint16_t version = 0;
  std::uint32_t flags = 0;
  std::uint32_t source_dtypes = 0;
  std::uint32_t destination_dtypes = 0;
};

/// Thread-safe: calls are served one after the other, so unmap() returns when no job uses the
/// memory any more. Objects are independent of each other.
class DeviceModel {
public:
  explicit DeviceModel(const ModelConfig& config);
  ~DeviceModel();
  DeviceModel(DeviceModel&&) noexcept;
  DeviceModel& operator=(DeviceModel&&) noexcept;
  DeviceModel(const DeviceModel&) = delete;
  DeviceModel& operator=(const DeviceModel&) = delete;

  [[nodiscard]] const ModelConfig& config() const noexcept;

  /// Gives `bytes` of host memory a device address: 4,096-aligned, with unmapped guard space on
  /// both sides. The memory stays the caller's and must outlive the mapping. Nothing where `bytes`
  /// is 0, `host` null or the address space full.
  [[nodiscard]] std::optional<std::uint64_t> map(void* host, std::uint64_t bytes,
                                                 RegionAccess access);

  /// The same at an address of the caller's choice, any alignment. False where the range holds
  /// address 0, leaves the 32-bit aperture or meets another region.
  [[nodiscard]] bool map_at(std::uint64_t address, void* host, std::uint64_t bytes,
                            RegionAccess access);

  /// Removes the region that starts at `address`; false where there is none.
  bool unmap(std::uint64_t address);

  /// Runs one packet to its end. The bytes are copied first and need no alignment. A packet whose
  /// spans are not mapped is a TransferFault at once. Output is written by other faulty jobs, but
  /// only inside mapped regions that permit it.
  [[nodiscard]] RunResult run(std::span<const std::byte> packet);

  /// The same with the packet at its own address and any length: for what the device refuses about
  /// the storage itself.
  [[nodiscard]] RunResult run_in_place(const void* packet, std::uint32_t bytes);

  /// Runs another entry than those of this build, on a copy of `packet`: for firmware under
  /// development, and to prove that faults are found.
  [[nodiscard]] RunResult run_entry(Ev74Entry entry, std::span<const std::byte> packet);

  /// Entries of this build, less the flags that the configuration withholds.
  [[nodiscard]] std::span<const EntryCapability> capabilities() const noexcept;

private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace simaai::model
