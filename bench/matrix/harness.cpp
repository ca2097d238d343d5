// SPDX-License-Identifier: LGPL-2.1-or-later
// The timing loop.
#include "harness.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <random>

namespace matrix_bench {
namespace {

/// Parts of a candidate's time in a round, the least of which counts: what interrupts one of them
/// would otherwise decide the ratio.
constexpr int kSlices = 4;

double timed(const Candidate& candidate, std::size_t calls) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  candidate.run(calls);
  const auto end = Clock::now();
  return std::chrono::duration<double, std::nano>(end - begin).count() / static_cast<double>(calls);
}

std::size_t calls_for(double round_ns, double call_ns) {
  return static_cast<std::size_t>(std::clamp(round_ns / std::max(call_ns, 1.0), 1.0, 1e7));
}

bool verify_all(std::vector<Candidate>& candidates) {
  bool right = true;
  for (Candidate& candidate : candidates) {
    candidate.run(1);
    candidate.verdict = candidate.verify();
    if (!candidate.ours || candidate.verdict == Verdict::Exact)
      continue;
    std::fprintf(stderr, "bench: %s computes a wrong result\n", candidate.name.c_str());
    right = false;
  }
  return right;
}

} // namespace

bool measure(const Options& options, std::vector<Candidate>& candidates) {
  const bool right = verify_all(candidates);
  std::vector<std::size_t> calls;
  for (Candidate& candidate : candidates) {
    const std::size_t some = calls_for(options.round_ns / 8, timed(candidate, 1));
    calls.push_back(calls_for(options.round_ns / kSlices, timed(candidate, some)));
    candidate.ns.clear();
  }
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 engine(options.seed);
  for (std::size_t round = 0; round < options.rounds; ++round) {
    std::shuffle(order.begin(), order.end(), engine);
    for (const std::size_t index : order) {
      timed(candidates[index], 1 + calls[index] / 8); // brings its own data into the caches
      double least = timed(candidates[index], calls[index]);
      for (int slice = 1; slice < kSlices; ++slice)
        least = std::min(least, timed(candidates[index], calls[index]));
      candidates[index].ns.push_back(least);
    }
  }
  return right;
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

Spread ratio_of(const Candidate& peer, const Candidate& ours) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < ours.ns.size(); ++round)
    ratios.push_back(peer.ns[round] / ours.ns[round]);
  return spread_of(std::move(ratios));
}

} // namespace matrix_bench
