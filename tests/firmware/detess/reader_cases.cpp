// SPDX-License-Identifier: LGPL-2.1-or-later
// Generated and named cases with a tiled source.
#include "firmware/detess/reader_cases.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "support/shape_generator.h"

namespace simaai::test {

using kernels::ChannelStorage;
using kernels::Layout;
using kernels::MlaCBlocked;
using kernels::MlaTiled;
using kernels::Shape;
using kernels::Strided;
using oracle::Random;

namespace {

Shape nonempty_shape(Random& random, std::size_t rank, std::uint64_t elements) {
  Shape shape = random_shape(random, rank, elements);
  while (oracle::element_count(shape) == 0)
    shape = random_shape(random, rank, elements);
  return shape;
}

/// Images of up to about 20,000 elements, so that panels and shares end anywhere.
Shape large_shape(Random& random) {
  const std::int64_t channels =
      random.one_in(2) ? 16 * random.between(1, 4) : random.between(1, 70);
  const std::int64_t pixels = random.between(4000, 20000) / channels;
  const std::int64_t width = random.one_in(2) ? 16 * random.between(1, 6) : random.between(1, 100);
  const std::int64_t height = std::max<std::int64_t>(pixels / width, 1);
  return Shape{height, width, channels};
}

MlaTiled large_tiling(Random& random, const Shape& shape) {
  MlaTiled tiled;
  tiled.axes = {-1, 0, 1, 2};
  if (random.one_in(4)) // planes or another order, with the same tiles
    std::shuffle(tiled.axes.begin() + 1, tiled.axes.end(),
                 std::minstd_rand(static_cast<std::uint32_t>(random.next())));
  for (std::size_t slot = 1; slot < 4; ++slot) {
    const std::int64_t extent = shape[static_cast<std::size_t>(tiled.axes[slot])];
    tiled.tile_shape[slot] = random.one_in(2) ? extent : random.between(1, extent);
    if (random.one_in(2) && extent >= 16)
      tiled.tile_shape[slot] = 16 * random.between(1, extent / 16);
  }
  tiled.channels = random.one_in(2) ? ChannelStorage::PadTo16 : ChannelStorage::Compact;
  return tiled;
}

/// Strides with the channel axis innermost and the others in a random order.
Strided channel_inner(Random& random, const Shape& shape, std::size_t channel,
                      kernels::DType dtype) {
  std::vector<std::size_t> order;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    if (axis != channel)
      order.push_back(axis);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  Strided layout;
  const std::int64_t width = kernels::scalar_bytes(dtype);
  std::int64_t stride = width;
  layout.strides_bytes[channel] = stride;
  stride *= shape[channel];
  for (const std::size_t axis : order) {
    stride += random.one_in(3) ? width * random.between(0, 9) : 0;
    layout.strides_bytes[axis] = stride;
    stride *= shape[axis];
  }
  return layout;
}

/// Tile extents that a packet can state.
template <class Tiles> Tiles representable(Tiles tiles) {
  for (std::int64_t& extent : tiles.tile_shape)
    extent = std::min<std::int64_t>(extent, 2147483647);
  return tiles;
}

Layout random_source(Random& random, const Shape& shape, bool blocked) {
  if (blocked)
    return representable(random_blocking(random, shape));
  MlaTiled tiled = representable(random_tiling(random, shape));
  tiled.channels = random.one_in(2) ? ChannelStorage::PadTo16 : ChannelStorage::Compact;
  return tiled;
}

Layout random_destination(Random& random, const Shape& shape, const Layout& source,
                          kernels::DType dtype) {
  const auto* tiled = std::get_if<MlaTiled>(&source);
  if (tiled != nullptr && random.one_in(2))
    return channel_inner(random, shape, static_cast<std::size_t>(tiled->axes[3]), dtype);
  return random_strides(random, shape, dtype);
}

} // namespace

DeviceCase generated_case(const TileReader& reader, std::uint64_t number) {
  Random random(91000 + number);
  const DTypePair dtypes = reader.dtypes[number % reader.dtypes.size()];
  const std::uint64_t kind = number / reader.dtypes.size() % 5;
  const Phases phases{static_cast<std::uint32_t>(random.below(64)),
                      random.one_in(2) ? 0 : static_cast<std::uint32_t>(random.below(64))};
  const bool large = kind >= 3;
  const bool blocked = kind == 1 || (kind == 4 && random.one_in(2));
  const std::size_t rank = blocked ? 3 + random.below(4) : 1 + random.below(6);
  const Shape shape = large ? large_shape(random) : nonempty_shape(random, rank, 3000);
  Case c{{shape, dtypes.from, {}}, {shape, dtypes.to, {}}, {}, number};
  if (large && !blocked)
    c.input.layout = large_tiling(random, shape);
  else
    c.input.layout = random_source(random, shape, blocked);
  if (kind == 2 || (kind == 4 && random.one_in(2)))
    c.output.layout = random_destination(random, shape, c.input.layout, dtypes.to);
  return {reader.encode, c, phases};
}

Case tiled_case(DTypePair dtypes, std::initializer_list<std::int64_t> shape,
                std::initializer_list<std::int32_t> axes, std::initializer_list<std::int64_t> tile,
                ChannelStorage storage, std::uint64_t seed) {
  MlaTiled layout;
  std::copy(axes.begin(), axes.end(), layout.axes.begin());
  std::copy(tile.begin(), tile.end(), layout.tile_shape.begin());
  layout.channels = storage;
  return {{Shape(shape), dtypes.from, layout}, {Shape(shape), dtypes.to, {}}, {}, seed};
}

Case strided_case(Case c, std::initializer_list<std::int64_t> strides) {
  Strided layout;
  std::copy(strides.begin(), strides.end(), layout.strides_bytes.begin());
  c.output.layout = layout;
  return c;
}

Case blocked_case(DTypePair dtypes, std::initializer_list<std::int64_t> shape,
                  std::initializer_list<std::int64_t> tile, std::uint64_t seed) {
  MlaCBlocked layout;
  std::copy(tile.begin(), tile.end(), layout.tile_shape.begin());
  return {{Shape(shape), dtypes.from, layout}, {Shape(shape), dtypes.to, {}}, {}, seed};
}

} // namespace simaai::test
