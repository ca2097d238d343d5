// SPDX-License-Identifier: LGPL-2.1-or-later
// Drawing. A figure is 360 units wide: its text is readable where the page is as narrow as a telephone.
#include "svg.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace simaai::latency {

namespace {

constexpr double kWidth = 360;
constexpr double kLeft = 46; ///< room for the labels of the vertical axis
constexpr double kRight = 352;
constexpr double kRow = 19;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string begin_svg(double height, const char* label) {
  return "<svg viewBox=\"0 0 " + number(kWidth) + " " + number(height) +
         "\" role=\"img\" aria-label=\"" + label + "\">";
}

std::string text_at(double x, double y, const char* anchor, const std::string& text,
                    const char* style = "label") {
  return "<text class=\"" + std::string(style) + "\" x=\"" + number(x) + "\" y=\"" + number(y) +
         "\" text-anchor=\"" + anchor + "\">" + escaped(text) + "</text>";
}

std::string line_at(double x1, double y1, double x2, double y2, const char* style) {
  return "<line class=\"" + std::string(style) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) +
         "\" x2=\"" + number(x2) + "\" y2=\"" + number(y2) + "\"/>";
}

std::string box_at(double x, double y, double width, double height, const std::string& style,
                   const std::string& title) {
  char size[96];
  std::snprintf(size, sizeof size, "x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"", x, y,
                std::max(width, 0.0), height);
  return "<rect class=\"" + style + "\" " + size + "><title>" + escaped(title) + "</title></rect>";
}

/// Round distance between about `parts` ticks.
double tick_step(double range, double parts) {
  if (!(range > 0))
    return 1;
  const double raw = range / parts;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw)
      return factor * power;
  }
  return 10 * power;
}

struct Axis {
  double low = 0;
  double high = 1;
  double from = 0;
  double to = 1;
  [[nodiscard]] double at(double value) const {
    return from + (value - low) / std::max(high - low, 1e-9) * (to - from);
  }
};

/// Round values between the ends of an axis.
std::vector<double> ticks(const Axis& axis, double parts) {
  const double step = tick_step(axis.high - axis.low, parts);
  const auto first = static_cast<std::int64_t>(std::ceil(axis.low / step));
  const auto last = static_cast<std::int64_t>(std::floor(axis.high / step));
  std::vector<double> values;
  for (std::int64_t i = first; i <= last; ++i)
    values.push_back(static_cast<double>(i) * step);
  return values;
}

std::string time_axis(const Axis& axis, double top, double bottom) {
  std::string svg;
  for (const double value : ticks(axis, 3.5)) {
    svg += line_at(axis.at(value), top, axis.at(value), bottom, "grid");
    svg += text_at(std::clamp(axis.at(value), kLeft, kRight - 14), bottom + 12, "middle",
                   duration_text(value));
  }
  return svg;
}

std::string shortened(const std::string& name, std::size_t length) {
  return name.size() <= length ? name : name.substr(0, length - 2) + "..";
}

double total(const std::vector<Stage>& stages) {
  double sum = 0;
  for (const Stage& stage : stages)
    sum += stage.sum();
  return sum;
}

/// The parts of a stage side by side from `done` on.
std::string stage_boxes(const Stage& stage, const Axis& x, double done, double y, double height,
                        const std::string& style) {
  std::string svg;
  for (std::size_t i = 0; i < kParts; ++i) {
    const Part part = static_cast<Part>(i);
    const double from = x.at(done);
    done += stage.ns[i];
    if (stage.ns[i] > 0)
      svg += box_at(from, y, x.at(done) - from, height, style_of(part) + style,
                    stage.name + ", " + words_of(part) + ": " + duration_text(stage.ns[i]));
  }
  return svg;
}

