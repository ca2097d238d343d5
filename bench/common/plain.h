// SPDX-License-Identifier: LGPL-2.1-or-later
// The plain loop: what one would write by hand, built with -O3 -march=native in a file of its own.
#pragma once

#include <array>
#include <cstdint>

#include "case.h"

namespace simaai::bench {

/// A case as nested loops see it. Strides are in elements; axes are D, H, W, C.
struct PlainTiles {
  std::int64_t slices = 1;
  std::int64_t slice_stride = 0;
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  std::array<std::int64_t, 4> tile{1, 1, 1, 1};
  std::array<std::int64_t, 4> stride{};
  bool pad16 = false;
  bool blocked = false;
  std::uint8_t fill = 0;
};

/// Element-wise conversion of a tensor of rank up to four.
struct PlainLinear {
  std::array<std::int64_t, 4> extent{1, 1, 1, 1};
  std::array<std::int64_t, 4> src_stride{};
  std::array<std::int64_t, 4> dst_stride{};
};

/// Loop bounds of a tiled case. Throws std::runtime_error for more than one outer axis above one.
[[nodiscard]] PlainTiles plain_tiles(const Case& bench_case);
/// Loop bounds of a linear case; dense ones are a single axis. Throws std::runtime_error above
/// rank four.
[[nodiscard]] PlainLinear plain_linear(const Case& bench_case);

using PlainTilesFn = void (*)(const PlainTiles& tiles, const void* src, void* dst);
using PlainLinearFn = void (*)(const PlainLinear& linear, const void* src, void* dst);

/// The loop for a case's dtypes, direction and channel stride.
[[nodiscard]] PlainTilesFn plain_tiles_function(const Case& bench_case, const PlainTiles& tiles);
[[nodiscard]] PlainLinearFn plain_linear_function(const Case& bench_case);

} // namespace simaai::bench
