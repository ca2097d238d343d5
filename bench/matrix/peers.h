// SPDX-License-Identifier: LGPL-2.1-or-later
// Other libraries' integer products on one thread, as candidates.
#pragma once

#include <cstdint>
#include <cstdlib>
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

/// Peers that write elements.
inline constexpr const char* kOnednnRequantized = "onednn_requantized";
inline constexpr const char* kXnnpack = "xnnpack_qs8";

/// What rescaled elements of a peer are: it may round in its own way, to a neighbour.
[[nodiscard]] inline Verdict verdict_of(const Product& product,
                                        const Buffer<std::int8_t>& elements) {
  Verdict verdict = Verdict::Exact;
  for (std::size_t n = 0; n < elements.size(); ++n) {
    const int distance = std::abs(elements[n] - product.expected_elements[n]);
    if (distance > 1)
      return Verdict::Inexact;
    if (distance == 1)
      verdict = Verdict::OwnRounding;
  }
  return verdict;
}

/// oneDNN's gemm_s8s8s32 and its matmul primitive, with weights as they are and prepacked, and
/// prepacked with a rescale by a binary32 factor.
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
