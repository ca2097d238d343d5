// SPDX-License-Identifier: LGPL-2.1-or-later
// What simaaimatmul computes: y[.., r] = sum over c of w[r, c] * x[.., c], plain or rescaled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <simaai/kernels/matrix/dyn_matrix.h>

#include "dense_port.h"

namespace simaai::gst {

/// A product between two tensors. Not synchronised: buffers inside are reused.
class MatmulPlan {
public:
  struct Settings {
    std::optional<kernels::matrix::Requant> requant; ///< unset: int32 sums
    std::optional<std::int8_t> fill;                 ///< of int8 channel padding
  };

  /// `weights` outlive the plan. Refuses dtypes, shapes and layouts, by name.
  [[nodiscard]] static std::variant<MatmulPlan, PortError>
  create(const kernels::TensorSpec& input, const kernels::TensorSpec& output,
         const kernels::matrix::DynMatrix& weights, const Settings& settings);

  [[nodiscard]] std::uint64_t input_bytes() const noexcept { return source_.needed_bytes(); }
  [[nodiscard]] std::uint64_t output_bytes() const noexcept { return target_.needed_bytes(); }
  [[nodiscard]] const DenseSource& source() const noexcept { return source_; }
  [[nodiscard]] const DenseTarget& target() const noexcept { return target_; }
  /// The buffers hold input_bytes() and output_bytes(). Returns why it failed; empty on success.
  [[nodiscard]] std::string execute(const std::byte* src, std::byte* dst);

private:
  MatmulPlan(DenseSource source, DenseTarget target, const kernels::matrix::DynMatrix& weights,
             const Settings& settings)
      : source_(std::move(source)), target_(std::move(target)), weights_(&weights),
        settings_(settings) {}

  DenseSource source_;
  DenseTarget target_;
  const kernels::matrix::DynMatrix* weights_;
  Settings settings_;
  std::size_t vectors_ = 0;
};

} // namespace simaai::gst
