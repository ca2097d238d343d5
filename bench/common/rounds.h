// SPDX-License-Identifier: LGPL-2.1-or-later
// Interleaved measurement: every round times each candidate once, in a new random order, so that
// what disturbs the machine for a while disturbs all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "candidate.h"

namespace simaai::bench {

struct RoundOptions {
  std::size_t rounds = 5;
  double round_ns = 2e6; ///< timed span of a candidate in a round
  std::uint64_t seed = 1;
};

/// A candidate on its ring and, after measure_rounds(), its nanoseconds a call in each round.
struct Entrant {
  Candidate* candidate;
  Ring* ring;
  std::vector<double> ns;
};

/// Fills `ns` of every entrant.
void measure_rounds(const Case& bench_case, const RoundOptions& options,
                    std::span<Entrant> entrants);

/// Median and range of a series; of an even count the mean of the middle two.
struct Spread {
  double median;
  double least;
  double most;
};
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// Spread over the rounds of the time of `peer` divided by the time of `ours` in the same round.
[[nodiscard]] Spread ratio_of(std::span<const double> peer, std::span<const double> ours);

} // namespace simaai::bench
