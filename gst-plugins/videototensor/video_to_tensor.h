// SPDX-License-Identifier: LGPL-2.1-or-later
// What simaaivideototensor does with caps and buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "common/gst_ptr.h"
#include "tensor_candidates.h"
#include "videobridge/pixel_codec.h"
#include "videobridge/video_bridge.h"

namespace simaai::gst {

/// The sink pad has pictures, the source pad tensors.
class VideoToTensor final : public VideoBridge {
public:
  using VideoBridge::VideoBridge;

  [[nodiscard]] GstPtr<GstCaps> transform_caps(GstPadDirection direction,
                                               const GstCaps* caps) const override;
  [[nodiscard]] GstPtr<GstCaps> choose(const GstCaps* video,
                                       GstPtr<GstCaps> offered) const override;
  void stop() override;
  [[nodiscard]] std::optional<std::uint64_t> other_size(GstPadDirection direction) const override;
  void propose_allocation(GstQuery* query) const override;
  /// Asks for new caps where the pitches changed.
  void look_at(GstBuffer* input) override;

protected:
  [[nodiscard]] std::optional<std::string> negotiate(const GstCaps* video, const GstCaps* tensor,
                                                     const BridgeSettings& now) override;
  [[nodiscard]] std::optional<std::string> refuse_sink(const GstCaps* video) const override;
  [[nodiscard]] const char* offer_name() const override { return "tensor of this picture"; }
  [[nodiscard]] std::string offer_remark() const override;
  [[nodiscard]] GstFlowReturn make_output(GstBuffer* input, GstBuffer** output) override;
  [[nodiscard]] bool convert(GstBuffer* input, GstBuffer* output) override;
  [[nodiscard]] std::uint64_t output_bytes() const noexcept override { return tensor_bytes_; }

private:
  [[nodiscard]] ViewPitches pitches_for(const PictureCaps& picture) const;
  [[nodiscard]] std::optional<std::string>
  plan(const PictureCaps& picture, const TensorInfo& tensor, const BridgeSettings& now);
  [[nodiscard]] bool promises_dma_bufs(const TensorCandidate& candidate,
                                       const GstCaps* video) const;
  [[nodiscard]] bool is_view(const PlaneLayout& layout) const;
  [[nodiscard]] GstBuffer* share(GstBuffer* input, std::int64_t offset) const;
  [[nodiscard]] GstFlowReturn allocate(GstBuffer* input, GstBuffer** output);
  [[nodiscard]] std::uint64_t spread_bytes(GstBuffer* input) const;
  [[nodiscard]] bool encode(GstBuffer* input, std::byte* into);

  // Negotiated.
  std::optional<PictureCaps> picture_;
  kernels::TensorSpec tensor_;
  AxisOrder order_ = AxisOrder::Hwc;
  TensorPitches pitches_;
  std::uint64_t tensor_bytes_ = 0;
  bool uint8_ = false;
  PixelEncoder encoder_;

  // The view rule.
  GstPtr<GstCaps> video_caps_; ///< object lock: caps that seen_pitches_ belongs to
  std::optional<ViewPitches>
      seen_pitches_;               ///< object lock: pitches of buffers, offered to downstream
  int pitch_changes_ = 0;          ///< on video_caps_
  PlaneLayout layout_;             ///< of the buffer at hand
  std::uint64_t spread_bytes_ = 0; ///< of planes of the buffer at hand that no memory holds alone
};

} // namespace simaai::gst
