// SPDX-License-Identifier: LGPL-2.1-or-later
// A prepared A65 plan: the shared metadata and opaque, fixed-size execution state.
#pragma once

#include <array>
#include <cstddef>

#include <simaai/kernels/ops/plan.h>

namespace simaai::kernels::a65 {

namespace detail {
struct StateAccess;
} // namespace detail

/// Bytes reserved for the execution state of any operation (geometry, tile classes, row-kernel
/// choice).
inline constexpr std::size_t kPreparedStateBytes = 1024;

/// Immutable after prepare(); trivially copyable; holds no pointer to caller memory, no lock, no
/// heap storage.
template <class Metadata> class PreparedPlan {
public:
  /// The admitted metadata that this plan was prepared from.
  [[nodiscard]] constexpr const Metadata& metadata() const noexcept { return metadata_; }
  [[nodiscard]] constexpr const TensorSpec& input() const noexcept { return metadata_.input(); }
  [[nodiscard]] constexpr const TensorSpec& output() const noexcept { return metadata_.output(); }
  [[nodiscard]] constexpr const ops::PortRequirement& input_requirement() const noexcept {
    return metadata_.input_requirement();
  }
  [[nodiscard]] constexpr const ops::PortRequirement& output_requirement() const noexcept {
    return metadata_.output_requirement();
  }
  [[nodiscard]] constexpr bool empty() const noexcept { return metadata_.empty(); }

private:
  friend struct detail::StateAccess;
  constexpr explicit PreparedPlan(const Metadata& metadata) noexcept : metadata_(metadata) {}

  Metadata metadata_;
  alignas(16) std::array<std::byte, kPreparedStateBytes> state_{};
};

} // namespace simaai::kernels::a65
