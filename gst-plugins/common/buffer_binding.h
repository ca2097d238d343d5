// SPDX-License-Identifier: LGPL-2.1-or-later
// Binds GstBuffers to kernel ports: one memory mapped in place, or an aligned staging block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

#include <gst/gst.h>

#include <simaai/kernels/ops/plan.h>

#include "gst_ptr.h"

namespace simaai::gst {

/// A block of system memory, aligned to 64 bytes, that only grows.
class StagingBlock {
public:
  /// Null where memory is short. `grew` tells that a new block was allocated.
  [[nodiscard]] std::byte* ensure(std::size_t bytes, bool& grew) noexcept;
  void release() noexcept;

private:
  struct Free {
    void operator()(std::byte* block) const noexcept { std::free(block); }
  };
  std::unique_ptr<std::byte, Free> block_;
  std::size_t bytes_ = 0;
};

/// Where the bytes of a port are.
enum class BindResult {
  InPlace,         ///< data() and capacity() can be used
  SeveralMemories, ///< the bytes are spread over memories
  Misaligned,      ///< the memory starts at an address that the op refuses
  MapFailed,       ///< the memory cannot be mapped
};

/// Sentence part for messages: why a buffer needs a copy, or cannot be used.
[[nodiscard]] const char* bind_result_text(BindResult result) noexcept;

/// Maps the memory that holds all bytes of the port for the life of the binding. The caller has
/// checked the size of the buffer; an empty port needs no memory.
class BufferBinding {
public:
  BufferBinding(GstBuffer* buffer, const kernels::ops::PortRequirement& needs,
                GstMapFlags flags) noexcept;

  [[nodiscard]] BindResult result() const noexcept { return result_; }
  [[nodiscard]] bool needs_copy() const noexcept {
    return result_ == BindResult::SeveralMemories || result_ == BindResult::Misaligned;
  }
  [[nodiscard]] void* data() const noexcept { return map_ ? map_->data() : nullptr; }
  [[nodiscard]] std::size_t capacity() const noexcept { return map_ ? map_->size() : 0; }

private:
  std::optional<MapGuard> map_;
  BindResult result_ = BindResult::InPlace;
};

/// Copy between the memories of a buffer, in order and each mapped alone, and a flat block. False
/// where a memory cannot be mapped or the buffer holds less than `bytes`.
[[nodiscard]] bool gather(GstBuffer* buffer, std::byte* into, std::size_t bytes) noexcept;
[[nodiscard]] bool scatter(GstBuffer* buffer, const std::byte* from, std::size_t bytes) noexcept;

} // namespace simaai::gst
