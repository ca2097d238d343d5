// SPDX-License-Identifier: LGPL-2.1-or-later
// Binds GstBuffers to kernel ports: memories mapped in place, or an aligned staging block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

#include <gst/gst.h>

#include "gst_ptr.h"
#include "port_layout.h"

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

/// Maps the memories that hold the tensors of a port, one memory at a time: tensors that follow each other in a memory
/// share the map. The caller has checked the size of the buffer; an empty tensor needs no memory.
class PortBinding {
public:
  PortBinding(GstBuffer* buffer, const PortLayout& layout, GstMapFlags flags) noexcept
      : buffer_(buffer), layout_(layout), flags_(flags) {}

  /// Goes on to a tensor, which data() and capacity() then describe.
  void bind(std::size_t tensor) noexcept;
  /// Ends the map.
  void release() noexcept;

  [[nodiscard]] BindResult result() const noexcept { return result_; }
  [[nodiscard]] bool needs_copy() const noexcept {
    return result_ == BindResult::SeveralMemories || result_ == BindResult::Misaligned;
  }
  [[nodiscard]] void* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

private:
  [[nodiscard]] bool map(GstMemory* memory) noexcept;

  GstBuffer* const buffer_;
  const PortLayout& layout_;
  const GstMapFlags flags_;
  GstMemory* mapped_ = nullptr;
  std::optional<MapGuard> map_;
  guint8* data_ = nullptr;
  std::size_t capacity_ = 0;
  BindResult result_ = BindResult::InPlace;
};

/// Copy between a flat block and the bytes from `start` on of the memories of a buffer, in order and each mapped alone.
/// False where a memory cannot be mapped or the buffer ends before that.
[[nodiscard]] bool gather(GstBuffer* buffer, std::uint64_t start, std::byte* into,
                          std::size_t bytes) noexcept;
[[nodiscard]] bool scatter(GstBuffer* buffer, std::uint64_t start, const std::byte* from,
                           std::size_t bytes) noexcept;

} // namespace simaai::gst
