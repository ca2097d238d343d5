// SPDX-License-Identifier: LGPL-2.1-or-later
// The device's 32-bit addresses and the host memory behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "firmware/model/device_model.h"

namespace simaai::model {

/// Host memory of a device range, or why there is none.
struct Resolved {
  std::byte* host = nullptr;
  FaultKind fault = FaultKind::Unmapped; ///< where host is null
};

/// Not thread-safe; the device serialises access.
class AddressSpace {
public:
  [[nodiscard]] std::optional<std::uint64_t> map(std::byte* host, std::uint64_t bytes,
                                                 RegionAccess access);
  [[nodiscard]] bool map_at(std::uint64_t address, std::byte* host, std::uint64_t bytes,
                            RegionAccess access);
  bool unmap(std::uint64_t address);

  /// The range must lie in one region that permits `access`.
  [[nodiscard]] Resolved resolve(std::uint64_t address, std::uint64_t bytes,
                                 RegionAccess access) const noexcept;

private:
  struct Region {
    std::byte* host;
    std::uint64_t bytes;
    RegionAccess access;
  };
  [[nodiscard]] bool is_free(std::uint64_t address, std::uint64_t bytes) const noexcept;

  std::map<std::uint64_t, Region> regions_;
};

} // namespace simaai::model
