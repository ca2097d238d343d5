// SPDX-License-Identifier: LGPL-2.1-or-later
// DetessCast: tiled or channel-blocked BFloat16 -> linear BFloat16 or Float32 in one pass. Shared
// admission for every backend.
#pragma once

#include <span>
#include <variant>

#include <simaai/kernels/export.h>
#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>

namespace simaai::kernels::ops::detesscast {

/// DetessCast has no parameters: dtypes and layouts say everything.
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

/// Admits one MlaTiled or MlaCBlocked BFloat16 tensor in, one linear tensor out, equal logical
/// shapes.
///
/// - dtypes: BFloat16 (bits preserved) or Float32 (bits << 16) out.
/// - ranks 1 to 6 (MlaCBlocked: 3 to 6); output Contiguous or admitted Strided (rules as for cast).
/// - channel padding and alignment gaps of the input are ignored; output holes are left untouched.
/// - base addresses: input 16 bytes, output scalar width.
///
/// Returns the plan or the first refusal; derives storage needs with overflow checks. Reads no
/// tensor data, does not allocate. Reentrant. Contract: docs/ops/detesscast.md.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<Plan, Error>
check_inference(const Request& request) noexcept;

} // namespace simaai::kernels::ops::detesscast
