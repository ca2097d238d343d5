// SPDX-License-Identifier: LGPL-2.1-or-later
// What the model knows of a job's two ports: which bytes may be read, and for each output byte
// whether it is an element, who wrote it and whether that is still in flight.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "firmware/common/partition.h"
#include "firmware/model/fault_log.h"
#include "wire/descriptor.h"

namespace simaai::model {

/// A contiguous device range that a worker is about to access.
struct DeviceRange {
  std::uint32_t worker = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

/// Keeps its storage from job to job.
class PortShadow {
public:
  /// Starts a job. Without a descriptor (`packet` null: it was malformed) every access is a fault.
  void begin(const kernels::wire::Descriptor* packet);

  void own(std::uint32_t worker, std::uint64_t begin, std::uint64_t end) noexcept;

  void check_read(const DeviceRange& range, FaultLog& faults) const noexcept;

  /// Checks a write and records it. `in_flight`: a DMA row, which must be whole granules and stays
  /// in flight until retire().
  void check_write(const DeviceRange& range, bool in_flight, FaultLog& faults) noexcept;
  void retire(const DeviceRange& range) noexcept;

  /// Reports output bytes that a completed job left unwritten.
  void check_complete(FaultLog& faults) const noexcept;

private:
  enum class ByteState : std::uint8_t { Hole, Element, Written };
  struct Granule {
    std::uint8_t owner = 0; ///< worker + 1
    std::uint8_t in_flight = 0;
  };
  struct Span {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] bool holds(const DeviceRange& range) const noexcept {
      return range.address >= begin && range.address <= end && range.bytes <= end - range.address;
    }
    [[nodiscard]] bool meets(const DeviceRange& range) const noexcept {
      return range.address < end && range.address + range.bytes > begin;
    }
  };

  void mark_elements(const kernels::wire::Descriptor& packet);
  void write_bytes(const DeviceRange& range, FaultLog& faults) noexcept;
  [[nodiscard]] Granule& granule(std::uint64_t address) noexcept;

  Span source_;
  Span destination_;
  std::array<Span, firmware::kMaxWorkers> owned_{};
  std::vector<ByteState> bytes_;
  std::vector<Granule> granules_;
};

} // namespace simaai::model
