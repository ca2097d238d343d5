// SPDX-License-Identifier: LGPL-2.1-or-later
// An operation of the library as the harness sees it.
#pragma once

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>
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

/// Wraps an operation's functions. `Op` has kName, cases(), check(case) -> variant<Plan, Error> and
/// execute(plan, inputs, outputs).
template <class Op> struct OperationOf {
  using Level = kernels::a65::detail::Level;
  using Plan = typename Op::Plan;

  static Plan prepared(const Case& bench_case, Level level) {
    const Level before = kernels::a65::detail::exchange_active_level(level);
    const std::variant<Plan, kernels::Error> checked = Op::check(bench_case);
    kernels::a65::detail::exchange_active_level(before);
    if (const auto* refused = std::get_if<kernels::Error>(&checked))
      throw std::runtime_error(bench_case.name + ": " + refused->message());
    return *std::get_if<Plan>(&checked);
  }

  static std::unique_ptr<Candidate> ours(const Case& bench_case, Level level) {
    return make_loop(
        [plan = prepared(bench_case, level)](const BufferSet& set) {
          if (!Op::execute(plan, set.input, set.output))
            std::abort();
        },
        Check::Contract);
  }

  static std::unique_ptr<Candidate> preparation(const Case& bench_case) {
    return make_loop(
        [bench_case](const BufferSet& /*set*/) {
          auto checked = Op::check(bench_case);
          benchmark::DoNotOptimize(checked);
        },
        Check::None);
  }

  static Operation describe() { return {Op::kName, Op::cases, ours, preparation}; }
};

} // namespace simaai::bench
