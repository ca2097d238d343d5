// SPDX-License-Identifier: LGPL-2.1-or-later
// Arguments of row kernels: one call converts one run of pixels or elements.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simaai::kernels::a65::detail {

/// `count` elements from a strided vector to a strided vector.
struct LinearRow {
  const std::byte* src;
  std::byte* dst;
  std::int64_t count;
  std::int64_t src_stride_bytes; ///< scalar width for `linear` kernels
  std::int64_t dst_stride_bytes;
};

/// `pixels` pixels of `channels` channels between a linear view and tile storage, in either
/// direction. In the tile, pixels follow each other without a gap and each holds
/// `stored_channels` low bytes, then (two-byte scalars) as many high bytes.
struct TileRow {
  const std::byte* src;
  std::byte* dst;
  std::int64_t pixels;
  std::int64_t channels;             ///< 1 to stored_channels
  std::int64_t stored_channels;      ///< writers fill the channels above `channels`
  std::int64_t pixel_stride_bytes;   ///< of the linear side
  std::int64_t channel_stride_bytes; ///< of the linear side; scalar width unless the kernel says so
  std::uint8_t fill;                 ///< channel padding of INT8 writers; two-byte writers use 0
};

using LinearRowFn = void (*)(const LinearRow&) noexcept;
using TileRowFn = void (*)(const TileRow&) noexcept;

} // namespace simaai::kernels::a65::detail
