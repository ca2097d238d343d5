// SPDX-License-Identifier: LGPL-2.1-or-later
// Percentiles of the latency histogram against sorted samples.
#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "common/latency_histogram.h"

namespace {

using simaai::gst::LatencyHistogram;

std::uint64_t nearest_rank(const std::vector<std::uint64_t>& sorted, std::uint64_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[rank - 1];
}

TEST(LatencyHistogram, PercentilesErrByLessThanOnePercent) {
  std::mt19937_64 random(7);
  auto histogram = std::make_unique<LatencyHistogram>();
  std::vector<std::uint64_t> samples;
  for (int i = 0; i < 20000; ++i) {
    // Spread over all octaves from 1 ns to 2^42 ns.
    const std::uint64_t value = (random() >> 22) >> (random() % 42);
    samples.push_back(value);
    histogram->record(value);
  }
  std::sort(samples.begin(), samples.end());
  for (std::uint64_t percent = 1; percent <= 100; ++percent) {
    const std::uint64_t exact = nearest_rank(samples, percent);
    const std::uint64_t found = histogram->percentile_ns(percent);
    const std::uint64_t error = exact > found ? exact - found : found - exact;
    EXPECT_LE(error * 100, exact) << "p" << percent << " of " << exact;
  }
  EXPECT_EQ(histogram->max_ns(), samples.back());
  EXPECT_EQ(histogram->count(), samples.size());
}

TEST(LatencyHistogram, SmallAndHugeDurations) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.percentile_ns(50), 0u);
  histogram.record(0);
  histogram.record(63);
  histogram.record(~std::uint64_t{0});
  EXPECT_EQ(histogram.percentile_ns(1), 0u);
  EXPECT_EQ(histogram.percentile_ns(50), 63u);
  EXPECT_EQ(histogram.max_ns(), ~std::uint64_t{0});
  histogram.reset();
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.max_ns(), 0u);
}

} // namespace
