// SPDX-License-Identifier: LGPL-2.1-or-later
// What every admitted operation knows about its two ports. Each op has a Plan type of its own on
// top of it.
#pragma once

#include <cstdint>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::kernels::ops {

namespace detail {
/// Builds Plan objects inside the library; users get them from check_inference() only.
struct PlanAccess;
} // namespace detail

/// Storage that a port needs: accessible bytes from the base address (strided gaps and tile padding
/// included, 0 for an empty tensor) and alignment of the base address in bytes.
struct PortRequirement {
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 1;
  friend constexpr bool operator==(const PortRequirement&,
                                   const PortRequirement&) noexcept = default;
};

/// Admitted metadata of a one-input, one-output operation: owned copies of both specs and derived
/// requirements. Immutable, trivially copyable, holds no pointer. Reentrant.
class PortPlan {
public:
  [[nodiscard]] constexpr const TensorSpec& input() const noexcept { return input_; }
  [[nodiscard]] constexpr const TensorSpec& output() const noexcept { return output_; }
  [[nodiscard]] constexpr const PortRequirement& input_requirement() const noexcept {
    return input_requirement_;
  }
  [[nodiscard]] constexpr const PortRequirement& output_requirement() const noexcept {
    return output_requirement_;
  }
  /// True where an extent is zero: both requirements are 0 bytes and there is nothing to do.
  [[nodiscard]] constexpr bool empty() const noexcept { return output_requirement_.bytes == 0; }

protected:
  constexpr PortPlan(const TensorSpec& input, const TensorSpec& output,
                     const PortRequirement& input_requirement,
                     const PortRequirement& output_requirement) noexcept
      : input_(input), output_(output), input_requirement_(input_requirement),
        output_requirement_(output_requirement) {}

private:
  TensorSpec input_;
  TensorSpec output_;
  PortRequirement input_requirement_;
  PortRequirement output_requirement_;
};

} // namespace simaai::kernels::ops
