// SPDX-License-Identifier: LGPL-2.1-or-later
// Buckets of durations: 64 a power of two, so that the middle of one is within 0.8 % of what it holds.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace simaai::gst {

/// Log-linear buckets. Durations below 64 ns are exact, those above 2^42 ns (73 minutes) share the
/// last bucket.
struct LogBuckets {
  static constexpr unsigned kSubBits = 6;
  static constexpr std::uint64_t kSubBuckets = std::uint64_t{1} << kSubBits;
  static constexpr unsigned kTopBit = 42;
  static constexpr std::size_t kCount = (kTopBit - kSubBits + 2) << kSubBits;

  // Value of highest bit b >= 6: octave b - 5, then the six bits below the highest one.
  static constexpr std::size_t index_of(std::uint64_t ns) noexcept {
    if (ns < kSubBuckets)
      return static_cast<std::size_t>(ns);
    const auto top = static_cast<unsigned>(std::bit_width(ns)) - 1;
    if (top > kTopBit)
      return kCount - 1;
    const std::uint64_t octave = top - kSubBits + 1;
    const std::uint64_t low = (ns >> (top - kSubBits)) & (kSubBuckets - 1);
    return static_cast<std::size_t>((octave << kSubBits) + low);
  }

  static constexpr std::uint64_t middle_of(std::size_t index) noexcept {
    const std::uint64_t octave = index >> kSubBits;
    const std::uint64_t low = index & (kSubBuckets - 1);
    if (octave == 0)
      return low;
    const std::uint64_t width = std::uint64_t{1} << (octave - 1);
    return (kSubBuckets + low) * width + width / 2;
  }
};

} // namespace simaai::gst
