// SPDX-License-Identifier: LGPL-2.1-or-later
// What each element cost: its `stats` property as a table.
#pragma once

#include <string>
#include <vector>

#include <gst/gst.h>

namespace simaai::demo {

/// A table of processing times in microseconds, one line for each named element of the pipeline.
[[nodiscard]] std::string cost_table(GstBin* pipeline, const std::vector<std::string>& names);

} // namespace simaai::demo