/// What a stay consists of, in the order of drawing: jobs are on top.
std::vector<Stay::Piece> pieces_of(const Stay& stay) {
  const double worked = stay.end_ns - stay.begin_ns - stay.waiting_ns;
  if (stay.jobs.empty())
    return {{Part::Waiting, stay.begin_ns, stay.begin_ns + stay.waiting_ns},
            {Part::Thread, stay.begin_ns + stay.waiting_ns, stay.end_ns}};
  // A thread that waited for its job was in the element all the time; another one only handed it over.
  double thread_end = stay.end_ns;
  if (stay.waiting_ns > 0) {
    double in_jobs = 0;
    for (const Stay::Piece& piece : stay.jobs)
      in_jobs += piece.end_ns - piece.begin_ns;
    thread_end = stay.begin_ns + std::max(worked - in_jobs, 0.0);
  }
  std::vector<Stay::Piece> pieces{{Part::Waiting, stay.begin_ns, stay.end_ns},
                                  {Part::Thread, stay.begin_ns, thread_end}};
  pieces.insert(pieces.end(), stay.jobs.begin(), stay.jobs.end());
  return pieces;
}

} // namespace

const char* style_of(Part part) noexcept {
  switch (part) {
  case Part::Thread:
    return "work";
  case Part::Queued:
    return "queued";
  case Part::Device:
    return "device";
  case Part::Retirement:
    return "retirement";
  case Part::Waiting:
    return "wait";
  }
  return "";
}

