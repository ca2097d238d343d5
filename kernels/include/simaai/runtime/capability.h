// SPDX-License-Identifier: LGPL-2.1-or-later
// What a device says it can run, operation by operation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <simaai/kernels/ev74/packet.h>
#include <simaai/runtime/error.h>
#include <simaai/runtime/export.h>

namespace simaai::runtime {

/// One native entry. All numbers are those of the wire format (docs/wire-format.md).
struct Capability {
  std::uint16_t operation = 0;          ///< 1 cast, 2 tess, 3 casttess, 4 detess, 5 detesscast
  std::uint16_t version = 0;            ///< packet version that the entry reads
  std::uint32_t flags = 0;              ///< flags that it knows
  std::uint32_t source_dtypes = 0;      ///< mask of 1 << dtype tag
  std::uint32_t destination_dtypes = 0; ///< mask of 1 << dtype tag
  friend constexpr bool operator==(const Capability&, const Capability&) noexcept = default;
};

/// The capabilities of one device. Fails closed: what no entry covers in every field is refused.
/// Fixed storage. Reentrant.
class CapabilityTable {
public:
  static constexpr std::size_t kMaxEntries = 32;

  /// False where the table is full; the entry is not there then.
  [[nodiscard]] SIMAAI_RUNTIME_API bool add(const Capability& capability) noexcept;
  [[nodiscard]] std::span<const Capability> entries() const noexcept {
    return {entries_.data(), count_};
  }

  /// Success where one entry covers the packet: equal operation and version, every flag known, both
  /// dtypes admitted. Else the refusal of the entry that comes closest: OperationMissing,
  /// VersionMissing, FlagMissing, SourceDTypeMissing or DestinationDTypeMissing.
  [[nodiscard]] SIMAAI_RUNTIME_API Status
  check(const kernels::ev74::PacketHead& packet) const noexcept;

private:
  std::array<Capability, kMaxEntries> entries_{};
  std::size_t count_ = 0;
};

} // namespace simaai::runtime
