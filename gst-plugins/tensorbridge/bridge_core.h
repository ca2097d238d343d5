// SPDX-License-Identifier: LGPL-2.1-or-later
// Ordinary C++ behind simaaitensorbridge: one spelling of caps into another, buffers as they are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "common/element_stats.h"
#include "common/gst_ptr.h"
#include "common/port_layout.h"
#include "foreign_caps.h"

namespace simaai::gst {

/// Bound to the streaming thread, but for transform_caps() and stats().
class BridgeCore {
public:
  explicit BridgeCore(GstBaseTransform* element) noexcept : element_(element) {}

  [[nodiscard]] GstPtr<GstCaps> transform_caps(GstPadDirection direction, const GstCaps* caps,
                                               GstCaps* filter) const;
  [[nodiscard]] bool set_caps(GstCaps* sink_caps, GstCaps* src_caps);
  /// Before caps are offered: the pad refuses those that have no other spelling without asking, so that this is where to
  /// say why.
  void look_at_caps(GstCaps* sink_caps);
  /// After caps were refused: posts why, once for the same caps.
  void diagnose_refusal(GstCaps* sink_caps);
  void start() noexcept { stats_.reset(); }
  void stop();

  /// The buffer itself, or one that shares its memories: one for each tensor; with GstTensorMeta where this build knows it. Not
  /// GST_FLOW_OK: an error was posted.
  [[nodiscard]] GstFlowReturn convert(GstBuffer* input, GstBuffer** output);
  [[nodiscard]] GstStructure* stats() const;

private:
  [[nodiscard]] GstFlowReturn share(GstBuffer* input, GstBuffer** output);
  void report(std::string reason, const GstCaps* sink_caps, const GstCaps* src_caps = nullptr);
  void fail(std::string reason, std::optional<std::uint64_t> needed,
            std::optional<std::uint64_t> found);

  GstBaseTransform* const element_;
  TensorSet tensors_;
  std::optional<PortLayout> layout_;        ///< of inputs
  std::optional<PortLayout> output_layout_; ///< a memory for each tensor
  GstPtr<GstCaps> sink_caps_;
  GstPtr<GstCaps> refused_;
  bool reported_ = false;
  ElementStats stats_;
};

} // namespace simaai::gst
