// SPDX-License-Identifier: LGPL-2.1-or-later
// Generated shapes: 300 for each pair of dtypes over all ranks, with random axis maps, tiles, tails,
// pitches and physical orders.
#include <gtest/gtest.h>

#include "a65/contract_case.h"
#include "support/generated_count.h"
#include "support/shape_generator.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::Contiguous;
using kernels::Layout;
using kernels::Shape;
using oracle::Random;

constexpr std::uint64_t kShapes = 300;
constexpr std::uint64_t kMaxElements = 3000;

/// Every layout that `operation` is run with for one shape: pairs of a linear one and another.
std::vector<Case> cases_of(const Operation& operation, Random& random, const Shape& shape,
                           DTypePair dtypes, std::uint64_t seed) {
  const auto linear_dtype = operation.tiled_input ? dtypes.to : dtypes.from;
  const Layout linear[] = {Contiguous{}, random_strides(random, shape, linear_dtype)};
  std::vector<Layout> others;
  if (operation.is_linear_only()) {
    others = {Contiguous{}, random_strides(random, shape, dtypes.to)};
  } else {
    auto tiled = random_tiling(random, shape);
    for (const auto storage : {ChannelStorage::Compact, ChannelStorage::PadTo16}) {
      tiled.channels = storage;
      others.emplace_back(tiled);
    }
    if (operation.tiled_input && shape.rank() >= 3)
      others.emplace_back(random_blocking(random, shape));
  }
  std::vector<Case> cases;
  for (const Layout& first : linear)
    for (const Layout& second : others)
      cases.push_back(make_case(operation, shape, dtypes, first, second, seed));
  return cases;
}

TEST(Generated, ShapesOfEveryRankAgreeWithTheOracle) {
  const Operation& operation = operation_under_test();
  const std::size_t min_rank = operation.is_linear_only() ? 0 : 1;
  for (const DTypePair dtypes : operation.dtypes)
    for (std::uint64_t number = 0; number < generated_count(kShapes); ++number) {
      Random random(1000 + number);
      const std::size_t rank = min_rank + number % (kernels::kMaxRank + 1 - min_rank);
      const Shape shape = random_shape(random, rank, kMaxElements);
      for (const Case& c : cases_of(operation, random, shape, dtypes, number))
        ASSERT_TRUE(run_case(operation, c)) << "shape number " << number;
    }
}

} // namespace
} // namespace simaai::test
