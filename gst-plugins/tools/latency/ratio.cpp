// SPDX-License-Identifier: LGPL-2.1-or-later
// Order statistics.
#include "ratio.h"

#include <algorithm>
#include <cmath>

namespace simaai::latency {

namespace {

/// Probability that the median lies between the k-th smallest and the k-th largest of n values.
double coverage_of(std::size_t n, std::size_t k) {
  double outside = 0;
  double term = std::pow(0.5, static_cast<double>(n)); // of exactly i values below the median
  for (std::size_t i = 0; i < k; ++i) {
    outside += 2 * term;
    term = term * static_cast<double>(n - i) / static_cast<double>(i + 1);
  }
  return 1 - outside;
}

} // namespace

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Ratio ratio_of(std::vector<double> ratios) {
  std::sort(ratios.begin(), ratios.end());
  const std::size_t n = ratios.size();
  std::size_t k = 1;
  while (2 * (k + 1) <= n && coverage_of(n, k + 1) >= 0.95)
    ++k;
  return {median_of(ratios), ratios[k - 1], ratios[n - k], coverage_of(n, k)};
}

} // namespace simaai::latency
