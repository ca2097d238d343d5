// SPDX-License-Identifier: LGPL-2.1-or-later
// What simaaivideototensor does with caps and buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "bridge_settings.h"
#include "bridge_stats.h"
#include "common/errors.h"
#include "common/gst_ptr.h"
#include "pixel_codec.h"
#include "tensor_candidates.h"

namespace simaai::gst {

/// Bound to the streaming thread; members that queries of other threads read are protected by the object lock of the
/// element, which is never held across a call to another element.
class VideoToTensor {
public:
  explicit VideoToTensor(GstBaseTransform* element) : element_(element) {}

  BridgeSettings settings; ///< object lock
  BridgeStats stats;

  [[nodiscard]] GstPtr<GstCaps> transform_caps(GstPadDirection direction,
                                               const GstCaps* caps) const;
  /// The first of our tensors that `offered` allows.
  [[nodiscard]] GstPtr<GstCaps> choose(const GstCaps* video, GstPtr<GstCaps> offered) const;
  [[nodiscard]] bool set_caps(const GstCaps* video, const GstCaps* tensor);
  void stop();

  /// For each CAPS event: explains caps that are no usable picture, once for the same caps.
  void begin_caps(const GstCaps* sink_caps);
  /// After caps were refused: says why, unless that was said.
  void explain_refusal(const GstCaps* video);

  /// Before the base class looks at the buffer: asks for new caps where the pitches changed.
  void look_at(GstBuffer* input);
  /// The output buffer: `input` itself or its memory for a view, else a new one. Not yet filled where it is new.
  [[nodiscard]] GstFlowReturn prepare_output(GstBuffer* input, GstBuffer** output);
  /// Fills the output that prepare_output() made.
  [[nodiscard]] GstFlowReturn fill(GstBuffer* input, GstBuffer* output);

  [[nodiscard]] std::uint64_t tensor_bytes() const noexcept { return tensor_bytes_; }

private:
  [[nodiscard]] BridgeSettings settings_copy() const;
  [[nodiscard]] ViewPitches pitches_for(const PictureCaps& picture) const;
  [[nodiscard]] std::optional<std::string>
  plan(const PictureCaps& picture, const TensorInfo& tensor, const BridgeSettings& now);
  [[nodiscard]] bool is_view(const PlaneLayout& layout) const;
  [[nodiscard]] GstBuffer* share(GstBuffer* input, std::int64_t offset) const;
  [[nodiscard]] GstFlowReturn allocate(GstBuffer* input, GstBuffer** output);
  [[nodiscard]] bool encode(GstBuffer* input, std::byte* into) const;
  [[nodiscard]] GstFlowReturn fail(ErrorKind kind, std::string reason);

  GstBaseTransform* element_;

  // Negotiated.
  std::optional<PictureCaps> picture_;
  kernels::TensorSpec tensor_;
  AxisOrder order_ = AxisOrder::Hwc;
  TensorPitches pitches_;
  std::uint64_t tensor_bytes_ = 0;
  bool uint8_ = false;
  bool require_zero_copy_ = false;
  PixelEncoder encoder_;

  // The view rule.
  GstPtr<GstCaps> video_caps_; ///< object lock: caps that seen_pitches_ belongs to
  std::optional<ViewPitches>
      seen_pitches_;      ///< object lock: pitches of buffers, offered to downstream
  int pitch_changes_ = 0; ///< on video_caps_
  PlaneLayout layout_;    ///< of the buffer at hand
  bool view_ = false;     ///< the output at hand shares the memory of the input

  bool reported_ = false;        ///< an error about refused_caps_ was posted
  GstPtr<GstCaps> refused_caps_; ///< sink caps that no longer need an explanation
  GstClockTime started_ = 0;
};

} // namespace simaai::gst
