// SPDX-License-Identifier: LGPL-2.1-or-later
// Takes the place of the harness in a benchmark program: runs each hot case once at the best level,
// and the quick ones at the others too, between two marks: instructions are counted instead of time.
//
// Case n starts at mark 2n and ends at mark 2n + 1; case 0 is empty, the cost of the marks. Prints a
// line "n LEVEL NAME ELEMENTS" for each case.
#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include <unistd.h>

#include "common/harness.h"
#include "instructions/marks.h"

namespace simaai::bench {

namespace {

void mark(std::uint64_t number) { syscall(kMarkCall, number); }

void announce(std::uint64_t number, std::string_view level, std::string_view name,
              std::uint64_t elements) {
  std::printf("%" PRIu64 "\t%.*s\t%.*s\t%" PRIu64 "\n", number, static_cast<int>(level.size()),
              level.data(), static_cast<int>(name.size()), name.data(), elements);
}

} // namespace

int run_benchmarks(int /*argc*/, char** /*argv*/, const Operation& operation) {
  const std::vector<Case> quick = operation.cases(Extent::Quick);
  const auto levels = kernels::a65::detail::supported_levels();
  std::uint64_t number = 0;
  mark(0);
  mark(1);
  announce(0, "none", operation.name, 0);
  for (const Case& bench_case : operation.cases(Extent::Full)) {
    if (bench_case.cache == Cache::Cold)
      continue;
    const bool all_levels = std::any_of(quick.begin(), quick.end(), [&](const Case& other) {
      return other.name == bench_case.name;
    });
    const Ring ring(bench_case, 0);
    for (const auto level : levels) {
      if (!all_levels && level != levels.back())
        continue;
      const auto candidate = operation.ours(bench_case, level);
      candidate->bind(ring);
      ++number;
      mark(2 * number);
      candidate->run(ring, 0, 1);
      mark(2 * number + 1);
      announce(number, kernels::a65::detail::level_name(level), bench_case.name,
               element_count(bench_case.output.shape));
    }
  }
  return 0;
}

} // namespace simaai::bench
