// SPDX-License-Identifier: LGPL-2.1-or-later
// Bit-for-bit comparison of tensors before and after the tiles.
#include "frame_check.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <optional>
#include <variant>

#include <simaai/kernels/tensor_spec.h>

#include "common/caps_spec.h"
#include "common/gst_ptr.h"

namespace simaai::demo {

namespace {

/// Number of elements where the pad carries a dense float32 tensor.
std::optional<std::size_t> dense_float32_elements(GstPad* pad) {
  const gst::GstPtr<GstCaps> caps(gst_pad_get_current_caps(pad));
  if (!caps)
    return std::nullopt;
  const auto parsed = gst::parse_tensor(*caps);
  const auto* info = std::get_if<gst::TensorInfo>(&parsed);
  if (info == nullptr || info->spec.dtype != kernels::DType::Float32 ||
      !std::holds_alternative<kernels::Contiguous>(info->spec.layout))
    return std::nullopt;
  std::size_t count = 1;
  for (const std::int64_t extent : info->spec.shape.extents())
    count *= static_cast<std::size_t>(extent);
  return count;
}

/// The values of the buffer as bit patterns; empty where the buffer is too short or cannot be read.
std::vector<std::uint32_t> read_bits(GstBuffer* buffer, std::size_t count) {
  std::vector<std::uint32_t> bits(count);
  if (gst_buffer_extract(buffer, 0, bits.data(), count * 4) != count * 4)
    bits.clear();
  return bits;
}

/// Nearest BFloat16 value, ties to even, widened again: half of the dropped bits decides.
std::uint32_t round_to_bfloat16(std::uint32_t bits) {
  const std::uint32_t dropped = bits & 0xFFFFU;
  std::uint32_t kept = bits >> 16;
  if (dropped > 0x8000U || (dropped == 0x8000U && kept % 2 == 1))
    ++kept;
  return (kept & 0xFFFFU) << 16;
}

} // namespace

void FrameCheck::attach(GstPad* before, GstPad* after) {
  gst_pad_add_probe(before, GST_PAD_PROBE_TYPE_BUFFER, &FrameCheck::on_before, this, nullptr);
  gst_pad_add_probe(after, GST_PAD_PROBE_TYPE_BUFFER, &FrameCheck::on_after, this, nullptr);
}

GstPadProbeReturn FrameCheck::on_before(GstPad* pad, GstPadProbeInfo* info,
                                        gpointer self) noexcept {
  static_cast<FrameCheck*>(self)->remember(pad, GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn FrameCheck::on_after(GstPad* pad, GstPadProbeInfo* info, gpointer self) noexcept {
  static_cast<FrameCheck*>(self)->compare(pad, GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

void FrameCheck::remember(GstPad* pad, GstBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  Expected expected{GST_BUFFER_PTS(buffer), sent_++, {}};
  if (expected.number % check_every_ == 0) {
    const auto count = dense_float32_elements(pad);
    if (!count)
      return fail("simaaicasttess does not receive a dense float32 tensor");
    expected.bits = read_bits(buffer, *count);
    if (expected.bits.empty())
      return fail("the input of simaaicasttess is shorter than its caps say");
    for (std::uint32_t& bits : expected.bits)
      bits = round_to_bfloat16(bits);
  }
  pending_.push_back(std::move(expected));
}

void FrameCheck::compare(GstPad* pad, GstBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  ++frames_;
  while (!pending_.empty() && pending_.front().pts != GST_BUFFER_PTS(buffer))
    pending_.pop_front(); // dropped on the way, by QoS
  if (pending_.empty())
    return fail("simaaidetesscast delivered a frame that simaaicasttess did not receive");
  const Expected expected = std::move(pending_.front());
  pending_.pop_front();
  if (expected.bits.empty())
    return;
  const auto count = dense_float32_elements(pad);
  if (!count || *count != expected.bits.size())
    return fail("simaaidetesscast does not deliver a dense float32 tensor of the input's shape");
  const std::vector<std::uint32_t> found = read_bits(buffer, *count);
  if (found.empty())
    return fail("the output of simaaidetesscast is shorter than its caps say");
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected.bits[i])
      continue;
    char text[160];
    std::snprintf(text, sizeof text,
                  "frame %" PRIu64 ", value %zu: expected 0x%08" PRIx32 ", found 0x%08" PRIx32,
                  expected.number, i, expected.bits[i], found[i]);
    return fail(text);
  }
  ++checked_;
  values_ += found.size();
}

void FrameCheck::fail(const std::string& reason) {
  if (failure_.empty())
    failure_ = reason;
}

std::uint64_t FrameCheck::frames() const {
  const std::lock_guard lock(mutex_);
  return frames_;
}

std::uint64_t FrameCheck::checked() const {
  const std::lock_guard lock(mutex_);
  return checked_;
}

std::uint64_t FrameCheck::values() const {
  const std::lock_guard lock(mutex_);
  return values_;
}

std::string FrameCheck::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

} // namespace simaai::demo
