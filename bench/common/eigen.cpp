// SPDX-License-Identifier: LGPL-2.1-or-later
// Eigen's conversion between float and its bfloat16, built with -O3 -march=native.
#include <Eigen/Core>

#include "peers.h"

namespace simaai::bench {
namespace {

template <class From, class To> void cast_array(const BufferSet& set, Eigen::Index count) {
  using Source = Eigen::Array<From, Eigen::Dynamic, 1>;
  using Target = Eigen::Array<To, Eigen::Dynamic, 1>;
  const Eigen::Map<const Source> from(static_cast<const From*>(set.input[0].data), count);
  Eigen::Map<Target> to(static_cast<To*>(set.output[0].data), count);
  to = from.template cast<To>();
}

} // namespace

std::string eigen_refusal(const Case& bench_case) {
  if (tiled_side(bench_case) != nullptr)
    return "no tiles";
  return bench_case.linear == Linear::Dense ? "" : "no strided views";
}

std::unique_ptr<Candidate> make_eigen(const Case& bench_case) {
  const auto count = static_cast<Eigen::Index>(element_count(bench_case.input.shape));
  if (bench_case.input.dtype == kernels::DType::Float32)
    return make_loop(
        [count](const BufferSet& set) { cast_array<float, Eigen::bfloat16>(set, count); },
        Check::Contract);
  return make_loop(
      [count](const BufferSet& set) { cast_array<Eigen::bfloat16, float>(set, count); },
      Check::Contract);
}

} // namespace simaai::bench
