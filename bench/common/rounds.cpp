// SPDX-License-Identifier: LGPL-2.1-or-later
// The timing loop.
#include "rounds.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

namespace simaai::bench {
namespace {

double run_timed(Entrant& entrant, std::size_t calls) {
  using Clock = std::chrono::steady_clock;
  Ring& ring = *entrant.ring;
  const auto begin = Clock::now();
  entrant.candidate->run(ring, ring.cursor, calls);
  const auto end = Clock::now();
  ring.cursor = (ring.cursor + calls) % ring.size();
  return std::chrono::duration<double, std::nano>(end - begin).count() / static_cast<double>(calls);
}

/// Calls that put a candidate into the state that it produces itself. Hot: its buffers are in
/// cache. Cold: the cache is full of its own lines, so that no candidate pays for the dirty lines
/// of the one before.
std::size_t warm_calls(const Case& bench_case) {
  if (bench_case.cache == Cache::Hot)
    return 1;
  const std::uint64_t traffic = std::max<std::uint64_t>(1, bench_case.traffic_bytes());
  return static_cast<std::size_t>(last_level_cache_bytes() / traffic + 1);
}

std::size_t calls_for(double round_ns, double call_ns) {
  const double calls = round_ns / std::max(call_ns, 1.0);
  return static_cast<std::size_t>(std::clamp(calls, 1.0, 1e7));
}

} // namespace

void measure_rounds(const Case& bench_case, const RoundOptions& options,
                    std::span<Entrant> entrants) {
  const std::size_t warm = warm_calls(bench_case);
  std::vector<std::size_t> calls;
  for (Entrant& entrant : entrants) {
    run_timed(entrant, 1);
    // Short calls need a second, longer look: the clock itself takes tens of nanoseconds.
    std::size_t count = calls_for(options.round_ns / 8, run_timed(entrant, 1));
    count = calls_for(options.round_ns, run_timed(entrant, count));
    calls.push_back(count);
    entrant.ns.clear();
  }
  std::vector<std::size_t> order(entrants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 engine(options.seed);
  for (std::size_t round = 0; round < options.rounds; ++round) {
    std::shuffle(order.begin(), order.end(), engine);
    for (const std::size_t index : order) {
      run_timed(entrants[index], warm);
      entrants[index].ns.push_back(run_timed(entrants[index], calls[index]));
    }
  }
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  const double median =
      values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

Spread ratio_of(std::span<const double> peer, std::span<const double> ours) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < ours.size(); ++round)
    ratios.push_back(peer[round] / ours[round]);
  return spread_of(std::move(ratios));
}

} // namespace simaai::bench
