// SPDX-License-Identifier: LGPL-2.1-or-later
// What simaaitensortovideo does with caps and buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "common/gst_ptr.h"
#include "video_candidates.h"
#include "videobridge/pixel_codec.h"
#include "videobridge/video_bridge.h"

namespace simaai::gst {

/// The sink pad has tensors, the source pad pictures.
class TensorToVideo final : public VideoBridge {
public:
  using VideoBridge::VideoBridge;

  [[nodiscard]] GstPtr<GstCaps> transform_caps(GstPadDirection direction,
                                               const GstCaps* caps) const override;
  [[nodiscard]] GstPtr<GstCaps> choose(const GstCaps* tensor,
                                       GstPtr<GstCaps> offered) const override;
  void stop() override;
  [[nodiscard]] std::optional<std::uint64_t> other_size(GstPadDirection direction) const override;

protected:
  [[nodiscard]] std::optional<std::string> negotiate(const GstCaps* tensor, const GstCaps* video,
                                                     const BridgeSettings& now) override;
  [[nodiscard]] std::optional<std::string> refuse_sink(const GstCaps* tensor) const override;
  [[nodiscard]] std::optional<std::string> refuse_choice(const GstCaps* tensor,
                                                         GstCaps* wanted) const override;
  [[nodiscard]] const char* offer_name() const override { return "picture of this tensor"; }
  [[nodiscard]] GstFlowReturn make_output(GstBuffer* input, GstBuffer** output) override;
  [[nodiscard]] bool convert(GstBuffer* input, GstBuffer* output) override;
  [[nodiscard]] std::uint64_t output_bytes() const noexcept override { return video_bytes(); }
  /// Learns whether downstream reads GstVideoMeta.
  const char* read_allocation(GstQuery* query) override;

private:
  void append_pictures(GstCaps* video, const GstCaps* tensor, const BridgeSettings& now) const;
  void append_pictures(GstCaps* video, const GstCaps* tensor, const PictureTensor& picture,
                       const BridgeSettings& now) const;
  [[nodiscard]] std::pair<GstPtr<GstCaps>, std::size_t> pictures_in(const GstCaps* tensor,
                                                                    GstCaps* wanted) const;
  [[nodiscard]] GstPtr<GstCaps> any_picture_caps() const;
  [[nodiscard]] bool promises_dma_bufs(const PictureTensor& picture, const GstCaps* tensor) const;
  [[nodiscard]] std::uint64_t video_bytes() const noexcept { return GST_VIDEO_INFO_SIZE(&info_); }
  [[nodiscard]] std::optional<std::string> plan(const GstCaps* tensor, const GstCaps* video,
                                                const BridgeSettings& now);
  [[nodiscard]] bool can_share(GstBuffer* input) const;
  [[nodiscard]] GstBuffer* share(GstBuffer* input) const;
  [[nodiscard]] bool has_shared_layout(const GstVideoMeta& meta) const;
  void describe(GstBuffer* buffer) const;
  [[nodiscard]] GstFlowReturn allocate(GstBuffer* input, GstBuffer** output);
  [[nodiscard]] bool decode(const std::byte* from, GstBuffer* output);

  // Negotiated.
  std::optional<PictureTensor> tensor_;
  GstVideoInfo info_{};
  const PictureFormat* format_ = nullptr;
  std::optional<PlaneLayout>
      shared_; ///< where samples are in a tensor that becomes a picture without a copy
  bool usual_layout_ = false; ///< shared_ is what the video caps imply
  std::uint64_t tensor_bytes_ = 0;
  bool downstream_reads_meta_ = false;
  bool is_spread_ = false; ///< no memory of the buffer at hand holds the tensor alone
  PixelDecoder decoder_;
};

} // namespace simaai::gst
