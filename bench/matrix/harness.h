// SPDX-License-Identifier: LGPL-2.1-or-later
// Interleaved timing of candidates that do the same work: every round times each once, in a new
// random order, and ratios are formed within a round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace matrix_bench {

/// Whether a candidate's result is the right one. A peer may round or saturate in its own way.
enum class Verdict : std::uint8_t { Exact, OwnRounding, Inexact };

struct Candidate {
  std::string name;
  std::function<void(std::size_t calls)> run; ///< that many calls, one after the other
  /// Reads the output of the last call.
  std::function<Verdict()> verify;
  bool ours = false;
  std::vector<double> ns{}; ///< nanoseconds a call in each round
  Verdict verdict = Verdict::Exact;
};

/// The compiler must assume that memory was read and written here.
inline void clobber_memory() { asm volatile("" : : : "memory"); }

/// A candidate whose loop is inlined around `call`, so that small work is not timed with a call
/// through a pointer.
template <class Call>
[[nodiscard]] Candidate candidate(std::string name, Call call, std::function<Verdict()> verify,
                                  bool ours = false) {
  return {std::move(name),
          [call](std::size_t calls) {
            for (; calls != 0; --calls) {
              call();
              clobber_memory();
            }
          },
          std::move(verify), ours};
}

struct Options {
  std::size_t rounds = 11;
  double round_ns = 2e6;
  std::uint32_t seed = 1;
};

/// Calls and verifies each candidate once, then fills `ns`. False where one of ours is not exact.
[[nodiscard]] bool measure(const Options& options, std::vector<Candidate>& candidates);

struct Spread {
  double median;
  double least;
  double most;
};
[[nodiscard]] Spread spread_of(std::vector<double> values);
/// Spread over the rounds of the time of `peer` divided by the time of `ours` in the same round.
[[nodiscard]] Spread ratio_of(const Candidate& peer, const Candidate& ours);

} // namespace matrix_bench
