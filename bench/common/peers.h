// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernels are compared with.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "candidate.h"

namespace simaai::bench {

struct Peer {
  std::string_view name;
  bool (*supports)(const Case& bench_case);
  std::unique_ptr<Candidate> (*make)(const Case& bench_case);
};

/// All peers that this build contains and this machine can execute.
[[nodiscard]] std::span<const Peer> peers();

// In files of their own, with the libraries and compiler flags that they need.
#ifdef SIMAAI_BENCH_ONEDNN
/// Reorder between the dense linear tensor (C innermost) and nChw16c, or between linear tensors;
/// offered where the blocked tensor has the size of ours within five percent and oneDNN has more
/// than reference code for it.
[[nodiscard]] bool onednn_supports(const Case& bench_case);
[[nodiscard]] std::unique_ptr<Candidate> make_onednn(const Case& bench_case);
/// What of oneDNN is measured on this machine, for the report.
[[nodiscard]] std::string_view onednn_note();
#endif
#ifdef SIMAAI_BENCH_EIGEN
/// `array.cast<>()` between float and Eigen::bfloat16; dense Cast only.
[[nodiscard]] bool eigen_supports(const Case& bench_case);
[[nodiscard]] std::unique_ptr<Candidate> make_eigen(const Case& bench_case);
#endif

} // namespace simaai::bench
