// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of one TensorSpec, whatever operation it is meant for.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>

namespace simaai::kernels::ops::detail {

/// A spec and the name that errors give it.
struct Port {
  const TensorSpec& spec;
  Operand operand;

  /// An error about this port.
  [[nodiscard]] constexpr Error error(ErrorCode code, std::int64_t expected, std::int64_t found,
                                      std::int64_t axis = -1) const noexcept {
    return {code, operand, 0, static_cast<std::int16_t>(axis), expected, found};
  }
};

/// Refuses a dtype that is no enumerator.
[[nodiscard]] std::optional<Error> check_known_dtype(const Port& port) noexcept;

/// Refuses more than kMaxRank axes.
[[nodiscard]] std::optional<Error> check_max_rank(const Port& port) noexcept;

/// Refuses negative extents. The rank is checked.
[[nodiscard]] std::optional<Error> check_extents(const Port& port) noexcept;

/// Checks strides or tile fields, apart from sizes. Dtype, rank and extents are checked.
[[nodiscard]] std::optional<Error> check_layout_fields(const Port& port) noexcept;

/// Storage of a spec that passed all checks above; refuses overflow.
[[nodiscard]] std::variant<PortRequirement, Error> derive_requirement(const Port& port) noexcept;

} // namespace simaai::kernels::ops::detail