const char* words_of(Part part) noexcept {
  switch (part) {
  case Part::Thread:
    return "on a thread";
  case Part::Queued:
    return "before its job";
  case Part::Device:
    return "on the device";
  case Part::Retirement:
    return "until its job is retired";
  case Part::Waiting:
    return "waiting";
  }
  return "";
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string duration_text(double ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  const Unit* unit = &kUnits[3];
  for (const Unit& candidate : kUnits) {
    if (std::abs(ns) >= candidate.ns) {
      unit = &candidate;
      break;
    }
  }
  char text[48];
  std::snprintf(text, sizeof text, "%.3g %s", ns / unit->ns, unit->name);
  if (std::abs(ns) / unit->ns >= 999.5)
    std::snprintf(text, sizeof text, "%.0f %s", ns / unit->ns, unit->name);
  return text;
}

std::string time_figure(const std::vector<Point>& points, double p50_ns) {
  constexpr double kHeight = 170;
  double last = 0;
  double most = 0;
  for (const Point& point : points) {
    last = std::max(last, point.x_ns);
    most = std::max(most, point.y_ns);
  }
  const Axis x{0, std::max(last, 1.0), kLeft, kRight};
  const Axis y{0, most * 1.05, kHeight - 22, 8};
  std::string svg = begin_svg(kHeight, "latency of each frame over time");
  svg += time_axis(x, 8, kHeight - 22);
  for (const double value : ticks(y, 4)) {
    svg += line_at(kLeft, y.at(value), kRight, y.at(value), "grid");
    svg += text_at(kLeft - 4, y.at(value) + 3, "end", duration_text(value));
  }
  svg += line_at(kLeft, y.at(p50_ns), kRight, y.at(p50_ns), "mark");
  for (const Point& point : points)
    svg += "<circle class=\"dot\" r=\"1.6\" cx=\"" + number(x.at(point.x_ns)) + "\" cy=\"" +
           number(y.at(point.y_ns)) + "\"/>";
  return svg + "</svg>";
}

std::string histogram_figure(const std::vector<std::uint64_t>& sorted,
                             const std::vector<Mark>& marks) {
  constexpr double kHeight = 190;
  constexpr double kTop = 50; // the names of the percentiles stand above the bars
  constexpr std::size_t kBars = 48;
  if (sorted.empty())
    return "";
  const auto low = static_cast<double>(sorted.front());
  const double high = std::max(static_cast<double>(sorted.back()), low + 1);
  std::vector<std::uint64_t> bars(kBars);
  for (const std::uint64_t sample : sorted) {
    const double part = (static_cast<double>(sample) - low) / (high - low);
    ++bars[std::min(kBars - 1, static_cast<std::size_t>(part * kBars))];
  }
  const auto most = static_cast<double>(*std::max_element(bars.begin(), bars.end()));
  const Axis x{low, high, kLeft, kRight};
  const Axis y{0, most, kHeight - 22, kTop};
  std::string svg = begin_svg(kHeight, "histogram of the latency");
  svg += time_axis(x, kTop, kHeight - 22);
  svg += text_at(kLeft - 4, kTop + 4, "end", number(most).substr(0, number(most).size() - 2));
  svg += text_at(kLeft - 4, kHeight - 22, "end", "0");
  const double width = (kRight - kLeft) / kBars;
  for (std::size_t i = 0; i < kBars; ++i) {
    const double top = y.at(static_cast<double>(bars[i]));
    if (bars[i] != 0)
      svg += box_at(kLeft + width * static_cast<double>(i), top, width - 0.6, kHeight - 22 - top,
                    "work", std::to_string(bars[i]) + " frames");
  }
  double row = 12;
  for (const Mark& mark : marks) {
    svg += line_at(x.at(mark.ns), row + 2, x.at(mark.ns), kHeight - 22, "mark");
    const bool right_half = x.at(mark.ns) > (kLeft + kRight) / 2;
    svg += text_at(x.at(mark.ns) + (right_half ? -3 : 3), row + 4, right_half ? "end" : "start",
                   std::string(mark.name) + " " + duration_text(mark.ns));
    row += 12;
  }
  return svg + "</svg>";
}

std::string stages_figure(const std::vector<Stage>& stages) {
  constexpr double kNames = 104;
  constexpr double kEnd = 296; // behind it stands the sum
  double most = 1;
  for (const Stage& stage : stages)
    most = std::max(most, stage.sum());
  const Axis x{0, most, kNames, kEnd};
  const double height = kRow * static_cast<double>(stages.size()) + 4;
  std::string svg = begin_svg(height, "median time in each element");
  double y = 2;
  for (const Stage& stage : stages) {
    svg += text_at(kNames - 4, y + 12, "end", shortened(stage.name, 18));
    svg += stage_boxes(stage, x, 0, y + 2, kRow - 5, "");
    svg += text_at(x.at(stage.sum()) + 4, y + 12, "start", duration_text(stage.sum()));
    y += kRow;
  }
  return svg + "</svg>";
}

std::string stacked_figure(const std::vector<Stage>& stages) {
  constexpr double kHeight = 44;
  const Axis x{0, std::max(total(stages), 1.0), 4, kRight};
  std::string svg = begin_svg(kHeight, "elements one after the other");
  double done = 0;
  for (const Stage& stage : stages) {
    const double from = x.at(done);
    svg += stage_boxes(stage, x, done, 4, 22, " edge");
    done += stage.sum();
    const double to = x.at(done);
    if (to - from > 34)
      svg += text_at((from + to) / 2, 37, "middle",
                     shortened(stage.name, static_cast<std::size_t>((to - from) / 5.5)));
  }
  return svg + "</svg>";
}

std::string waterfall_figure(const std::vector<Stay>& stays, double latency_ns) {
  constexpr double kNames = 104;
  const double height = kRow * static_cast<double>(stays.size()) + 22;
  const Axis x{0, std::max(latency_ns, 1.0), kNames, kRight - 2};
  std::string svg = begin_svg(height, "where the frame was");
  svg += time_axis(x, 2, height - 18);
  double y = 2;
  for (const Stay& stay : stays) {
    const std::string whole = stay.name + ": " + duration_text(stay.end_ns - stay.begin_ns) +
                              ", of it waiting " + duration_text(stay.waiting_ns);
    svg += text_at(kNames - 4, y + 12, "end", shortened(stay.name, 18));
    for (const Stay::Piece& piece : pieces_of(stay)) {
      const double begin = x.at(piece.begin_ns);
      const double width = std::max(x.at(piece.end_ns) - begin, 0.7);
      const bool of_job = piece.part != Part::Waiting && piece.part != Part::Thread;
      if (piece.end_ns > piece.begin_ns || piece.part == Part::Thread)
        svg += box_at(begin, y + 2, width, kRow - 5, style_of(piece.part),
                      of_job ? stay.name + ", " + words_of(piece.part) + ": " +
                                   duration_text(piece.end_ns - piece.begin_ns)
                             : whole);
    }
    y += kRow;
  }
  return svg + "</svg>";
}

} // namespace simaai::latency
