// SPDX-License-Identifier: LGPL-2.1-or-later
// simaai-latency: where do the milliseconds go?
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
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

/// Median source-to-sink latency of the slowest path; empty where it is not known.
std::optional<double> total_p50(const Report& report) {
  std::optional<double> worst;
  for (const PathReport* path : total_paths(report))
    worst = std::max(worst.value_or(0), static_cast<double>(path->latency.p50));
  return worst;
}

bool judge_one(const Check& check, const Report& report, bool is_only) {
  const auto value = value_of(check, report);
  const bool good = holds(check, value);
  std::string found = why_unknown(check, report);
  if (value)
    found = check.metric == "drops" ? std::to_string(static_cast<std::uint64_t>(*value))
                                    : duration_text(*value);
  std::fprintf(stderr, "check %s%s%s: %s (%s)\n", check.text.c_str(), is_only ? "" : " in ",
               is_only ? "" : report.pipeline.c_str(), good ? "holds" : "FAILS", found.c_str());
  return good;
}

/// Says how each condition fared; false where one does not hold. Of several pipelines it has to hold in each that it is about,
/// and in one at least.
bool judge(const std::vector<Check>& checks, const std::vector<Report>& reports) {
  bool all = true;
  for (const Check& check : checks) {
    std::vector<const Report*> about;
    for (const Report& report : reports) {
      if (concerns(check, report))
        about.push_back(&report);
    }
    if (about.empty())
      about.push_back(&reports.front());
    for (const Report* report : about)
      all = judge_one(check, *report, reports.size() == 1) && all;
  }
  return all;
}

/// Some frame was counted, wherever it was.
bool has_counted(const Report& report) {
  return !report.paths.empty() ||
         std::any_of(report.elements.begin(), report.elements.end(),
                     [](const ElementReport& element) { return element.processing.has_value(); });
}
constexpr const char* kNothingCounted = "no frame was counted; see --warmup and --samples";

MeasureOptions measure_options(const Options& options, const std::string& label) {
  MeasureOptions result;
  result.warmup = options.warmup;
  result.samples = options.samples;
  result.window = options.window;
  result.spans = options.spans;
  result.timeout = options.timeout.value_or(result.timeout);
  result.live = options.live;
  result.progress = !options.quiet && isatty(STDERR_FILENO) != 0;
  result.label = label;
  return result;
}

/// The runs of one pipeline.
struct Series {
  std::vector<Report> reports;
  std::vector<double> medians;

