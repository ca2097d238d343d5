// SPDX-License-Identifier: LGPL-2.1-or-later
// CastTess: linear Float32, Float16 or BFloat16 -> MlaTiled BFloat16 in one pass. Shared admission
// for every backend.
#pragma once

#include <span>
#include <variant>

#include <simaai/kernels/export.h>
#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>

namespace simaai::kernels::ops::casttess {

/// CastTess has no parameters: dtypes and layouts say everything.
struct Params {};

/// What is asked for. The spans are read during the call only.
struct Request {
  std::span<const TensorSpec> inputs;
  std::span<const TensorSpec> outputs;
  Params params{};
};

/// Admitted metadata.
class Plan : public PortPlan {
private:
  friend struct detail::PlanAccess;
  constexpr Plan(const PortPlan& ports, const Params& /*params*/) noexcept : PortPlan(ports) {}
};

/// Admits one linear tensor in, one MlaTiled BFloat16 tensor out, equal logical shapes.
///
/// - dtypes: Float32 (bit rule of Cast), Float16 (nearest even; infinities and signed zeros kept;
///   NaNs quieted, sign and high payload bits kept) or BFloat16 (bits preserved) in.
/// - ranks 1 to 6; input Contiguous or admitted Strided (rules as for cast); MlaCBlocked is
///   refused.
/// - output: every byte of the physical span is written, padding is zero. Base address alignment 16
///   bytes; input: scalar width.
///
/// Returns the plan or the first refusal; derives storage needs with overflow checks. Reads no
/// tensor data, does not allocate. Reentrant. Contract: docs/ops/casttess.md.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<Plan, Error>
check_inference(const Request& request) noexcept;

} // namespace simaai::kernels::ops::casttess
