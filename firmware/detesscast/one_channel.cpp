// SPDX-License-Identifier: LGPL-2.1-or-later
// A leaf of its own, so that its vectors are not live across the transfers of the worker's loop.
#include "firmware/detesscast/one_channel.h"

#include "firmware/common/local_access.h"
#include "firmware/detess/elements.h"

namespace simaai::firmware::detesscast {
namespace {

using detess::kLanes;

/// Stores `count` words `pitch` bytes apart.
void scatter(const std::uint32_t* words, std::byte* out, std::uint32_t pitch,
             std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i)
    store_local(out + std::size_t{i} * pitch, words[i]);
}

/// Compact storage: a pixel is one BFloat16 word, and words follow each other.
void load_words(const std::byte* raw, std::uint32_t* words, std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i)
    words[i] = std::uint32_t{load_local<std::uint16_t>(raw + std::size_t{i} * 2)} << 16;
}

/// Padded storage: the low byte begins a pixel, the high byte its second plane.
void gather_bytes(const std::byte* raw, std::uint32_t stored, std::uint32_t* words,
                  std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::byte* pixel = raw + std::size_t{i} * 2 * stored;
    words[i] = std::to_integer<std::uint32_t>(pixel[0]) << 16 |
               std::to_integer<std::uint32_t>(pixel[stored]) << 24;
  }
}

} // namespace

void convert_one_channel(const std::byte* raw, std::uint32_t stored_channels, std::byte* out,
                         std::uint32_t out_pitch, std::uint32_t pixels) noexcept {
  std::uint32_t words[kLanes];
  while (pixels != 0) {
    const std::uint32_t count = pixels < kLanes ? pixels : kLanes;
    if (stored_channels == 1)
      load_words(raw, words, count);
    else
      gather_bytes(raw, stored_channels, words, count);
    scatter(words, out, out_pitch, count);
    raw += std::size_t{count} * 2 * stored_channels;
    out += std::size_t{count} * out_pitch;
    pixels -= count;
  }
}

} // namespace simaai::firmware::detesscast
