// SPDX-License-Identifier: LGPL-2.1-or-later
// Figures of a report as inline SVG. Colours come from the page's style sheet, so they follow light and dark.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
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

/// What a frame's time in an element can be; each has a colour, a style of the page.
enum class Part : std::uint8_t {
  Thread,     ///< a thread is in the element for it
  Queued,     ///< its job waits for the device
  Device,     ///< its job runs
  Retirement, ///< its job is done, and nobody knows yet
  Waiting,    ///< none of these
};
inline constexpr std::size_t kParts = 5;
[[nodiscard]] const char* style_of(Part part) noexcept;
/// For people, such as "on the device".
[[nodiscard]] const char* words_of(Part part) noexcept;

/// One row of stages: the time of a frame in the element, by part.
struct Stage {
  std::string name;
  std::array<double, kParts> ns{};
  [[nodiscard]] double sum() const noexcept { return std::accumulate(ns.begin(), ns.end(), 0.0); }
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
  struct Piece {
    Part part;
    double begin_ns;
    double end_ns;
  };
  std::vector<Piece> jobs; ///< where the element names them: then its thread worked first
};
[[nodiscard]] std::string waterfall_figure(const std::vector<Stay>& stays, double latency_ns);

} // namespace simaai::latency
