// SPDX-License-Identifier: LGPL-2.1-or-later
// Seeded test data, identical on every machine.
#pragma once

#include <random>

#include "tensor.h"

namespace simaai::oracle {

/// Deterministic numbers: only the engine, whose output the standard fixes, and integer arithmetic.
class Random {
public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t next() { return engine_(); }
  /// 0 to bound - 1; bound is above zero.
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  /// low to high, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

private:
  std::mt19937_64 engine_;
};

/// Random bit patterns, one in four from a list of special values (signed zeros, infinities, quiet
/// and signalling NaNs, subnormals, rounding ties, extremes of the dtype).
Tensor random_tensor(const kernels::Shape& shape, kernels::DType dtype, std::uint64_t seed);

} // namespace simaai::oracle
