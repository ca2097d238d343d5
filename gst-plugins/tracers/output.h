// SPDX-License-Identifier: LGPL-2.1-or-later
// The forms in which a report is written.
#pragma once

#include <string>

#include "report.h"

namespace simaai::latency {

/// Table for people, times in milliseconds.
[[nodiscard]] std::string table_text(const Report& report);

/// Everything but the spans; docs/latency.md describes the members.
[[nodiscard]] std::string json_text(const Report& report);
/// One line for each element, or path, and metric.
[[nodiscard]] std::string csv_text(const Report& report);
/// A line of that text without figures.
[[nodiscard]] std::string csv_note(const std::string& kind, const std::string& words);
/// Trace events for Perfetto and chrome://tracing: the spans of every thread and of every frame.
[[nodiscard]] std::string trace_text(const Report& report);

/// One page that needs nothing outside of it.
[[nodiscard]] std::string html_text(const Report& report);

/// Files to write; empty: none of that kind.
struct Outputs {
  std::string table;
  std::string json;
  std::string csv;
  std::string html;
  std::string trace;
  std::string status; ///< CSV, and an error line for each of the others that could not be written

  [[nodiscard]] bool any() const {
    return !(table.empty() && json.empty() && csv.empty() && html.empty() && trace.empty() &&
             status.empty());
  }
};

/// Whether two of the outputs are one file, which the second would replace.
[[nodiscard]] bool share_a_file(const Outputs& outputs);

/// Writes what is named. `number` counts the reports of a process from 1: the second goes to
/// NAME-2.EXTENSION, of which a status file that is there already is the first, whoever wrote it. Returns the
/// errors, one a line; empty where everything was written.
[[nodiscard]] std::string write_outputs(const Outputs& outputs, const Report& report,
                                        unsigned number);

} // namespace simaai::latency
