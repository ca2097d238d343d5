// SPDX-License-Identifier: LGPL-2.1-or-later
// Other libraries' integer products on one thread, as candidates.
#pragma once

#include <cstdint>
#include <vector>

#include "harness.h"

namespace matrix_bench {

/// c = a * b in row-major order; b has one column in a gemv. The vectors outlive the candidates.
struct Product {
  std::size_t rows;
  std::size_t inner;
  std::size_t cols;
  Buffer<std::int8_t> a;
  Buffer<std::int8_t> b;
  Buffer<std::int32_t> expected;
  /// The rescale of the requantized forms: (sum * multiplier + half) >> shift.
  std::int32_t multiplier;
  unsigned shift;
  Buffer<std::int8_t> expected_elements;
};

/// oneDNN's gemm_s8s8s32 and its matmul primitive, with weights as they are and prepacked.
[[nodiscard]] std::vector<Candidate> onednn_candidates(const Product& product);
/// XNNPACK's quantized fully-connected operator. It packs weights when it is made and rescales by a
/// binary32 factor, so its elements may differ from the contract by one.
[[nodiscard]] std::vector<Candidate> xnnpack_candidates(const Product& product);

/// Which peers this build has.
[[nodiscard]] inline const char* peers_note() {
#if defined(SIMAAI_BENCH_ONEDNN) && defined(SIMAAI_BENCH_XNNPACK)
  return "oneDNN, XNNPACK";
#elif defined(SIMAAI_BENCH_ONEDNN)
  return "oneDNN (XNNPACK is not installed)";
#elif defined(SIMAAI_BENCH_XNNPACK)
  return "XNNPACK (oneDNN is not installed)";
#else
  return "none is installed";
#endif
}

} // namespace matrix_bench
