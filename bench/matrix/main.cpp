// SPDX-License-Identifier: LGPL-2.1-or-later
// Measures the matrix products and prints one table: ratios of candidates of one run, and whether
// the floors hold.
//
// usage: matrix_benchmark [--quick] [--strict] [--rounds N] [--seed N] [CASE]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include <simaai/kernels/matrix/backend.h>

#include "cases.h"
#include "peers.h"

namespace matrix_bench {
namespace {

/// `ours` must be at least `least` times as fast as `peer`; "best" is the fastest library that does the
/// same work.
struct Floor {
  const char* case_name;
  const char* ours;
  const char* peer;
  double least;
  double aim;
  /// The same where no instruction multiplies and adds bytes exactly; 0: no difference.
  double least_without_dot = 0;
};

bool has_byte_dot_products() {
  const auto name = simaai::kernels::matrix::active_instruction_set();
  return name == "amx" || name == "avx512vnni" || name == "neondot";
}

double least_of(const Floor& floor) {
  return floor.least_without_dot > 0 && !has_byte_dot_products() ? floor.least_without_dot
                                                                 : floor.least;
}

// A requantized product may take 6 % (3 % in large products) more than the plain one.
constexpr double kSmallRescale = 1 / 1.06;
constexpr double kLargeRescale = 1 / 1.03;
constexpr Floor kFloors[] = {
    {"gemv 64x256", "ours", "flat", 1.0, 1.0},
    {"gemv 64x256", "ours", "plain", 1.0, 1.0},
    {"gemv 64x256", "ours", "best", 1.8, 2.2, 1.0},
    {"gemv 64x256", "requantized", "ours", kSmallRescale, kSmallRescale},
    {"gemv 64x256", "requantized", "best", 1.0, 1.0},
    {"gemv 1024x1024", "ours", "best", 1.0, 1.05},
    {"gemv 1024x1024", "requantized", "ours", kLargeRescale, kLargeRescale},
    {"gemv 1024x1024", "requantized", "best", 1.0, 1.0},
    {"matmul 64^3", "ours", "best", 1.0, 1.1},
    {"matmul 64^3", "requantized", "ours", kSmallRescale, kSmallRescale},
    {"matmul 64^3", "requantized", "best", 1.0, 1.0},
    {"matmul 256^3", "ours", "best", 0.95, 1.0},
    {"matmul 256^3", "requantized", "ours", kLargeRescale, kLargeRescale},
    {"matmul 256^3", "requantized", "best", 1.0, 1.0},
    {"matmul 1024^3", "ours", "best", 0.95, 1.0},
    {"matmul 1024^3", "requantized", "ours", kLargeRescale, kLargeRescale},
    {"matmul 1024^3", "requantized", "best", 1.0, 1.0},
    {"requantize 256", "ours", "level_scalar", 3.0, 3.0},
    {"wire encode 64x256", "ours", "flat", 5.0, 5.0},
    {"wire encode 64x256", "ours_col_major", "flat_col_major", 5.0, 5.0},
    {"wire decode 64x256", "ours", "flat", 5.0, 5.0},
    {"wire decode 64x256", "ours_col_major", "flat_col_major", 5.0, 5.0},
};

struct Arguments {
  Options options;
  bool quick = false;
  bool strict = false;
  std::string_view filter;
};

const Candidate* find(const std::vector<Candidate>& candidates, std::string_view name) {
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate& each) { return each.name == name; });
  return found == candidates.end() ? nullptr : &*found;
}

/// The library with the least ratio to `ours`. Rescaled forms meet those that rescale; XNNPACK, which
/// always does, stands for sums too.
const Candidate* best_library(const std::vector<Candidate>& candidates, const Candidate& ours) {
  const bool rescaled = ours.name == "requantized";
  const Candidate* best = nullptr;
  for (const Candidate& each : candidates)
    if (!each.ours &&
        (rescaled ? each.name == kOnednnRequantized || each.name == kXnnpack
                  : each.name != kOnednnRequantized) &&
        (best == nullptr || ratio_of(each, ours).median < ratio_of(*best, ours).median))
      best = &each;
  return best;
}

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
  case Verdict::Exact:
    return "exact";
  case Verdict::OwnRounding:
    return "rounds its own way";
  case Verdict::Inexact:
    return "NOT EXACT";
  }
  return "";
}

