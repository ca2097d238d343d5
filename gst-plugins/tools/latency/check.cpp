// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and judges conditions.
#include "check.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace simaai::latency {

namespace {

struct FigureName {
  std::string_view name;
  std::uint64_t Stat::*field;
};
constexpr FigureName kFigures[] = {{"p50", &Stat::p50}, {"p90", &Stat::p90}, {"p95", &Stat::p95},
                                   {"p99", &Stat::p99}, {"min", &Stat::min}, {"mean", &Stat::mean},
                                   {"max", &Stat::max}};

std::string without_spaces(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0)
      result += c;
  }
  return result;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos)
    return {};
  return std::string(text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin));
}

/// The part behind the last dot, which is taken off.
std::string take_last(std::string& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string::npos)
    return {};
  std::string last = text.substr(dot + 1);
  text.resize(dot);
  return last;
}

bool is_figure(const std::string& name) {
  return std::any_of(std::begin(kFigures), std::end(kFigures),
                     [&name](const FigureName& figure) { return figure.name == name; });
}

bool is_metric(const std::string& name) {
  constexpr std::string_view kMetrics[] = {"residence", "waiting", "thread",    "processing",
                                           "queued",    "working", "retirement"};
  return std::find(std::begin(kMetrics), std::end(kMetrics), name) != std::end(kMetrics);
}

/// Nanoseconds of "2ms"; a bare number where there is no unit.
std::optional<double> parse_bound(const std::string& text, bool has_unit) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number) || number < 0)
    return std::nullopt; // "nan" and "inf" are numbers too
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (!has_unit)
    return unit.empty() ? std::optional(number) : std::nullopt;
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  for (const auto& [name, ns] : kUnits) {
    if (unit == name)
      return number * ns;
  }
  return std::nullopt;
}

std::optional<double> figure_of(const std::optional<Stat>& stat, const std::string& name) {
  if (!stat)
    return std::nullopt;
  for (const FigureName& figure : kFigures) {
    if (figure.name == name)
      return static_cast<double>((*stat).*figure.field);
  }
  return std::nullopt;
}

std::optional<Stat> metric_of(const ElementReport& element, const std::string& metric) {
  const JobReport jobs = element.jobs.value_or(JobReport{});
  const std::pair<std::string_view, const std::optional<Stat>&> metrics[] = {
      {"waiting", element.waiting}, {"thread", element.thread}, {"processing", element.processing},
      {"queued", jobs.queued},      {"working", jobs.working},  {"retirement", jobs.retirement},
  };
  for (const auto& [name, stat] : metrics) {
    if (name == metric)
      return stat;
  }
  return element.residence;
}

std::optional<double> total_of(const Check& check, const Report& report) {
  std::optional<double> worst;
  for (const PathReport* path : total_paths(report)) {
    const auto value = figure_of(path->latency, check.figure);
    if (value && (!worst || *value > *worst))
      worst = value;
  }
  return worst;
}

/// Elements that the subject may mean: that of the name in the report, else of the path, else all with that last part.
std::vector<const ElementReport*> elements_of(const Check& check, const Report& report) {
  const std::string& subject = check.subject;
  const auto all = [&report](auto fits) {
    std::vector<const ElementReport*> found;
    for (const ElementReport& element : report.elements) {
      if (fits(element))
        found.push_back(&element);
    }
    return found;
  };
  auto found = all([&](const ElementReport& element) { return element.name == subject; });
  if (found.empty())
    found = all([&](const ElementReport& element) {
      return element.path == subject || report.pipeline + "/" + element.path == subject;
    });
  if (found.empty())
    found =
        all([&](const ElementReport& element) { return element.path.ends_with("/" + subject); });
  return found;
}

} // namespace

std::optional<Check> parse_check(std::string_view text) {
  const std::size_t at = text.find_last_of("<>");
  if (at == std::string_view::npos)
    return std::nullopt;
  const bool or_equal = at + 1 < text.size() && text[at + 1] == '=';
  Check check;
  check.text = text;
  if (text[at] == '<')
    check.comparison = or_equal ? Comparison::LessOrEqual : Comparison::Less;
  else
    check.comparison = or_equal ? Comparison::GreaterOrEqual : Comparison::Greater;
  check.subject = trimmed(text.substr(0, at));
  check.figure = take_last(check.subject);
  check.metric = "residence";
  if (check.figure == "drops") {
    check.metric = "drops";
    check.figure.clear();
  } else if (!is_figure(check.figure)) {
    return std::nullopt;
  } else {
    std::string shorter = check.subject;
    const std::string metric = take_last(shorter);
    if (is_metric(metric)) {
      check.metric = metric;
      check.subject = shorter;
    }
  }
  const auto bound =
      parse_bound(without_spaces(text.substr(at + (or_equal ? 2 : 1))), check.metric != "drops");
  if (!bound || check.subject.empty())
    return std::nullopt;
  check.bound = *bound;
  return check;
}

std::optional<double> value_of(const Check& check, const Report& report) {
  if (check.subject == "total")
    return check.metric == "residence" ? total_of(check, report) : std::nullopt;
  const auto elements = elements_of(check, report);
  if (elements.size() != 1)
    return std::nullopt;
  const ElementReport& element = *elements.front();
  if (check.metric == "drops")
    return element.drops ? std::optional(static_cast<double>(*element.drops)) : std::nullopt;
  return figure_of(metric_of(element, check.metric), check.figure);
}

bool concerns(const Check& check, const Report& report) {
  return check.subject == "total" ? !report.paths.empty() : !elements_of(check, report).empty();
}

std::string why_unknown(const Check& check, const Report& report) {
  if (check.subject == "total")
    return report.paths.empty() ? "n/a: no counted frame reached a sink"
           : total_paths(report).empty()
               ? "n/a: frames began anew inside the pipeline, see the notes"
               : "n/a";
  const auto elements = elements_of(check, report);
  if (elements.empty())
    return "n/a: no element of that name passed data";
  if (elements.size() == 1)
    return "n/a";
  std::string text = "n/a: several elements are called so:";
  for (const ElementReport* element : elements)
    text += (element == elements.front() ? " " : ", ") + element->name;
  return text;
}

bool holds(const Check& check, std::optional<double> value) {
  if (!value)
    return false;
  switch (check.comparison) {
  case Comparison::Less:
    return *value < check.bound;
  case Comparison::LessOrEqual:
    return *value <= check.bound;
  case Comparison::Greater:
    return *value > check.bound;
  case Comparison::GreaterOrEqual:
    return *value >= check.bound;
  }
  return false;
}

} // namespace simaai::latency
