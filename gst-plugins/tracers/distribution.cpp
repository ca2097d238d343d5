// SPDX-License-Identifier: LGPL-2.1-or-later
// Percentiles of distributions and of samples.
#include "distribution.h"

#include <algorithm>
#include <numeric>

namespace simaai::latency {

namespace {

using gst::LogBuckets;

std::uint64_t rank_of(std::uint64_t count, std::uint64_t percent) noexcept {
  return std::max<std::uint64_t>(1, (count * percent + 99) / 100);
}

} // namespace

Stat exact_stat(std::vector<std::uint64_t>& samples) {
  Stat stat;
  stat.exact = true;
  if (samples.empty())
    return stat;
  std::sort(samples.begin(), samples.end());
  const auto at = [&samples](std::uint64_t percent) {
    return samples[rank_of(samples.size(), percent) - 1];
  };
  stat.count = samples.size();
  stat.min = samples.front();
  stat.max = samples.back();
  stat.mean = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0}) / samples.size();
  stat.p50 = at(50);
  stat.p90 = at(90);
  stat.p95 = at(95);
  stat.p99 = at(99);
  return stat;
}

Stat Distribution::stat_of(std::span<const Distribution* const> parts) noexcept {
  Stat stat;
  stat.min = ~std::uint64_t{0};
  std::uint64_t sum = 0;
  std::array<std::uint64_t, LogBuckets::kCount> merged{};
  for (const Distribution* part : parts) {
    for (std::size_t i = 0; i < LogBuckets::kCount; ++i) {
      merged[i] += part->bucket(i);
      stat.count += part->bucket(i);
    }
    sum += part->sum_.load(std::memory_order_relaxed);
    stat.min = std::min(stat.min, part->min_.load(std::memory_order_relaxed));
    stat.max = std::max(stat.max, part->max_.load(std::memory_order_relaxed));
  }
  if (stat.count == 0)
    return {};
  stat.mean = sum / stat.count;
  struct Target {
    std::uint64_t percent;
    std::uint64_t Stat::*field;
  };
  constexpr std::array<Target, 4> kTargets{
      {{50, &Stat::p50}, {90, &Stat::p90}, {95, &Stat::p95}, {99, &Stat::p99}}};
  std::uint64_t seen = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < LogBuckets::kCount; ++i) {
    seen += merged[i];
    while (next < kTargets.size() && seen >= rank_of(stat.count, kTargets[next].percent))
      stat.*kTargets[next++].field = std::clamp(LogBuckets::middle_of(i), stat.min, stat.max);
  }
  return stat;
}

} // namespace simaai::latency
