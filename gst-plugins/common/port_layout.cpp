// SPDX-License-Identifier: LGPL-2.1-or-later
// Places of tensors in buffers.
#include "port_layout.h"

#include <algorithm>
#include <limits>

#include <simaai/kernels/ops/requirement.h>

namespace simaai::gst {
namespace {

using kernels::ops::PortRequirement;

constexpr std::uint64_t kLargestBuffer = std::numeric_limits<guint>::max();

CapsError too_large(const TensorSet& set, std::size_t tensor, std::uint64_t at,
                    std::uint64_t bytes) {
  const bool countable = bytes <= std::numeric_limits<std::uint64_t>::max() - at;
  return {tensor_prefix(set, tensor) + "a buffer needs " +
          (countable ? std::to_string(at + bytes) : "more than 2^64") +
          " bytes; a buffer pool holds at most " + std::to_string(kLargestBuffer) +
          " bytes a buffer"};
}

} // namespace

std::variant<PortLayout, CapsError>
PortLayout::create(const TensorSet& set, const std::array<PortRequirement, kMaxTensors>& needs,
                   bool written) {
  PortLayout layout;
  layout.count_ = set.tensors.size();
  layout.needs_ = needs;
  layout.has_offsets_ = set.tensors.front().offset_bytes.has_value();
  for (std::size_t i = 0; i < layout.count_; ++i) {
    const std::uint64_t bytes = needs[i].bytes;
    const std::uint64_t at = layout.has_offsets_
                                 ? static_cast<std::uint64_t>(*set.tensors[i].offset_bytes)
                                 : layout.total_bytes_;
    if (bytes > kLargestBuffer || at > kLargestBuffer - bytes)
      return too_large(set, i, at, bytes);
    layout.offsets_[i] = at;
    layout.total_bytes_ = std::max(layout.total_bytes_, at + bytes);
    if (!written || !layout.has_offsets_ || bytes == 0)
      continue;
    if (at % needs[i].alignment != 0)
      return CapsError{tensor_prefix(set, i) + "caps field 'offset' is " + std::to_string(at) +
                       "; expected a multiple of " + std::to_string(needs[i].alignment)};
    for (std::size_t j = 0; j < i; ++j)
      if (at < layout.offsets_[j] + needs[j].bytes && layout.offsets_[j] < at + bytes)
        return CapsError{tensor_prefix(set, i) + "bytes " + std::to_string(at) + " to " +
                         std::to_string(at + bytes - 1) + " of the buffer are those of tensor " +
                         std::to_string(j) + " too; expected tensors that are apart"};
  }
  return layout;
}

std::variant<PortLayout, CapsError> PortLayout::create(const TensorSet& set, bool written) {
  std::array<PortRequirement, kMaxTensors> needs{};
  for (std::size_t i = 0; i < set.tensors.size(); ++i) {
    const auto one = kernels::ops::port_requirement(set.tensors[i].spec);
    if (const auto* error = std::get_if<kernels::Error>(&one))
      return CapsError{tensor_prefix(set, i) + error->message()};
    needs[i] = std::get<PortRequirement>(one);
  }
  return create(set, needs, written);
}

bool PortLayout::is_split(GstBuffer* buffer) const noexcept {
  if (!wants_memories() || gst_buffer_n_memory(buffer) != count_)
    return false;
  for (std::size_t i = 0; i < count_; ++i)
    if (gst_buffer_peek_memory(buffer, static_cast<guint>(i))->size < needs_[i].bytes)
      return false;
  return true;
}

TensorPlace PortLayout::locate(GstBuffer* buffer, std::size_t tensor) const noexcept {
  if (needs_[tensor].bytes == 0)
    return {};
  if (is_split(buffer))
    return {gst_buffer_peek_memory(buffer, static_cast<guint>(tensor)), 0};
  std::uint64_t at = offsets_[tensor];
  const guint count = gst_buffer_n_memory(buffer);
  for (guint i = 0; i < count; ++i) {
    GstMemory* const memory = gst_buffer_peek_memory(buffer, i);
    if (at < memory->size)
      return memory->size - at >= needs_[tensor].bytes ? TensorPlace{memory, at} : TensorPlace{};
    at -= memory->size;
  }
  return {};
}

std::uint64_t PortLayout::position(GstBuffer* buffer, std::size_t tensor) const noexcept {
  if (!is_split(buffer))
    return offsets_[tensor];
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < tensor; ++i)
    at += gst_buffer_peek_memory(buffer, static_cast<guint>(i))->size;
  return at;
}

} // namespace simaai::gst
