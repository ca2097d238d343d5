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
bool walk(GstBuffer* buffer, std::uint64_t start, std::size_t bytes, GstMapFlags flags,
          Copy copy) noexcept {
  std::size_t done = 0;
  const guint count = gst_buffer_n_memory(buffer);
  for (guint i = 0; i < count && done < bytes; ++i) {
    GstMemory* const memory = gst_buffer_peek_memory(buffer, i);
    if (start >= memory->size) {
      start -= memory->size;
      continue;
    }
    if (!has_its_bytes(memory))
      return false;
    const MapGuard map(memory, flags);
    if (!map)
      return false;
    const std::size_t part = std::min<std::size_t>(map.size() - start, bytes - done);
    copy(map.data() + start, done, part);
    done += part;
    start = 0;
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

void PortBinding::release() noexcept {
  map_.reset();
  mapped_ = nullptr;
}

bool PortBinding::map(GstMemory* memory) noexcept {
  if (mapped_ == memory)
    return true;
  release();
  if (!has_its_bytes(memory))
    return false;
  map_.emplace(memory, flags_);
  if (!*map_) {
    map_.reset();
    return false;
  }
  mapped_ = memory;
  return true;
}

void PortBinding::bind(std::size_t tensor) noexcept {
  const auto& needs = layout_.needs(tensor);
  result_ = BindResult::InPlace;
  data_ = nullptr;
  capacity_ = 0;
  if (needs.bytes == 0)
    return;
  const TensorPlace place = layout_.locate(buffer_, tensor);
  if (place.memory == nullptr) {
    result_ = BindResult::SeveralMemories;
  } else if (!map(place.memory)) {
    result_ = BindResult::MapFailed;
  } else {
    data_ = map_->data() + place.offset_bytes;
    capacity_ = map_->size() - place.offset_bytes;
    if (reinterpret_cast<std::uintptr_t>(data_) % needs.alignment != 0)
      result_ = BindResult::Misaligned;
  }
  if (needs_copy())
    release(); // the copy maps for itself
}

bool gather(GstBuffer* buffer, std::uint64_t start, std::byte* into, std::size_t bytes) noexcept {
  return walk(buffer, start, bytes, GST_MAP_READ,
              [into](const guint8* data, std::size_t offset, std::size_t part) {
                std::memcpy(into + offset, data, part);
              });
}

bool scatter(GstBuffer* buffer, std::uint64_t start, const std::byte* from,
             std::size_t bytes) noexcept {
  return walk(buffer, start, bytes, GST_MAP_WRITE,
              [from](guint8* data, std::size_t offset, std::size_t part) {
                std::memcpy(data, from + offset, part);
              });
}

} // namespace simaai::gst
