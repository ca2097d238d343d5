// SPDX-License-Identifier: LGPL-2.1-or-later
// Seeded shapes and layouts.
#include "shape_generator.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

namespace simaai::test {

using kernels::Shape;
using oracle::Random;

namespace {

constexpr std::array<std::int64_t, 20> kChannelExtents{1,  2,  3,  4,  5,  7,  8,  9,  15, 16,
                                                       17, 24, 31, 32, 33, 40, 48, 49, 64, 65};
constexpr std::array<std::int64_t, 9> kChannelTiles{1, 2, 3, 8, 15, 16, 17, 32, 48};

template <class T, std::size_t N> T pick(Random& random, const std::array<T, N>& values) {
  return values[random.below(N)];
}

template <class T> void shuffle(Random& random, std::vector<T>& values) {
  for (std::size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1], values[random.below(left)]);
}

std::int64_t spatial_tile(Random& random, std::int64_t extent) {
  switch (random.below(4)) {
  case 0:
    return std::max<std::int64_t>(extent, 1);
  case 1:
    return random.one_in(8) ? std::numeric_limits<std::int64_t>::max()
                            : extent + random.between(1, 9);
  case 2:
    return extent % 2 == 0 && extent > 0 ? extent / 2 : 1;
  default:
    return random.between(1, std::max<std::int64_t>(extent, 1));
  }
}

std::int64_t channel_tile(Random& random, std::int64_t extent) {
  return random.one_in(3) ? spatial_tile(random, extent) : pick(random, kChannelTiles);
}

} // namespace

Shape random_shape(Random& random, std::size_t rank, std::uint64_t max_elements) {
  std::vector<std::int64_t> extents(rank, 1);
  std::uint64_t room = max_elements;
  const std::size_t channel = rank == 0 || random.one_in(2) ? rank - 1 : random.below(rank);
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(random, order);
  if (rank > 0) {
    extents[channel] = pick(random, kChannelExtents);
    room /= static_cast<std::uint64_t>(extents[channel]);
  }
  for (const std::size_t axis : order) {
    if (axis == channel || random.one_in(6))
      continue;
    const std::uint64_t limit = std::min<std::uint64_t>(room, random.one_in(3) ? 40 : 6);
    extents[axis] = random.between(1, static_cast<std::int64_t>(std::max<std::uint64_t>(limit, 1)));
    room /= static_cast<std::uint64_t>(extents[axis]);
  }
  if (rank > 0 && random.one_in(25))
    extents[random.below(rank)] = 0;
  return Shape(std::span<const std::int64_t>(extents));
}

kernels::MlaTiled random_tiling(Random& random, const Shape& shape) {
  std::vector<std::int32_t> axes(shape.rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (!random.one_in(3))
    shuffle(random, axes);
  kernels::MlaTiled tiled;
  tiled.axes[3] = axes.back();
  axes.pop_back();
  // The last axes first: W, then H, then D.
  for (std::size_t role = 3; role-- > 0;) {
    if (axes.empty() || random.one_in(4))
      continue;
    tiled.axes[role] = axes.back();
    axes.pop_back();
  }
  for (std::size_t role = 0; role < 4; ++role) {
    if (tiled.axes[role] < 0)
      continue;
    const std::int64_t extent = shape[static_cast<std::size_t>(tiled.axes[role])];
    tiled.tile_shape[role] =
        role == 3 ? channel_tile(random, extent) : spatial_tile(random, extent);
  }
  return tiled;
}

kernels::MlaCBlocked random_blocking(Random& random, const Shape& shape) {
  const std::size_t rank = shape.rank();
  return {{1, spatial_tile(random, shape[rank - 3]), spatial_tile(random, shape[rank - 2]),
           channel_tile(random, shape[rank - 1])}};
}

kernels::Strided random_strides(Random& random, const Shape& shape, kernels::DType dtype) {
  const std::int64_t scalar = kernels::scalar_bytes(dtype);
  std::vector<std::size_t> order(shape.rank());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::reverse(order.begin(), order.end());
  if (random.one_in(2))
    shuffle(random, order);
  const bool stepped = random.one_in(3);
  const bool pitched = !random.one_in(3);
  kernels::Strided layout;
  std::int64_t addressed = scalar;
  bool innermost = true;
  for (const std::size_t axis : order) {
    const std::int64_t extent = shape[axis];
    if (extent <= 1) {
      layout.strides_bytes[axis] = random.one_in(2) ? 0 : scalar * random.between(0, 1000000);
      if (extent == 1)
        continue;
    }
    std::int64_t stride = addressed;
    if (innermost ? stepped : (pitched && random.one_in(2)))
      stride += scalar * random.between(1, 5);
    layout.strides_bytes[axis] = stride;
    addressed += std::max<std::int64_t>(extent - 1, 0) * stride;
    innermost = false;
  }
  return layout;
}

} // namespace simaai::test
