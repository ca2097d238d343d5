// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels are compared with.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "candidate.h"

namespace simaai::bench {

struct Peer {
  std::string_view name;
  /// Why the peer is no candidate in a case; empty where it is one.
  std::string (*refusal)(const Case& bench_case);
  std::unique_ptr<Candidate> (*make)(const Case& bench_case);
};

/// All peers. Those that this build lacks or this machine cannot execute refuse every case.
[[nodiscard]] std::span<const Peer> peers();

// In files of their own, with the libraries and compiler flags that they need.
#ifdef SIMAAI_BENCH_ONEDNN
/// Reorder between the dense linear tensor (C innermost) and nChw16c, or between linear tensors;
/// refused where the blocked tensor is not the size of ours within five percent and where oneDNN
/// has nothing but reference code.
[[nodiscard]] std::string onednn_refusal(const Case& bench_case);
[[nodiscard]] std::unique_ptr<Candidate> make_onednn(const Case& bench_case);
#endif
#ifdef SIMAAI_BENCH_EIGEN
/// `array.cast<>()` between float and Eigen::bfloat16; dense Cast only.
[[nodiscard]] std::string eigen_refusal(const Case& bench_case);
[[nodiscard]] std::unique_ptr<Candidate> make_eigen(const Case& bench_case);
#endif

} // namespace simaai::bench
