// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the command line.
#include "options.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>

namespace simaai::latency {

namespace {

constexpr std::uint64_t kSamples = 100;
constexpr std::uint64_t kSamplesNotGiven = ~std::uint64_t{0};
constexpr std::uint64_t kPairs = 7;

constexpr const char* kUsage =
    R"(usage: simaai-latency [OPTIONS] PIPELINE
       simaai-latency [OPTIONS] -- PROGRAM [ARGUMENTS]

Runs a pipeline, written as for gst-launch-1.0, until every sink got its samples, and shows where the
time goes. With -- a program is run instead and each of its pipelines is reported when it stops.

  --warmup N       frames that are not counted (default: 10)
  --samples N      frames that are counted, 0: until the end (default: 100; programs: until the end)
  --repeat N       runs; the one with the middle median is shown (default: 1; with --compare 7)
  --compare TEXT   runs this pipeline in turn with the first and prints the ratio of their medians
  --check COND     exit status 3 unless the condition holds; may be given several times. Examples:
                   "filter.p50<2ms" "filter.waiting.p95<1ms" "filter.drops<1" "total.p99<33ms"
                   "detect.working.p99<4ms" (of jobs: queued, working, retirement)
  --window N       frames of which an element remembers when they came in (default: 1024; a power of two)
  --spans N        intervals that are kept for figures over time, single frames and exact percentiles
                   (default: 262144)
  --timeout N      seconds after which a run without a further frame fails, 0: never (default: 60)
  --live           show the table while the pipeline runs
  --table FILE, --json FILE, --csv FILE, --html FILE, --trace FILE
                   write the report in this form (--trace: for Perfetto or chrome://tracing)
  --quiet          no table and no progress
  --help           this text

exit status: 0 measured and every condition holds, 1 the pipeline failed, no counted frame reached a
sink or an output cannot be written, 2 wrong arguments, 3 a condition does not hold
)";

bool parse_number(const std::string& text, std::uint64_t& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end && number <= 1'000'000'000;
}

/// Stores the value of an option that has one.
bool set_value(Options& options, const std::string& name, const std::string& value) {
  if (name == "--warmup")
    return parse_number(value, options.warmup);
  if (name == "--samples")
    return parse_number(value, options.samples);
  if (name == "--repeat")
    return parse_number(value, options.repeats) && options.repeats > 0 && options.repeats <= 1000;
  if (name == "--window")
    return parse_number(value, options.window) && std::has_single_bit(options.window) &&
           options.window >= kLeastWindow && options.window <= kMostWindow;
  if (name == "--spans")
    return parse_number(value, options.spans) && options.spans > 0 && options.spans <= kMostSpans;
  if (name == "--timeout")
    return parse_number(value, options.timeout.emplace());
  if (name == "--check") {
    const auto check = parse_check(value);
    if (check)
      options.checks.push_back(*check);
    return check.has_value();
  }
  struct Target {
    const char* name;
    std::string& value;
  };
  const Target targets[] = {{"--compare", options.compare},   {"--table", options.outputs.table},
                            {"--json", options.outputs.json}, {"--csv", options.outputs.csv},
                            {"--html", options.outputs.html}, {"--trace", options.outputs.trace}};
  for (const Target& target : targets) {
    if (name != target.name)
      continue;
    target.value = value;
    return !value.empty();
  }
  return false;
}

int complain(const std::string& text) {
  std::fprintf(stderr, "simaai-latency: %s; see --help\n", text.c_str());
  return 2;
}

/// Takes the option at `at`, which is moved behind it. The reason where it cannot be used.
std::string take_option(Options& options, const std::vector<std::string>& arguments,
                        std::size_t& at) {
  const std::string& name = arguments[at++];
  if (name == "--live" || name == "--quiet") {
    (name == "--live" ? options.live : options.quiet) = true;
    return {};
  }
  const std::string value = at < arguments.size() ? arguments[at++] : "";
  if (set_value(options, name, value))
    return {};
  std::string reason = "cannot use '";
  return reason.append(name).append(" ").append(value).append("'");
}

/// A word as the parser of pipelines reads it: its blanks do not part it.
std::string escaped(const std::string& word) {
  std::string text;
  bool quoted = false;
  for (const char c : word) {
    if (c == '"')
      quoted = !quoted;
    if (c == ' ' && !quoted)
      text += '\\';
    text += c;
  }
  return text;
}

/// Words of the pipeline, as a shell hands them over, in one text. A single one is that text.
std::string joined(const std::vector<std::string>& words, std::size_t from) {
  if (from + 1 == words.size())
    return words[from];
  std::string text;
  for (std::size_t i = from; i < words.size(); ++i)
    text.append(text.empty() ? "" : " ").append(escaped(words[i]));
  return text;
}

/// What the options do not go with; empty where they are fine.
std::string conflict(const Options& options) {
  if (options.pipeline.empty() && options.program.empty())
    return "no pipeline";
  if (!options.program.empty() &&
      (options.live || !options.compare.empty() || options.repeats != 0 || options.timeout))
    return "--live, --compare, --repeat and --timeout need a pipeline, not a program";
  if (share_a_file(options.outputs))
    return "two outputs have the same file";
  return {};
}

} // namespace

std::optional<Options> parse_options(const std::vector<std::string>& arguments, int& status) {
  Options options;
  options.samples = kSamplesNotGiven;
  status = 0;
  std::size_t at = 0;
  while (at < arguments.size() && arguments[at].starts_with("--") && arguments[at] != "--") {
    if (arguments[at] == "--help") {
      std::fputs(kUsage, stdout);
      return std::nullopt;
    }
    const std::string reason = take_option(options, arguments, at);
    if (!reason.empty()) {
      status = complain(reason);
      return std::nullopt;
    }
  }
  if (at < arguments.size() && arguments[at] == "--")
    options.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                           arguments.end());
  else
    options.pipeline = joined(arguments, at);
  const std::string reason = conflict(options);
  if (!reason.empty()) {
    status = complain(reason);
    return std::nullopt;
  }
  if (options.outputs.table == "stderr")
    options.outputs.table = "./stderr"; // a file, as all others
  if (options.samples == kSamplesNotGiven)
    options.samples = options.program.empty() ? kSamples : 0;
  if (options.repeats == 0)
    options.repeats = options.compare.empty() ? 1 : kPairs;
  return options;
}

} // namespace simaai::latency
