// SPDX-License-Identifier: LGPL-2.1-or-later
// Generated Cast cases: random views, transpositions, long rows, packed pairs and large tensors.
#include "firmware/cast/cast_cases.h"

#include <algorithm>
#include <vector>

#include "support/shape_generator.h"

namespace simaai::test {

using kernels::Contiguous;
using kernels::DType;
using kernels::Layout;
using kernels::Shape;
using kernels::Strided;
using oracle::Random;

namespace {

DType other(DType dtype) { return dtype == DType::Float32 ? DType::BFloat16 : DType::Float32; }

Shape nonempty_shape(Random& random, std::size_t rank, std::uint64_t elements) {
  Shape shape = random_shape(random, rank, elements);
  while (oracle::element_count(shape) == 0)
    shape = random_shape(random, rank, elements);
  return shape;
}

/// Row-major strides with the axes in a random order and pads between them now and then.
Strided permuted(Random& random, const Shape& shape, DType dtype, std::int64_t pad_unit) {
  std::vector<std::size_t> order(shape.rank());
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  Strided layout;
  std::int64_t stride = kernels::scalar_bytes(dtype);
  for (const std::size_t axis : order) {
    layout.strides_bytes[axis] = stride;
    stride = stride * shape[axis] + (random.one_in(2) ? pad_unit * random.between(0, 3) : 0);
  }
  return layout;
}

/// Two or three axes with up to about 20,000 elements, so that panels and shares end anywhere.
Case large_case(Random& random, DType from, std::uint64_t seed) {
  const std::size_t rank = 2 + random.below(2);
  std::vector<std::int64_t> extents(rank);
  std::int64_t room = 20000;
  for (std::int64_t& extent : extents) {
    extent = random.between(1, std::min<std::int64_t>(room, random.one_in(2) ? 5000 : 40));
    room = std::max<std::int64_t>(room / extent, 1);
  }
  const Shape shape{std::span<const std::int64_t>(extents)};
  const auto layout = [&](DType dtype, std::uint64_t kind) -> Layout {
    if (kind == 0)
      return Contiguous{};
    return permuted(random, shape, dtype, kind == 1 ? 16 : kernels::scalar_bytes(dtype));
  };
  Layout source = layout(from, random.below(3));
  Layout destination = layout(other(from), random.below(3));
  return {{shape, from, source}, {shape, other(from), destination}, {}, seed};
}

} // namespace

DeviceCase generated_cast(std::uint64_t number) {
  Random random(77000 + number);
  const DType from = number % 2 == 0 ? DType::Float32 : DType::BFloat16;
  const Phases phases{static_cast<std::uint32_t>(random.below(64)),
                      random.one_in(2) ? 0 : static_cast<std::uint32_t>(random.below(64))};
  if (number % 3 == 2)
    return {&encode_cast, large_case(random, from, number), phases};
  const Shape shape = nonempty_shape(random, number % (kernels::kMaxRank + 1), 3000);
  Case c{{shape, from, {}}, {shape, other(from), {}}, {}, number};
  if (!random.one_in(3))
    c.input.layout = random_strides(random, shape, from);
  if (!random.one_in(2))
    c.output.layout = random_strides(random, shape, other(from));
  return {&encode_cast, c, phases};
}

Case cast_case(std::initializer_list<std::int64_t> shape, DType from,
               std::initializer_list<std::int64_t> source_strides,
               std::initializer_list<std::int64_t> destination_strides) {
  const auto layout = [](std::initializer_list<std::int64_t> strides) -> Layout {
    if (strides.size() == 0)
      return Contiguous{};
    Strided strided;
    std::copy(strides.begin(), strides.end(), strided.strides_bytes.begin());
    return strided;
  };
  return {{Shape(shape), from, layout(source_strides)},
          {Shape(shape), other(from), layout(destination_strides)},
          {},
          1};
}

} // namespace simaai::test