  /// The medians are those of all runs.
  [[nodiscard]] bool is_known() const { return medians.size() == reports.size(); }
  /// The run whose median is the middle one; where that is not known, any.
  [[nodiscard]] const Report& middle() const {
    std::vector<std::size_t> order(reports.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    if (!is_known())
      return reports[(order.size() - 1) / 2];
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

constexpr const char* kNothingArrived =
    "no counted frame reached a sink; see --warmup and --samples";

/// How many of the samples came of the origin that has most, at the sink that has the fewest.
std::uint64_t samples_of(const Report& report) {
  std::map<std::string, std::uint64_t> most;
  for (const PathReport& path : report.paths)
    most[path.sink] = std::max(most[path.sink], path.frames);
  const auto fewest = std::min_element(
      most.begin(), most.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return fewest != most.end() ? fewest->second : 0;
}

void tell_missing_samples(const Measured& measured, const Options& options) {
  const std::uint64_t samples = samples_of(measured.report);
  if (samples >= options.samples || options.quiet)
    return;
  const std::string count =
      std::to_string(samples) + " of " + std::to_string(options.samples) + " samples";
  const std::string text =
      measured.ended ? "the stream ended after " + count
      : measured.interrupted
          ? "interrupted after " + count
          : count + " arrived; the others were dropped or joined, or wait for an end "
                    "that does not come";
  std::fprintf(stderr, "simaai-latency: %s\n", text.c_str());
}

/// One run; the reason where it failed. What was counted until then is kept where there is nothing better. An interrupted
/// run ends the series and is used.
std::string run_once(Tracing& tracing, const Options& options, const std::string& text,
                     const std::string& label, bool first, Series& series, bool& interrupted) {
  Measured measured = measure_when_free(tracing, options, text, label, first);
  interrupted = measured.interrupted;
  std::string error = std::move(measured.error);
  if (error.empty() && measured.report.paths.empty())
    error = has_counted(measured.report) ? kNothingArrived : kNothingCounted;
  if (!error.empty()) {
    if (measured.flowed && series.reports.empty())
      series.reports.push_back(std::move(measured.report));
    return options.compare.empty() ? error : error + ", in: " + text;
  }
  tell_missing_samples(measured, options);
  const auto median = total_p50(measured.report);
  series.reports.push_back(std::move(measured.report));
  if (median)
    series.medians.push_back(*median);
  return {};
}

void print_spread(const char* name, const Series& series) {
  if (!series.is_known() || series.medians.size() < 2)
    return;
  const auto [low, high] = std::minmax_element(series.medians.begin(), series.medians.end());
  std::printf("%s: median of %zu runs %s, from %s to %s\n", name, series.medians.size(),
              duration_text(median_of(series.medians)).c_str(), duration_text(*low).c_str(),
              duration_text(*high).c_str());
}

void print_comparison(const Series& first, const Series& other) {
  if (!first.is_known() || !other.is_known()) {
    std::printf("other / first: n/a (frames began anew inside a pipeline, see the notes)\n");
    return;
  }
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

/// What was counted until a run failed.
void keep_what_was_counted(const Options& options, const Series& series) {
  if (series.reports.empty())
    return;
  if (!options.quiet)
    std::fputs(table_text(series.middle()).c_str(), stdout);
  const std::string error =
      options.outputs.any() ? write_outputs(options.outputs, series.middle(), 1) : std::string();
  if (!error.empty())
    fail(error);
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
  return judge(options.checks, {report}) ? 0 : kCheckFailed;
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
    if (!error.empty()) {
      keep_what_was_counted(options, first);
      return fail(error);
    }
  }
  if (first.reports.empty() || (!options.compare.empty() && other.reports.empty()))
    return fail("interrupted");
  return conclude(options, first, other);
}

int watch_program(const Options& options) {
  Watched watched;
  std::string error;
  const int status = run_program(options, watched, error);
  if (!error.empty())
    return fail(error);
  if (status != 0)
    return fail("the program ended with status " + std::to_string(status));
  if (watched.reports.empty())
    return fail("the program stopped no pipeline, or does not find the plug-in simaaitracers "
                "(GST_PLUGIN_PATH)");
  if (std::none_of(watched.reports.begin(), watched.reports.end(), &has_counted))
    return fail(kNothingCounted);
  if (std::all_of(watched.reports.begin(), watched.reports.end(),
                  [](const Report& report) { return report.paths.empty(); }))
    return fail(kNothingArrived);
  const bool good = judge(options.checks, watched.reports);
  for (const std::string& problem : watched.errors)
    fail(problem);
  if (!watched.errors.empty())
    return kFailed;
  return good ? 0 : kCheckFailed;
}

} // namespace

} // namespace simaai::latency

int main(int argc, char** argv) {
  int status = 0;
  // A reader of standard output that goes away is an output that cannot be written: the others are.
  std::signal(SIGPIPE, SIG_IGN);
  const auto options =
      simaai::latency::parse_options(std::vector<std::string>(argv + 1, argv + argc), status);
  if (options && !options->program.empty()) {
    status = simaai::latency::watch_program(*options);
  } else if (options) {
    gst_init(nullptr, nullptr);
    status = simaai::latency::run_pipelines(*options);
  }
  // What was printed may be in a buffer until now, and then be lost.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return simaai::latency::fail("cannot write to standard output");
  return status;
}
