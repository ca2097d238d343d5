// SPDX-License-Identifier: LGPL-2.1-or-later
// What simaaitensortovideo does with caps and buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "common/errors.h"
#include "common/gst_ptr.h"
#include "video_candidates.h"
#include "videototensor/bridge_settings.h"
#include "videototensor/bridge_stats.h"
#include "videototensor/pixel_codec.h"

namespace simaai::gst {

/// Bound to the streaming thread; `settings` is protected by the object lock of the element.
class TensorToVideo {
public:
  explicit TensorToVideo(GstBaseTransform* element) : element_(element) {}

  BridgeSettings settings; ///< object lock
  BridgeStats stats;

  [[nodiscard]] GstPtr<GstCaps> transform_caps(GstPadDirection direction,
                                               const GstCaps* caps) const;
  [[nodiscard]] GstPtr<GstCaps> choose(const GstCaps* tensor, GstPtr<GstCaps> offered) const;
  [[nodiscard]] bool set_caps(const GstCaps* tensor, const GstCaps* video);
  void stop() {
    tensor_.reset();
    refused_caps_.reset();
  }

  /// For each CAPS event: explains caps that hold no picture, once for the same caps.
  void begin_caps(const GstCaps* sink_caps);
  /// After caps were refused: says why, unless that was said.
  void explain_refusal(const GstCaps* tensor);

  /// Chooses the pool of pictures and learns whether downstream reads GstVideoMeta.
  [[nodiscard]] bool decide_allocation(GstQuery* query);
  [[nodiscard]] GstFlowReturn prepare_output(GstBuffer* input, GstBuffer** output);
  [[nodiscard]] GstFlowReturn fill(GstBuffer* input, GstBuffer* output);

  [[nodiscard]] std::uint64_t tensor_bytes() const noexcept { return tensor_bytes_; }
  [[nodiscard]] std::uint64_t video_bytes() const noexcept { return GST_VIDEO_INFO_SIZE(&info_); }

private:
  [[nodiscard]] BridgeSettings settings_copy() const;
  [[nodiscard]] std::optional<std::string> plan(const GstCaps* tensor, const GstCaps* video,
                                                const BridgeSettings& now);
  [[nodiscard]] bool configure_picture_pool(GstBufferPool* pool, GstCaps* caps, guint size,
                                            guint min_buffers, guint max_buffers) const;
  [[nodiscard]] bool can_share(GstBuffer* input) const;
  [[nodiscard]] GstBuffer* share(GstBuffer* input) const;
  [[nodiscard]] bool has_shared_layout(const GstVideoMeta& meta) const;
  void describe(GstBuffer* buffer) const;
  [[nodiscard]] GstFlowReturn allocate(GstBuffer* input, GstBuffer** output);
  [[nodiscard]] bool decode(const std::byte* from, GstBuffer* output);
  [[nodiscard]] GstFlowReturn fail(ErrorKind kind, std::string reason,
                                   std::optional<std::uint64_t> found = std::nullopt);

  GstBaseTransform* element_;

  // Negotiated.
  std::optional<PictureTensor> tensor_;
  GstVideoInfo info_{};
  const PictureFormat* format_ = nullptr;
  std::optional<PlaneLayout>
      shared_; ///< where samples are in a tensor that becomes a picture without a copy
  bool usual_layout_ = false; ///< shared_ is what the video caps imply
  std::uint64_t tensor_bytes_ = 0;
  bool require_zero_copy_ = false;
  bool downstream_reads_meta_ = false;
  PixelDecoder decoder_;

  bool view_ = false;            ///< the output at hand shares the memory of the input
  bool reported_ = false;        ///< an error about refused_caps_ was posted
  GstPtr<GstCaps> refused_caps_; ///< sink caps that no longer need an explanation
  GstClockTime started_ = 0;
};

} // namespace simaai::gst
