// SPDX-License-Identifier: LGPL-2.1-or-later
// Figures of a report as inline SVG. Colours come from the page's style sheet, so they follow light and dark.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace simaai::latency {

/// Text with the characters that mean something in HTML replaced.
[[nodiscard]] std::string escaped(std::string_view text);

/// A duration with the unit that suits it, such as "1.25 ms".
[[nodiscard]] std::string duration_text(double ns);

struct Point {
  double x_ns = 0; ///< since the first frame
  double y_ns = 0;
};
/// Latency over time, with a line at the median.
[[nodiscard]] std::string time_figure(const std::vector<Point>& points, double p50_ns);

struct Mark {
  const char* name;
  double ns;
};
/// Frames by latency, with lines at the percentiles. The samples are sorted.
[[nodiscard]] std::string histogram_figure(const std::vector<std::uint64_t>& sorted,
                                           const std::vector<Mark>& marks);

/// One row of stages: what a thread spent on a frame in the element, and what the frame waited.
struct Stage {
  std::string name;
  double working_ns = 0;
  double waiting_ns = 0;
};
[[nodiscard]] std::string stages_figure(const std::vector<Stage>& stages);
/// The stages one after the other in one bar.
[[nodiscard]] std::string stacked_figure(const std::vector<Stage>& stages);

/// Where one frame was, from its origin on.
struct Stay {
  std::string name;
  double begin_ns = 0;
  double end_ns = 0;
  double waiting_ns = 0; ///< at the end of the stay or before it; shown first
};
[[nodiscard]] std::string waterfall_figure(const std::vector<Stay>& stays, double latency_ns);

} // namespace simaai::latency
