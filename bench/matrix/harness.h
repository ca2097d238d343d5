// SPDX-License-Identifier: LGPL-2.1-or-later
// Interleaved timing of candidates that do the same work: every round times each once, in a new
// random order, and ratios are formed within a round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace matrix_bench {

/// Memory that begins at a cache line, as that of the pipeline's pools does. Where the allocator
/// happens to put operands would decide ratios otherwise.
template <class T> struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  LineAllocator() = default;
  template <class U> LineAllocator(const LineAllocator<U>& /*other*/) noexcept {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kLine));
  }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { ::operator delete(memory, kLine); }
  friend bool operator==(const LineAllocator&, const LineAllocator&) noexcept { return true; }
};
template <class T> using Buffer = std::vector<T, LineAllocator<T>>;
/// The same for one object.
template <class T> [[nodiscard]] std::shared_ptr<T> at_line(const T& value) {
  struct alignas(64) Line {
    T value;
  };
  const auto line = std::make_shared<Line>(Line{value});
  return {line, &line->value};
}

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
