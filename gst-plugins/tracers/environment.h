// SPDX-License-Identifier: LGPL-2.1-or-later
// What a figure depends on besides the pipeline.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace simaai::latency {

/// Processor, number of processors, kernel, GStreamer and our version, in this order.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> describe_environment();

} // namespace simaai::latency
