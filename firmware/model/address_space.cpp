// SPDX-License-Identifier: LGPL-2.1-or-later
// Regions by address: placement with guards, and look-up.
#include "firmware/model/address_space.h"

#include <iterator>

namespace simaai::model {
namespace {

using kernels::wire::kApertureBytes;

constexpr std::uint64_t kPage = 4096;

constexpr std::uint64_t round_up(std::uint64_t value) {
  return (value + kPage - 1) / kPage * kPage;
}

} // namespace

bool AddressSpace::is_free(std::uint64_t address, std::uint64_t bytes) const noexcept {
  const auto next = regions_.lower_bound(address);
  if (next != regions_.end() && next->first < address + bytes)
    return false;
  if (next == regions_.begin())
    return true;
  const auto& [before, region] = *std::prev(next);
  return before + region.bytes <= address;
}

std::optional<std::uint64_t> AddressSpace::map(std::byte* host, std::uint64_t bytes,
                                               RegionAccess access) {
  if (bytes == 0 || bytes > kApertureBytes || host == nullptr)
    return std::nullopt;
  // First fit with a page of guard on both sides. Page 0 stays unmapped.
  std::uint64_t candidate = kPage;
  for (const auto& [address, region] : regions_) {
    if (candidate + bytes + kPage <= address)
      break;
    const std::uint64_t behind = round_up(address + region.bytes) + kPage;
    candidate = behind > candidate ? behind : candidate;
  }
  if (!map_at(candidate, host, bytes, access))
    return std::nullopt;
  return candidate;
}

bool AddressSpace::map_at(std::uint64_t address, std::byte* host, std::uint64_t bytes,
                          RegionAccess access) {
  if (address == 0 || bytes == 0 || host == nullptr || bytes > kApertureBytes ||
      address > kApertureBytes - bytes || !is_free(address, bytes))
    return false;
  regions_.emplace(address, Region{host, bytes, access});
  return true;
}

bool AddressSpace::unmap(std::uint64_t address) { return regions_.erase(address) != 0; }

Resolved AddressSpace::resolve(std::uint64_t address, std::uint64_t bytes,
                               RegionAccess access) const noexcept {
  const auto next = regions_.upper_bound(address);
  if (next == regions_.begin())
    return {};
  const auto& [start, region] = *std::prev(next);
  const std::uint64_t offset = address - start;
  if (offset > region.bytes || bytes > region.bytes - offset)
    return {};
  const auto wanted = static_cast<unsigned>(access);
  if ((static_cast<unsigned>(region.access) & wanted) != wanted)
    return {nullptr, FaultKind::AccessDenied};
  return {region.host + offset, FaultKind::Unmapped};
}

} // namespace simaai::model
