// SPDX-License-Identifier: LGPL-2.1-or-later
// Sink pad of simaaitensormux: what it adds to a set, and when.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include <gst/base/gstaggregator.h>
#include <gst/gst.h>

#include "common/caps_spec.h"
#include "common/gst_ptr.h"
#include "common/port_layout.h"

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_TENSOR_MUX_PAD (gst_simaai_tensor_mux_pad_get_type())
G_DECLARE_FINAL_TYPE(GstSimaaiTensorMuxPad, gst_simaai_tensor_mux_pad, GST, SIMAAI_TENSOR_MUX_PAD,
                     GstAggregatorPad)
G_END_DECLS

namespace simaai::gst {

/// State of a pad. Bound to the thread that aggregates, but for forget_times(): a flush of one pad comes from its own thread.
struct MuxInput {
  TensorSet set; ///< one tensor, or those of a set
  PortLayout layout;
  GstPtr<GstCaps> caps; ///< null before they came
  /// Start of the last buffer that was taken, and the time from the one before: how long buffers without a duration last.
  std::atomic<GstClockTime> last_start{GST_CLOCK_TIME_NONE};
  std::atomic<GstClockTime> interval{GST_CLOCK_TIME_NONE};

  void forget_times() noexcept {
    last_start = GST_CLOCK_TIME_NONE;
    interval = GST_CLOCK_TIME_NONE;
  }
};

[[nodiscard]] MuxInput& input_of(GstAggregatorPad* pad) noexcept;
/// The property tensor-id; empty where it is not set. Any thread.
[[nodiscard]] std::string tensor_id_of(GstAggregatorPad* pad);

} // namespace simaai::gst