void print_rows(const Case& c, const Candidate& ours) {
  for (const Candidate& each : c.candidates) {
    const Spread ns = spread_of(each.ns);
    const Spread ratio = ratio_of(each, ours);
    std::printf("%-19s %-18s %12.1f ns  %8.2f %s/ns  %7.3f  %.3f-%.3f  %s\n", c.name.c_str(),
                each.name.c_str(), ns.median, c.items / ns.median, c.item, ratio.median,
                ratio.least, ratio.most, verdict_text(each.verdict));
  }
}

/// Number of floors of this case that do not hold.
int judge(const Case& c, std::vector<std::string>& verdicts) {
  int below = 0;
  for (const Floor& floor : kFloors) {
    if (c.name != floor.case_name)
      continue;
    const Candidate* ours = find(c.candidates, floor.ours);
    const Candidate* peer = std::string_view(floor.peer) == "best"
                                ? best_library(c.candidates, *ours)
                                : find(c.candidates, floor.peer);
    char line[160];
    if (peer == nullptr) {
      std::snprintf(line, sizeof line, "%-19s %-15s no library to compare with", floor.case_name,
                    floor.ours);
    } else {
      const Spread ratio = ratio_of(*peer, *ours);
      const double least = least_of(floor);
      const bool holds = ratio.median >= least;
      below += holds ? 0 : 1;
      std::snprintf(line, sizeof line, "%-19s %-15s %7.3f of %-18s floor %.2f aim %.2f  %s",
                    floor.case_name, floor.ours, ratio.median, peer->name.c_str(), least, floor.aim,
                    holds ? (ratio.median >= floor.aim ? "ok, aim" : "ok") : "BELOW");
    }
    verdicts.emplace_back(line);
  }
  return below;
}

std::optional<Arguments> parse(int count, char** texts) {
  Arguments arguments;
  for (int n = 1; n < count; ++n) {
    const std::string_view text = texts[n];
    const bool has_value = n + 1 < count;
    if (text == "--quick")
      arguments.quick = true;
    else if (text == "--strict")
      arguments.strict = true;
    else if (text == "--rounds" && has_value)
      arguments.options.rounds = std::max(1UL, std::strtoul(texts[++n], nullptr, 10));
    else if (text == "--seed" && has_value)
      arguments.options.seed = static_cast<std::uint32_t>(std::strtoul(texts[++n], nullptr, 10));
    else if (text.starts_with("-") || !arguments.filter.empty())
      return std::nullopt;
    else
      arguments.filter = text;
  }
  if (arguments.quick)
    arguments.options.round_ns = 2e5;
  return arguments;
}

int run(const Arguments& arguments) {
  std::printf("instruction set in use: %s; peers: %s\n\n",
              simaai::kernels::matrix::active_instruction_set().data(), peers_note());
  std::printf("%-19s %-18s %15s  %16s  %s\n", "case", "candidate", "median of a call", "speed",
              "time / time of ours: median, range; result");
  std::vector<std::string> verdicts;
  int below = 0;
  bool right = true;
  for (const auto& make : all_cases(arguments.quick)) {
    Case c = make();
    if (c.name.find(arguments.filter) == std::string::npos)
      continue;
    right = measure(arguments.options, c.candidates) && right;
    print_rows(c, *find(c.candidates, kOurs));
    below += judge(c, verdicts);
    std::fflush(stdout);
  }
  std::printf("\n");
  for (const std::string& verdict : verdicts)
    std::printf("%s\n", verdict.c_str());
  std::printf("\n%zu floors, %d below\n", verdicts.size(), below);
  return !right || (arguments.strict && below > 0) ? 1 : 0;
}

} // namespace
} // namespace matrix_bench

int main(int count, char** texts) {
  const auto arguments = matrix_bench::parse(count, texts);
  if (!arguments) {
    std::fprintf(stderr, "usage: %s [--quick] [--strict] [--rounds N] [--seed N] [CASE]\n",
                 texts[0]);
    return 2;
  }
  return matrix_bench::run(*arguments);
}
