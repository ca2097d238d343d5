// SPDX-License-Identifier: LGPL-2.1-or-later
// Cast: Float32 -> BFloat16 and BFloat16 -> Float32, linear to linear. Shared admission for every
// backend.
#pragma once

#include <span>
#include <variant>

#include <simaai/kernels/export.h>
#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>

namespace simaai::kernels::ops::cast {

/// Cast has no parameters: dtypes and layouts say everything.
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

/// Admits one linear tensor in, one linear tensor out, equal logical shapes.
///
/// - dtypes: Float32 -> BFloat16 by (bits + 0x7fff + ((bits >> 16) & 1)) >> 16 on the raw bits,
///   modulo 2^32 and NaNs included; BFloat16 -> Float32 by bits << 16. Nothing else.
/// - ranks 0 to 6; each port Contiguous or admitted Strided, independently.
/// - strides: bytes, nonnegative, multiples of the scalar width, above zero where the extent
///   exceeds one (also when another extent is zero), proven free of overlap.
/// - base addresses: scalar alignment. Gaps and excess capacity are left untouched.
///
/// Returns the plan or the first refusal; derives storage needs with overflow checks. Reads no
/// tensor data, does not allocate. Reentrant. Contract: docs/ops/cast.md.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<Plan, Error>
check_inference(const Request& request) noexcept;

} // namespace simaai::kernels::ops::cast
