// SPDX-License-Identifier: LGPL-2.1-or-later
// Binds GstBuffers to kernel ports.
#include "buffer_binding.h"

#include <algorithm>
#include <cstring>

#include "fd_memory.h"

namespace simaai::gst {
namespace {

constexpr std::size_t kBlockAlignment = 64;

template <class Copy>
bool walk(GstBuffer* buffer, std::size_t bytes, GstMapFlags flags, Copy copy) noexcept {
  std::size_t done = 0;
  const guint count = gst_buffer_n_memory(buffer);
  for (guint i = 0; i < count && done < bytes; ++i) {
    GstMemory* const memory = gst_buffer_peek_memory(buffer, i);
    if (!has_its_bytes(memory))
      return false;
    const MapGuard map(memory, flags);
    if (!map)
      return false;
    const std::size_t part = std::min(map.size(), bytes - done);
    copy(map.data(), done, part);
    done += part;
  }
  return done == bytes;
}

} // namespace

std::byte* StagingBlock::ensure(std::size_t bytes, bool& grew) noexcept {
  grew = bytes > bytes_;
  if (grew) {
    const std::size_t rounded = (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
    block_.reset(static_cast<std::byte*>(std::aligned_alloc(kBlockAlignment, rounded)));
    bytes_ = block_ ? rounded : 0;
  }
  return block_.get();
}

void StagingBlock::release() noexcept {
  block_.reset();
  bytes_ = 0;
}

const char* bind_result_text(BindResult result) noexcept {
  switch (result) {
  case BindResult::InPlace:
    return "in place";
  case BindResult::SeveralMemories:
    return "its bytes are spread over several memories";
  case BindResult::Misaligned:
    return "its memory is not aligned for this operation";
  case BindResult::MapFailed:
    return "its memory cannot be mapped";
  }
  return "unknown";
}

BufferBinding::BufferBinding(GstBuffer* buffer, const kernels::ops::PortRequirement& needs,
                             GstMapFlags flags) noexcept {
  if (needs.bytes == 0)
    return;
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  if (memory->size < needs.bytes) {
    result_ = BindResult::SeveralMemories;
    return;
  }
  if (!has_its_bytes(memory)) {
    result_ = BindResult::MapFailed;
    return;
  }
  map_.emplace(memory, flags);
  if (!*map_)
    result_ = BindResult::MapFailed;
  else if (reinterpret_cast<std::uintptr_t>(map_->data()) % needs.alignment != 0)
    result_ = BindResult::Misaligned;
  if (result_ != BindResult::InPlace)
    map_.reset();
}

bool gather(GstBuffer* buffer, std::byte* into, std::size_t bytes) noexcept {
  return walk(buffer, bytes, GST_MAP_READ,
              [into](const guint8* data, std::size_t offset, std::size_t part) {
                std::memcpy(into + offset, data, part);
              });
}

bool scatter(GstBuffer* buffer, const std::byte* from, std::size_t bytes) noexcept {
  return walk(buffer, bytes, GST_MAP_WRITE,
              [from](guint8* data, std::size_t offset, std::size_t part) {
                std::memcpy(data, from + offset, part);
              });
}

} // namespace simaai::gst
