// SPDX-License-Identifier: LGPL-2.1-or-later
// Watches a program by its environment.
#pragma once

#include <string>

#include "options.h"

namespace simaai::latency {

/// The value for GST_TRACERS that makes a program write the outputs, and the figures of its first
/// pipeline to `csv`. `error` says which path cannot be written down there.
[[nodiscard]] std::string tracer_text(const Options& options, const std::string& csv,
                                      std::string& error);

/// Elements and paths with the figures that the text, which csv_text() made, has.
[[nodiscard]] Report read_csv(const std::string& text);

/// Runs the program to its end. Its exit status, 128 plus the signal that ended it, or 127 where it
/// cannot be started. `report` gets the figures of its first pipeline; without one it stays empty.
[[nodiscard]] int run_program(const Options& options, Report& report, std::string& error);

} // namespace simaai::latency
