// SPDX-License-Identifier: LGPL-2.1-or-later
// An operation of the library as the harness sees it.
#pragma once

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <simaai/kernels/status.h>

#include "a65/simd/row_table.h"
#include "candidate.h"
#include "case_list.h"

namespace simaai::bench {

struct Operation {
  std::string_view name;
  std::vector<Case> (*cases)(Extent extent);
  /// execute() of the public interface with a plan prepared for `level`.
  std::unique_ptr<Candidate> (*ours)(const Case& bench_case, kernels::a65::detail::Level level);
  /// Admission and preparation, for the cost of preparing.
  std::unique_ptr<Candidate> (*preparation)(const Case& bench_case);
};

/// Wraps the public functions of an operation: `kCheck` admits and prepares a `Request`.
template <class Request, auto kCheck, auto kExecute> struct OperationOf {
  using Level = kernels::a65::detail::Level;
  using Checked = decltype(kCheck(std::declval<const Request&>()));
  using Plan = std::variant_alternative_t<0, Checked>;

  static Checked check(const Case& bench_case) {
    Request request{{&bench_case.input, 1}, {&bench_case.output, 1}, {}};
    if constexpr (requires { request.params.int8_channel_padding; })
      if (bench_case.input.dtype == kernels::DType::Int8)
        request.params.int8_channel_padding = bench_case.fill;
    return kCheck(request);
  }

  static Plan prepared(const Case& bench_case, Level level) {
    const Level before = kernels::a65::detail::exchange_active_level(level);
    const Checked checked = check(bench_case);
    kernels::a65::detail::exchange_active_level(before);
    if (const auto* refused = std::get_if<kernels::Error>(&checked))
      throw std::runtime_error(bench_case.name + ": " + refused->message());
    return *std::get_if<Plan>(&checked);
  }

  static std::unique_ptr<Candidate> ours(const Case& bench_case, Level level) {
    return make_loop(
        [plan = prepared(bench_case, level)](const BufferSet& set) {
          if (!kExecute(plan, set.input, set.output))
            std::abort();
        },
        Check::Contract);
  }

  static std::unique_ptr<Candidate> preparation(const Case& bench_case) {
    return make_loop(
        [bench_case](const BufferSet& /*set*/) {
          auto checked = check(bench_case);
          benchmark::DoNotOptimize(checked);
        },
        Check::None);
  }

  static Operation describe(std::string_view name, std::vector<Case> (*cases)(Extent extent)) {
    return {name, cases, ours, preparation};
  }
};

} // namespace simaai::bench
