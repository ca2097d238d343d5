// SPDX-License-Identifier: LGPL-2.1-or-later
// The pipelines of the demo as text: what gst_parse_launch() gets and what a shell gets.
#pragma once

#include <string>
#include <vector>

#include "options.h"

namespace simaai::demo {

/// The elements in order, each in the syntax of gst-launch-1.0 without the quotes of a shell.
[[nodiscard]] std::vector<std::string> source_elements(const Options& options,
                                                       const std::string& uri);
[[nodiscard]] std::vector<std::string> tensor_elements(const std::string& backend);
[[nodiscard]] std::vector<std::string> sink_elements(bool window);
/// Encodes a short clip with moving content to `path`.
[[nodiscard]] std::vector<std::string> clip_elements(const std::string& path);

/// One line for gst_parse_launch().
[[nodiscard]] std::string parse_text(const std::vector<std::string>& elements);
/// A command that can be pasted into a shell, over several lines.
[[nodiscard]] std::string shell_text(const std::vector<std::string>& elements,
                                     const std::string& plugin_path);

} // namespace simaai::demo
