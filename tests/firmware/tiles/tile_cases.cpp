// SPDX-License-Identifier: LGPL-2.1-or-later
// Generated cases of Tess and CastTess.
#include "firmware/tiles/tile_cases.h"

#include <algorithm>

#include "support/shape_generator.h"

namespace simaai::test {

using kernels::ChannelStorage;
using kernels::MlaTiled;
using kernels::Shape;
using oracle::Random;

namespace {

Shape nonempty_shape(Random& random, std::size_t rank, std::uint64_t elements) {
  Shape shape = random_shape(random, rank, elements);
  while (oracle::element_count(shape) == 0)
    shape = random_shape(random, rank, elements);
  return shape;
}

/// Two images whose tiles exceed a panel; every other one has pixels that do.
Shape bulky_shape(Random& random, bool wide_pixels) {
  if (wide_pixels)
    return Shape{2, random.between(1, 2), random.between(1, 3), random.between(4000, 9500)};
  return Shape{2, random.between(1, 12), random.between(10, 60), random.between(1, 200)};
}

MlaTiled bulky_tiling(Random& random, const Shape& shape) {
  MlaTiled tiled;
  tiled.axes = {random.one_in(2) ? 0 : -1, 1, 2, 3};
  tiled.tile_shape = {1, shape[1], shape[2], shape[3]};
  if (random.one_in(3))
    tiled.tile_shape[2] = random.between(1, shape[2]);
  if (random.one_in(3))
    tiled.tile_shape[3] = random.between(1, shape[3]);
  if (tiled.axes[0] == 0 && random.one_in(2))
    tiled.tile_shape[0] = 2;
  return tiled;
}

void set_fill(Case& c, Random& random) {
  const auto& tiled = std::get<MlaTiled>(c.output.layout);
  if (c.output.dtype == kernels::DType::Int8 && tiled.channels == ChannelStorage::PadTo16)
    c.fill = static_cast<std::int8_t>(random.between(-128, 127));
}

} // namespace

DeviceCase generated_tiles(const TileWriter& writer, std::uint64_t number) {
  Random random(99000 + number);
  const DTypePair dtypes = writer.dtypes[number % writer.dtypes.size()];
  const bool bulky = number % 5 == 4;
  const Shape shape = bulky ? bulky_shape(random, random.one_in(2))
                            : nonempty_shape(random, 1 + number % kernels::kMaxRank, 3000);
  MlaTiled tiled = bulky ? bulky_tiling(random, shape) : random_tiling(random, shape);
  for (std::int64_t& extent : tiled.tile_shape) // what the packet can say
    extent = std::min<std::int64_t>(extent, INT32_MAX);
  tiled.channels = random.one_in(2) ? ChannelStorage::PadTo16 : ChannelStorage::Compact;
  Case c{{shape, dtypes.from, {}}, {shape, dtypes.to, tiled}, {}, number};
  if (random.one_in(2))
    c.input.layout = random_strides(random, shape, dtypes.from);
  set_fill(c, random);
  const Phases phases{static_cast<std::uint32_t>(random.below(64)),
                      static_cast<std::uint32_t>(random.below(64))};
  return {writer.encode, c, phases};
}

Case image_case(DTypePair dtypes, std::initializer_list<std::int64_t> shape,
                std::initializer_list<std::int64_t> tile, ChannelStorage storage) {
  MlaTiled tiled;
  tiled.axes = {-1, 1, 2, 3};
  std::copy(tile.begin(), tile.end(), tiled.tile_shape.begin());
  tiled.channels = storage;
  Case c{{Shape(shape), dtypes.from, {}}, {Shape(shape), dtypes.to, tiled}, {}, 5};
  if (dtypes.to == kernels::DType::Int8 && storage == ChannelStorage::PadTo16)
    c.fill = std::int8_t{-7};
  return c;
}

} // namespace simaai::test
