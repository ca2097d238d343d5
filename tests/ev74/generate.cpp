// SPDX-License-Identifier: LGPL-2.1-or-later
// Generated tensor specs: shapes with unit axes, pitched and permuted strides, axis maps, tiles.
#include "ev74/generate.h"

#include <algorithm>
#include <array>
#include <vector>

namespace simaai::test {
namespace {

using kernels::DType;
using kernels::Shape;
using oracle::Random;

Shape random_shape(std::size_t rank, Random& random) {
  std::vector<std::int64_t> extents(rank);
  for (std::int64_t& extent : extents)
    extent = random.one_in(3) ? 1 : random.between(2, 4);
  if (rank > 0 && random.one_in(3)) // more channels than one block
    extents.back() = random.between(15, 35);
  return Shape(extents);
}

/// Order of axes, innermost first: reversed logical order, shuffled on demand.
std::vector<std::size_t> axis_order(std::size_t rank, bool shuffle, Random& random) {
  std::vector<std::size_t> order;
  for (std::size_t axis = rank; axis-- > 0;)
    order.push_back(axis);
  for (std::size_t i = rank; shuffle && i > 1; --i)
    std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// Strides that never overlap: each axis starts after everything inside it, with a gap or without.
kernels::Strided random_strides(const Shape& shape, DType dtype, bool row_major, Random& random) {
  kernels::Strided layout;
  const std::int64_t width = kernels::scalar_bytes(dtype);
  std::int64_t inside = width;
  for (const std::size_t axis : axis_order(shape.rank(), !row_major, random)) {
    if (shape[axis] == 1) { // any admitted value: it must not show
      layout.strides_bytes[axis] = width * random.between(0, 100);
      continue;
    }
    const std::int64_t gap = row_major || random.one_in(2) ? 0 : width * random.between(1, 9);
    layout.strides_bytes[axis] = inside + gap;
    inside = row_major ? inside * shape[axis] : layout.strides_bytes[axis] * shape[axis];
  }
  for (std::size_t slot = shape.rank(); slot < kernels::kMaxRank; ++slot)
    layout.strides_bytes[slot] = random.between(-5, 5); // unused slots may hold anything
  return layout;
}

kernels::Layout random_linear(const Shape& shape, DType dtype, std::size_t kind, Random& random) {
  if (kind == 0)
    return kernels::Contiguous{};
  return random_strides(shape, dtype, kind == 1, random);
}

kernels::MlaTiled random_tiled(const Shape& shape, Random& random) {
  kernels::MlaTiled layout;
  const auto order = axis_order(shape.rank(), random.one_in(2), random);
  layout.axes[3] = static_cast<std::int32_t>(order[0]);
  std::size_t used = 1;
  for (const std::size_t slot : {2U, 1U, 0U})
    if (used < order.size() && !random.one_in(4))
      layout.axes[slot] = static_cast<std::int32_t>(order[used++]);
  for (std::size_t slot = 0; slot < 4; ++slot)
    if (layout.axes[slot] >= 0)
      layout.tile_shape[slot] =
          random.one_in(8) ? random.between(1000, 2147483647)
                           : random.between(1, shape[static_cast<std::size_t>(layout.axes[slot])]);
  layout.channels =
      random.one_in(2) ? kernels::ChannelStorage::PadTo16 : kernels::ChannelStorage::Compact;
  return layout;
}

kernels::MlaCBlocked random_blocked(const Shape& shape, Random& random) {
  kernels::MlaCBlocked layout;
  for (std::size_t slot = 1; slot < 4; ++slot)
    layout.tile_shape[slot] = random.between(1, shape[shape.rank() + slot - 4] + 1);
  return layout;
}

} // namespace

GeneratedCase generate_case(const CaseRules& rules, std::size_t index, Random& random) {
  GeneratedCase generated;
  const std::size_t rank = rules.least_rank + index % (kernels::kMaxRank + 1 - rules.least_rank);
  const Shape shape = random_shape(rank, random);
  const auto [from, to] = rules.dtypes[index % rules.dtypes.size()];
  generated.source = {shape, from, {}};
  generated.destination = {shape, to, {}};
  for (kernels::TensorSpec* spec : {&generated.source, &generated.destination}) {
    const bool tiled = spec == &generated.source ? rules.tiled_source : rules.tiled_destination;
    if (!tiled)
      spec->layout = random_linear(shape, spec->dtype, random.below(3), random);
    else if (rules.blocked && rank >= 3 && random.one_in(3))
      spec->layout = random_blocked(shape, random);
    else
      spec->layout = random_tiled(shape, random);
  }
  const auto* tiled = std::get_if<kernels::MlaTiled>(&generated.destination.layout);
  if (rules.has_fill && to == DType::Int8 && tiled != nullptr &&
      (tiled->channels == kernels::ChannelStorage::PadTo16 || random.one_in(2)))
    generated.padding = static_cast<std::int8_t>(random.between(-128, 127));
  return generated;
}

} // namespace simaai::test
