// SPDX-License-Identifier: LGPL-2.1-or-later
// Which route a Cast takes, and with how many workers, from a table.
#include <gtest/gtest.h>

#include "firmware/cast/cast_cases.h"

namespace simaai::test {
namespace {

using firmware::Route;
using kernels::DType;

struct Taken {
  Route route;
  std::uint32_t workers;
  friend bool operator==(const Taken&, const Taken&) = default;
};

void PrintTo(const Taken& taken, std::ostream* out) {
  *out << firmware::route_name(taken.route) << " on " << taken.workers;
}

/// Runs a case and judges its bytes, too.
Taken taken(const Case& c, std::uint32_t workers, const Phases& phases = {}) {
  DeviceCase on_device(&encode_cast, c, phases);
  model::DeviceModel device(deferred(workers, 3));
  EXPECT_TRUE(on_device.run(device));
  return {on_device.result().route, on_device.result().counters.workers};
}

/// `rows` x `columns`, row-major in the source and column after column in the destination.
Case transposed(std::int64_t rows, std::int64_t columns, DType from, std::int64_t column_pad = 0) {
  const std::int64_t to_width = from == DType::Float32 ? 2 : 4;
  const std::int64_t column = rows * to_width + column_pad;
  return cast_case({rows, columns}, from, {}, {to_width, column});
}

TEST(CastRoutes, ContiguousPortsAreDense) {
  EXPECT_EQ(taken(cast_case({64, 64}, DType::Float32), 4), (Taken{Route::CastDense, 4}));
  EXPECT_EQ(taken(cast_case({}, DType::BFloat16), 4), (Taken{Route::CastDense, 1}));
}

TEST(CastRoutes, SingletonStridesAreNormalisedFirst) {
  EXPECT_EQ(taken(cast_case({4, 1, 8}, DType::Float32, {32, 4000, 4}, {16, 2, 2}), 4).route,
            Route::CastDense);
}

TEST(CastRoutes, PrivateAxesAreReorderedWhereBothPortsHaveOnePhysicalOrder) {
  // Both ports column-major: one dense span after the axes are exchanged.
  EXPECT_EQ(taken(cast_case({16, 32}, DType::Float32, {4, 64}, {2, 32}), 1).route,
            Route::CastDense);
  // Both ports in one order, with a pitch on one of them.
  EXPECT_EQ(taken(cast_case({16, 32}, DType::Float32, {4, 80}, {2, 32}), 1).route,
            Route::CastSuffix);
}

TEST(CastRoutes, ContiguousRowsAreSuffixes) {
  EXPECT_EQ(taken(cast_case({40, 100}, DType::BFloat16, {256, 2}), 4),
            (Taken{Route::CastSuffix, 4}));
  EXPECT_EQ(taken(cast_case({40, 100}, DType::BFloat16, {}, {416, 4}), 4),
            (Taken{Route::CastSuffix, 4}));
}

TEST(CastRoutes, SteppedDestinationsAreScattered) {
  EXPECT_EQ(taken(cast_case({500}, DType::Float32, {}, {4}), 2), (Taken{Route::CastScattered, 2}));
  EXPECT_EQ(taken(cast_case({500}, DType::Float32, {8}, {4}), 2).route, Route::CastScattered);
}

TEST(CastRoutes, SteppedSourcesOfContiguousRunsAreGathered) {
  EXPECT_EQ(taken(cast_case({500}, DType::Float32, {8}), 2), (Taken{Route::CastGather, 2}));
}

TEST(CastRoutes, AlignedPermutationsAreMatricesWithOwnersOfColumns) {
  for (const DType from : {DType::Float32, DType::BFloat16}) {
    EXPECT_EQ(taken(transposed(64, 48, from), 4), (Taken{Route::CastMatrix, 4}));
    EXPECT_EQ(taken(transposed(64, 3, from), 4).workers, 1U); // too little for more
    EXPECT_EQ(taken(transposed(640, 3, from), 4), (Taken{Route::CastMatrix, 3}));
  }
}

TEST(CastRoutes, OwnersShareColumnsInGroupsThatEndOnGranules) {
  // Columns of 636 bytes: four are whole granules. 8 columns make two owners, 16 make four.
  EXPECT_EQ(taken(transposed(159, 8, DType::BFloat16), 4), (Taken{Route::CastMatrix, 2}));
  EXPECT_EQ(taken(transposed(159, 16, DType::BFloat16), 4), (Taken{Route::CastMatrix, 4}));
}

TEST(CastRoutes, OuterStridesTakePartInTheProof) {
  // Two matrices, 16 columns each, at a distance that keeps or breaks the granules.
  const auto batch = [](std::int64_t distance) {
    return cast_case({2, 256, 16}, DType::Float32, {}, {distance, 2, 512});
  };
  EXPECT_EQ(taken(batch(16 * 512 + 16), 4), (Taken{Route::CastMatrix, 4}));
  EXPECT_EQ(taken(batch(16 * 512 + 8), 4), (Taken{Route::CastGather, 4}));
}

TEST(CastRoutes, SerialColumnsNeedAFairShareOfAPanel) {
  // No proof at a scalar phase: one owner of all columns replaces parallel gathering only from
  // ceil(4096 / workers) elements a column on.
  const Phases odd{0, 4};
  for (const auto& [workers, least] : {std::pair{2U, 2048}, {3U, 1366}, {4U, 1024}}) {
    EXPECT_EQ(taken(transposed(least, 4, DType::BFloat16), workers, odd),
              (Taken{Route::CastMatrix, 1}));
    EXPECT_EQ(taken(transposed(least - 1, 4, DType::BFloat16), workers, odd),
              (Taken{Route::CastGather, workers}));
  }
}

TEST(CastRoutes, OneWorkerKeepsShortColumnsThatFitOneMatrixPanelAndLongOnes) {
  const Phases odd{0, 2};
  const auto route = [&](std::int64_t rows, std::int64_t columns) {
    return taken(transposed(rows, columns, DType::Float32), 1, odd).route;
  };
  EXPECT_EQ(route(256, 16), Route::CastMatrix);
  EXPECT_EQ(route(257, 16), Route::CastGather);
  EXPECT_EQ(route(1365, 3), Route::CastMatrix);
  EXPECT_EQ(route(1366, 3), Route::CastGather);
  EXPECT_EQ(route(4095, 3), Route::CastGather);
  EXPECT_EQ(route(4096, 3), Route::CastMatrix);
}

TEST(CastRoutes, PackedPairsKeepTheirParallelGranuleOwners) {
  const Case pairs = transposed(4096, 2, DType::BFloat16);
  EXPECT_EQ(taken(pairs, 4), (Taken{Route::CastGather, 4}));
  EXPECT_EQ(taken(pairs, 2), (Taken{Route::CastMatrix, 2}));
  EXPECT_EQ(taken(pairs, 1), (Taken{Route::CastMatrix, 1}));
  EXPECT_EQ(taken(transposed(4096, 2, DType::Float32), 4), (Taken{Route::CastMatrix, 2}));
}

TEST(CastRoutes, PitchesAtTheSixteenBitBoundaryKeepTheGatherRoute) {
  const auto pitched = [](std::int64_t pitch) {
    return cast_case({64, 16}, DType::BFloat16, {pitch, 2}, {4, 256});
  };
  EXPECT_EQ(taken(pitched(65534), 2).route, Route::CastMatrix);
  EXPECT_EQ(taken(pitched(65536), 2).route, Route::CastGather);
  // Rows of a suffix and single values of a gather: one transfer each beyond the boundary.
  for (const std::int64_t pitch : {65534, 65536}) {
    EXPECT_EQ(taken(cast_case({5, 30}, DType::BFloat16, {pitch, 2}), 1).route, Route::CastSuffix);
    EXPECT_EQ(taken(cast_case({5, 30}, DType::BFloat16, {}, {pitch * 2, 4}), 1).route,
              Route::CastSuffix);
    EXPECT_EQ(taken(cast_case({30}, DType::BFloat16, {pitch}), 1).route, Route::CastGather);
  }
}

} // namespace
} // namespace simaai::test
