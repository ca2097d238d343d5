// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the tensors of a port are in a buffer: each in a memory of its own, or all one behind the other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include <gst/gst.h>

#include <simaai/kernels/ops/plan.h>

#include "caps_spec.h"
#include "export.h"

namespace simaai::gst {

/// Where a tensor is. No memory: its bytes are spread over several, or there are none.
struct TensorPlace {
  GstMemory* memory = nullptr; ///< borrowed from the buffer
  std::uint64_t offset_bytes = 0;
};

/// Places of the tensors of one port.
///
/// With an offset in the caps of each tensor, offsets count from the start of the buffer. Without, a buffer with as many
/// memories as tensors, each long enough for its tensor, holds one in each; any other buffer holds them one behind the
/// other without gaps.
class SIMAAI_GST_API PortLayout {
public:
  PortLayout() = default;

  /// `needs` has an entry for each tensor. `written`: tensors must be apart and aligned. A reason where that cannot be.
  [[nodiscard]] static std::variant<PortLayout, CapsError>
  create(const TensorSet& set, const std::array<kernels::ops::PortRequirement, kMaxTensors>& needs,
         bool written);
  /// The same with what the tensors need, whatever is done with them.
  [[nodiscard]] static std::variant<PortLayout, CapsError> create(const TensorSet& set,
                                                                  bool written = false);

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] const kernels::ops::PortRequirement& needs(std::size_t tensor) const noexcept {
    return needs_[tensor];
  }
  /// Bytes that a buffer must hold at least.
  [[nodiscard]] std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  /// Position of a tensor in a buffer without memories of its own for each.
  [[nodiscard]] std::uint64_t offset_bytes(std::size_t tensor) const noexcept {
    return offsets_[tensor];
  }
  /// Whether new buffers should have a memory for each tensor.
  [[nodiscard]] bool wants_memories() const noexcept { return count_ > 1 && !has_offsets_; }

  /// True for a buffer with one memory for each tensor.
  [[nodiscard]] bool is_split(GstBuffer* buffer) const noexcept;
  /// The buffer holds total_bytes() at least.
  [[nodiscard]] TensorPlace locate(GstBuffer* buffer, std::size_t tensor) const noexcept;
  /// Bytes before the tensor if all memories of the buffer stood one behind the other.
  [[nodiscard]] std::uint64_t position(GstBuffer* buffer, std::size_t tensor) const noexcept;

private:
  std::array<kernels::ops::PortRequirement, kMaxTensors> needs_{};
  std::array<std::uint64_t, kMaxTensors> offsets_{};
  std::size_t count_ = 0;
  std::uint64_t total_bytes_ = 0;
  bool has_offsets_ = false;
};

} // namespace simaai::gst
