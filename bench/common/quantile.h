// SPDX-License-Identifier: LGPL-2.1-or-later
// What programs that time whole calls do with their samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace simaai::bench {

/// The sample below which `part` (0 to 1) of the samples lie.
[[nodiscard]] inline double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

} // namespace simaai::bench
