// SPDX-License-Identifier: LGPL-2.1-or-later
// Typed access to the opaque execution state of a PreparedPlan.
#pragma once

#include <new>
#include <type_traits>

#include <simaai/kernels/a65/prepared_plan.h>

namespace simaai::kernels::a65::detail {

struct StateAccess {
  /// A prepared plan that carries a copy of `state`.
  template <class Metadata, class State>
  [[nodiscard]] static PreparedPlan<Metadata> make(const Metadata& metadata,
                                                   const State& state) noexcept {
    static_assert(std::is_trivially_copyable_v<PreparedPlan<Metadata>>);
    static_assert(std::is_trivially_copyable_v<State> && sizeof(State) <= kPreparedStateBytes &&
                  alignof(State) <= 16);
    PreparedPlan<Metadata> plan(metadata);
    ::new (static_cast<void*>(plan.state_.data())) State(state);
    return plan;
  }

  /// The state that make() stored; copies of a plan carry copies of it.
  template <class State, class Metadata>
  [[nodiscard]] static const State& get(const PreparedPlan<Metadata>& plan) noexcept {
    return *std::launder(static_cast<const State*>(static_cast<const void*>(plan.state_.data())));
  }
};

} // namespace simaai::kernels::a65::detail
