// SPDX-License-Identifier: LGPL-2.1-or-later
// Watches a program by its environment.
#pragma once

#include <string>
#include <vector>

#include "options.h"

namespace simaai::latency {

/// What a program left.
struct Watched {
  std::vector<Report> reports;     ///< of each pipeline that stopped
  std::vector<std::string> errors; ///< outputs that could not be written
};

/// The value for GST_TRACERS that makes a program write the outputs, and the figures of its pipelines and what went wrong to
/// `status`. What is there for other tracers stays. `error` says which path cannot be written down there.
[[nodiscard]] std::string tracer_text(const Options& options, const std::string& status,
                                      const std::string& others, std::string& error);

/// Adds a report with the elements and paths that the text, which a status file has, tells of, and its errors.
void read_status(const std::string& text, Watched& watched);

/// Runs the program to its end. Its exit status, 128 plus the signal that ended it, or 127 where it
/// cannot be started.
[[nodiscard]] int run_program(const Options& options, Watched& watched, std::string& error);

} // namespace simaai::latency
