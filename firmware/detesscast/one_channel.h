// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of a channel tile that holds one logical channel. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simaai::firmware::detesscast {

/// Float32 of one channel of `pixels` consecutive pixels that store `stored_channels` each, to
/// `out`, `out_pitch` bytes from pixel to pixel. Sixteen pixels at a time, then one by one; nothing
/// between the pixels' own channels is written.
void convert_one_channel(const std::byte* raw, std::uint32_t stored_channels, std::byte* out,
                         std::uint32_t out_pitch, std::uint32_t pixels) noexcept;

} // namespace simaai::firmware::detesscast
