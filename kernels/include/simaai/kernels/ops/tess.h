// SPDX-License-Identifier: LGPL-2.1-or-later
// Tess: linear -> MlaTiled of the same dtype, bits preserved. Shared admission for every backend.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include <simaai/kernels/export.h>
#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>

namespace simaai::kernels::ops::tess {

/// Options of Tess.
struct Params {
  /// Raw byte stored in INT8 channel padding. Required for Int8 with PadTo16 (empty tensors and
  /// exact multiples included), allowed for Int8 Compact, refused for BFloat16.
  std::optional<std::int8_t> int8_channel_padding{};
  friend constexpr bool operator==(const Params&, const Params&) noexcept = default;
};

/// What is asked for. The spans are read during the call only.
struct Request {
  std::span<const TensorSpec> inputs;
  std::span<const TensorSpec> outputs;
  Params params{};
};

/// Admitted metadata and parameters.
class Plan : public PortPlan {
public:
  [[nodiscard]] constexpr const Params& params() const noexcept { return params_; }

private:
  friend struct detail::PlanAccess;
  constexpr Plan(const PortPlan& ports, const Params& params) noexcept
      : PortPlan(ports), params_(params) {}

  Params params_;
};

/// Admits one linear tensor in, one MlaTiled tensor out, equal logical shapes and dtypes.
///
/// - dtypes: Int8 or BFloat16.
/// - ranks 1 to 6; input Contiguous or admitted Strided (rules as for cast); MlaCBlocked is
///   refused.
/// - output: every byte of the physical span is written: channel padding holds the fill (Int8) or
///   zero (BFloat16), alignment gaps hold zero. Base address alignment 16 bytes; input: scalar
///   width.
///
/// Returns the plan or the first refusal; derives storage needs with overflow checks. Reads no
/// tensor data, does not allocate. Reentrant. Contract: docs/ops/tess.md.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<Plan, Error>
check_inference(const Request& request) noexcept;

} // namespace simaai::kernels::ops::tess
