// SPDX-License-Identifier: LGPL-2.1-or-later
// Source pad of simaaitensordemux: which tensor of a set it takes.
#pragma once

#include <optional>
#include <string>

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_TENSOR_DEMUX_PAD (gst_simaai_tensor_demux_pad_get_type())
G_DECLARE_FINAL_TYPE(GstSimaaiTensorDemuxPad, gst_simaai_tensor_demux_pad, GST,
                     SIMAAI_TENSOR_DEMUX_PAD, GstPad)
G_END_DECLS

namespace simaai::gst {

/// What the properties of a pad say.
struct PadChoice {
  int position = -1;     ///< -1: not set
  std::string tensor_id; ///< empty: not set; else it decides
};

/// Any thread.
[[nodiscard]] PadChoice choice_of(GstPad* pad);

} // namespace simaai::gst
