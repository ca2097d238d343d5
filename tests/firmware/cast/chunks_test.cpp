// SPDX-License-Identifier: LGPL-2.1-or-later
// What Cast moves: chunks, exact edges, counters, slots and every BFloat16 word on every route.
#include <gtest/gtest.h>

#include "firmware/cast/cast_cases.h"

namespace simaai::test {
namespace {

using firmware::Route;
using kernels::DType;

model::Counters counters_of(const Case& c, std::uint32_t workers, const Phases& phases = {}) {
  DeviceCase on_device(&encode_cast, c, phases);
  model::DeviceModel device(immediate(workers));
  EXPECT_TRUE(on_device.run(device));
  return on_device.result().counters;
}

TEST(CastChunks, WidenEightKibAndNarrowSixteenKibAtATime) {
  // 4,096 elements are 8 KiB in and 16 KiB out, or the other way round.
  for (const DType from : {DType::BFloat16, DType::Float32}) {
    for (const std::int64_t panels : {1, 2, 5}) {
      const model::Counters exact = counters_of(cast_case({4096 * panels}, from), 1);
      EXPECT_EQ(exact.dma_calls_in, static_cast<std::uint64_t>(panels));
      EXPECT_EQ(exact.dma_calls_out, static_cast<std::uint64_t>(panels));
      const model::Counters more = counters_of(cast_case({4096 * panels + 8}, from), 1);
      EXPECT_EQ(more.dma_calls_in, static_cast<std::uint64_t>(panels) + 1);
      EXPECT_EQ(more.dma_calls_out, static_cast<std::uint64_t>(panels) + 1);
    }
  }
}

TEST(CastChunks, TwoSlotsOfTwentyFourKib) {
  EXPECT_EQ(counters_of(cast_case({50000}, DType::Float32), 4).local_bytes, 48U * 1024);
  EXPECT_EQ(counters_of(cast_case({50000}, DType::BFloat16), 1).local_bytes, 48U * 1024);
}

TEST(CastChunks, TwoSlotsOverlapTransfersAndConversion) {
  model::ModelConfig config = immediate(1);
  config.costs = {};
  config.costs.launch = 0;
  config.costs.dma_call = 0;
  config.costs.wait = 0;
  config.costs.dma_bytes_per_cycle = 1;
  config.costs.local_bytes_per_cycle = 1;
  const std::uint64_t panels = 8;
  const std::uint64_t moved = panels * 4096 * 6;
  DeviceCase c(&encode_cast, cast_case({4096 * 8}, DType::Float32));
  model::DeviceModel device(config);
  ASSERT_TRUE(c.run(device));
  // One after the other would take twice `moved`; only the first read and the last write stand alone.
  EXPECT_GE(c.result().counters.cycles, moved);
  EXPECT_LE(c.result().counters.cycles, moved + moved / panels * 2);
}

TEST(CastChunks, EdgesAreExactStoresAndInteriorsTransfersAtEveryPhase) {
  for (const DType from : {DType::BFloat16, DType::Float32})
    for (std::uint32_t phase = 0; phase < 16; phase += 2)
      for (const std::int64_t count : {1, 3, 7, 8, 9, 16, 17, 4096, 4099, 9000})
        for (const std::uint32_t workers : {1U, 3U}) {
          DeviceCase c(&encode_cast, cast_case({count}, from), {phase, phase});
          model::DeviceModel device(immediate(workers));
          ASSERT_TRUE(c.run(device)) << count << " at " << phase;
          const model::Counters& moved = c.result().counters;
          ASSERT_EQ(moved.dma_bytes_in, c.golden().input.size());
          ASSERT_EQ(moved.dma_bytes_out + moved.typed_store_bytes, c.golden().output.size());
          ASSERT_LT(moved.typed_store_bytes, 32U); // under 16 at each end
        }
}

TEST(CastChunks, ShortRowsAreGatheredIntoPanelsNotConvertedOneByOne) {
  // 400 rows of ten values: one pitched transfer a panel.
  const model::Counters moved = counters_of(cast_case({400, 10}, DType::BFloat16, {64, 2}, {}), 1);
  EXPECT_EQ(moved.dma_calls_in, 1U);
  EXPECT_EQ(moved.dma_calls_out, 1U);
  EXPECT_EQ(moved.dma_bytes_in, 400U * 10 * 2);
}

TEST(CastChunks, ScatteredStoresAreScalars) {
  const model::Counters moved = counters_of(cast_case({500}, DType::Float32, {}, {6}), 2);
  EXPECT_EQ(moved.dma_calls_out, 0U);
  EXPECT_EQ(moved.typed_store_bytes, 1000U);
}

TEST(CastChunks, PitchedAlignedRowsAreOnePublication) {
  const model::Counters moved = counters_of(cast_case({64, 32}, DType::BFloat16, {}, {256, 4}), 1);
  EXPECT_EQ(moved.dma_calls_out, 1U);
  EXPECT_EQ(moved.typed_store_bytes, 0U);
}

TEST(CastChunks, EveryBFloat16WordIsWidenedOnEveryRoute) {
  oracle::Tensor words{kernels::Shape{256, 256}, DType::BFloat16, {}};
  for (std::uint32_t word = 0; word < 65536; ++word)
    words.bits.push_back(word);
  const struct {
    Route route;
    Case c;
    Phases phases;
  } routes[] = {
      {Route::CastDense, cast_case({256, 256}, DType::BFloat16), {2, 4}},
      {Route::CastSuffix, cast_case({256, 256}, DType::BFloat16, {520, 2}, {1028, 4}), {2, 4}},
      {Route::CastMatrix, cast_case({256, 256}, DType::BFloat16, {}, {4, 1024}), {2, 0}},
      {Route::CastGather, cast_case({256, 256}, DType::BFloat16, {1024, 4}), {2, 8}},
      {Route::CastScattered, cast_case({256, 256}, DType::BFloat16, {}, {2048, 8}), {2, 4}},
  };
  for (const auto& [route, c, phases] : routes)
    for (std::uint32_t workers = 1; workers <= 4; ++workers) {
      DeviceCase on_device(&encode_cast, c, golden_of(c, words), phases);
      model::DeviceModel device(deferred(workers, workers));
      ASSERT_TRUE(on_device.run(device));
      EXPECT_EQ(on_device.result().route, route);
    }
}

} // namespace
} // namespace simaai::test
