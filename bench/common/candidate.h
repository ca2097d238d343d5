// SPDX-License-Identifier: LGPL-2.1-or-later
// What is measured: something that does the work of a case on buffers of a ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "case.h"
#include "memory.h"

namespace simaai::bench {

using Bytes = std::vector<std::uint8_t>;

class Candidate {
public:
  Candidate() = default;
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;
  virtual ~Candidate() = default;

  /// Prepares for the buffers of `ring`; not timed.
  virtual void bind(const Ring& /*ring*/) {}
  /// `calls` calls on sets `first`, `first + 1`, ... of the ring, wrapping around; timed.
  virtual void run(const Ring& ring, std::size_t first, std::size_t calls) = 0;
  /// The output bytes that one call on `input` must leave where the output held `before`. Empty
  /// where the candidate computes nothing.
  [[nodiscard]] virtual std::optional<Bytes> expected(const Case& /*bench_case*/,
                                                      const std::uint8_t* /*input*/,
                                                      const Bytes& /*before*/) const {
    return std::nullopt;
  }
};

/// What the documented operation leaves, computed by the oracle.
[[nodiscard]] Bytes expected_by_contract(const Case& bench_case, const std::uint8_t* input,
                                         const Bytes& before);

/// Whether Loop compares the result with the contract.
enum class Check : std::uint8_t { None, Contract };

/// Calls `call(set)` in a loop; the compiler sees the call, so small work is timed without an
/// indirection of the harness.
template <class Call> class Loop final : public Candidate {
public:
  Loop(Call call, Check check) : call_(std::move(call)), check_(check) {}

  void run(const Ring& ring, std::size_t first, std::size_t calls) override {
    const std::size_t sets = ring.size();
    for (; calls != 0; --calls) {
      call_(ring[first]);
      benchmark::ClobberMemory();
      if (++first == sets)
        first = 0;
    }
  }

  [[nodiscard]] std::optional<Bytes> expected(const Case& bench_case, const std::uint8_t* input,
                                              const Bytes& before) const override {
    if (check_ == Check::None)
      return std::nullopt;
    return expected_by_contract(bench_case, input, before);
  }

private:
  Call call_;
  Check check_;
};

template <class Call> [[nodiscard]] std::unique_ptr<Candidate> make_loop(Call call, Check check) {
  return std::make_unique<Loop<Call>>(std::move(call), check);
}

} // namespace simaai::bench
