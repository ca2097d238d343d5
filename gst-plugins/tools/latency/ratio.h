// SPDX-License-Identifier: LGPL-2.1-or-later
// Ratio of two pipelines from interleaved runs.
#pragma once

#include <vector>

namespace simaai::latency {

/// Median of the ratios of pairs, and an interval that holds the true median with probability
/// `coverage`, whatever the distribution: two order statistics.
struct Ratio {
  double median = 0;
  double low = 0;
  double high = 0;
  double coverage = 0;
};

/// The narrowest symmetric interval of at least 95 %, or the widest there is where the pairs are too
/// few (5 or less). At least one ratio.
[[nodiscard]] Ratio ratio_of(std::vector<double> ratios);

/// Middle value; mean of both where there are two. At least one value.
[[nodiscard]] double median_of(std::vector<double> values);

} // namespace simaai::latency
