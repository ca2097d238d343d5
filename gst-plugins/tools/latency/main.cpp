// SPDX-License-Identifier: LGPL-2.1-or-later
// simaai-latency: where do the milliseconds go?
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <gst/gst.h>

#include "attach.h"
#include "measure.h"
#include "options.h"
#include "ratio.h"
#include "tracers/svg.h"

namespace simaai::latency {

namespace {

constexpr int kFailed = 1;
constexpr int kCheckFailed = 3;
constexpr std::chrono::seconds kPatience{3};
constexpr std::chrono::milliseconds kRetry{10};

int fail(const std::string& text) {
  std::fprintf(stderr, "simaai-latency: %s\n", text.c_str());
  return kFailed;
}

/// Median source-to-sink latency of the slowest path; empty where nothing arrived.
std::optional<double> total_p50(const Report& report) {
  std::optional<double> worst;
  for (const PathReport& path : report.paths)
    worst = std::max(worst.value_or(0), static_cast<double>(path.latency.p50));
  return worst;
}

/// Says how each condition fared; false where one does not hold.
bool judge(const std::vector<Check>& checks, const Report& report) {
  bool all = true;
  for (const Check& check : checks) {
    const auto value = value_of(check, report);
    const bool good = holds(check, value);
    all = all && good;
    std::string found = "n/a";
    if (value)
      found = check.metric == "drops" ? std::to_string(static_cast<std::uint64_t>(*value))
                                      : duration_text(*value);
    std::fprintf(stderr, "check %s: %s (%s)\n", check.text.c_str(), good ? "holds" : "FAILS",
                 found.c_str());
  }
  return all;
}

MeasureOptions measure_options(const Options& options, const std::string& label) {
  MeasureOptions result;
  result.warmup = options.warmup;
  result.samples = options.samples;
  result.live = options.live;
  result.progress = !options.quiet && isatty(STDERR_FILENO) != 0;
  result.label = label;
  return result;
}

/// The runs of one pipeline.
struct Series {
  std::vector<Report> reports;
  std::vector<double> medians;

  /// The run whose median is the middle one.
  [[nodiscard]] const Report& middle() const {
    std::vector<std::size_t> order(reports.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::sort(order.begin(), order.end(),
              [this](std::size_t a, std::size_t b) { return medians[a] < medians[b]; });
    return reports[order[(order.size() - 1) / 2]];
  }
};

/// A run. A device that the run before used may not be free at once: jobs that a stop left behind retire when they
/// end, cameras close late. So a later run may fail for a while before any data flow.
Measured measure_when_free(Tracing& tracing, const Options& options, const std::string& text,
                           const std::string& label, bool first) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    Measured measured = measure(tracing, text, measure_options(options, label));
    if (measured.error.empty() || measured.flowed || first ||
        std::chrono::steady_clock::now() >= deadline)
      return measured;
    std::this_thread::sleep_for(kRetry);
  }
}

/// One run; the reason where it cannot be used. An interrupted one ends the series and is used.
std::string run_once(Tracing& tracing, const Options& options, const std::string& text,
                     const std::string& label, bool first, Series& series, bool& interrupted) {
  Measured measured = measure_when_free(tracing, options, text, label, first);
  interrupted = measured.interrupted;
  if (!measured.error.empty())
    return measured.error;
  const auto median = total_p50(measured.report);
  if (!median && !options.compare.empty())
    return "no counted frame reached a sink; see --warmup and --samples";
  std::uint64_t frames = 0;
  for (const PathReport& path : measured.report.paths)
    frames = std::max(frames, path.latency.count);
  if (frames < options.samples && !options.quiet)
    std::fprintf(stderr, "simaai-latency: the stream ended after %llu of %llu samples\n",
                 static_cast<unsigned long long>(frames),
                 static_cast<unsigned long long>(options.samples));
  series.reports.push_back(std::move(measured.report));
  series.medians.push_back(median.value_or(0));
  return {};
}

void print_spread(const char* name, const Series& series) {
  if (series.medians.size() < 2)
    return;
  const auto [low, high] = std::minmax_element(series.medians.begin(), series.medians.end());
  std::printf("%s: median of %zu runs %s, from %s to %s\n", name, series.medians.size(),
              duration_text(median_of(series.medians)).c_str(), duration_text(*low).c_str(),
              duration_text(*high).c_str());
}

void print_comparison(const Series& first, const Series& other) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(first.medians.size(), other.medians.size()); ++i)
    if (first.medians[i] > 0 && other.medians[i] > 0)
      ratios.push_back(other.medians[i] / first.medians[i]);
  print_spread("first", first);
  print_spread("other", other);
  if (ratios.empty()) {
    std::printf("other / first: n/a (a median of 0)\n");
    return;
  }
  const Ratio ratio = ratio_of(ratios);
  std::printf("other / first: %.3f, between %.3f and %.3f with %.1f %% confidence (%zu pairs)\n",
              ratio.median, ratio.low, ratio.high, 100 * ratio.coverage, ratios.size());
}

int conclude(const Options& options, const Series& first, const Series& other) {
  const Report& report = first.middle();
  if (!options.quiet)
    std::fputs(table_text(report).c_str(), stdout);
  if (!options.compare.empty())
    print_comparison(first, other);
  else if (!options.quiet)
    print_spread("source to sink", first);
  if (options.outputs.any()) {
    const std::string error = write_outputs(options.outputs, report, 1);
    if (!error.empty())
      return fail(error);
  }
  return judge(options.checks, report) ? 0 : kCheckFailed;
}

int run_pipelines(const Options& options) {
  Tracing& tracing = start_tracing({});
  Series first;
  Series other;
  bool interrupted = false;
  for (std::uint64_t i = 0; i < 2 * options.repeats && !interrupted; ++i) {
    const std::uint64_t round = i / 2;
    // Each round in turn begins with the other one, so that neither profits from its place.
    const bool is_other = (i % 2 == 1) != (round % 2 == 1);
    if (is_other && options.compare.empty())
      continue;
    const std::string label = options.repeats > 1 ? std::to_string(round + 1) + " " : "";
    const std::string error = run_once(
        tracing, options, is_other ? options.compare : options.pipeline, label,
        first.reports.empty() && other.reports.empty(), is_other ? other : first, interrupted);
    if (!error.empty())
      return fail(error);
  }
  if (first.reports.empty() || (!options.compare.empty() && other.reports.empty()))
    return fail("interrupted");
  return conclude(options, first, other);
}

int watch_program(const Options& options) {
  Report report;
  std::string error;
  const int status = run_program(options, report, error);
  if (!error.empty())
    return fail(error);
  if (status != 0)
    return fail("the program ended with status " + std::to_string(status));
  if (report.elements.empty())
    return fail("the program stopped no pipeline, or does not find the plug-in simaaitracers "
                "(GST_PLUGIN_PATH)");
  return judge(options.checks, report) ? 0 : kCheckFailed;
}

} // namespace

} // namespace simaai::latency

int main(int argc, char** argv) {
  int status = 0;
  const auto options =
      simaai::latency::parse_options(std::vector<std::string>(argv + 1, argv + argc), status);
  if (!options)
    return status;
  if (!options->program.empty())
    return simaai::latency::watch_program(*options);
  gst_init(nullptr, nullptr);
  return simaai::latency::run_pipelines(*options);
}
