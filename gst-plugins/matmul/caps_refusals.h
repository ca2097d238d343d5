// SPDX-License-Identifier: LGPL-2.1-or-later
// Says once on the bus why caps are refused, however often somebody tries them.
#pragma once

#include <string>

#include <gst/gst.h>

#include "common/gst_ptr.h"

namespace simaai::gst {

/// Of one element. Bound to the streaming thread, or used while no data flows.
class CapsRefusals {
public:
  explicit CapsRefusals(GstElement* element) noexcept : element_(element) {}

  /// Names caps outside the template of a pad of the element: it refuses them before the element gets the event.
  void watch(GstPad* sink);
  /// Forgets what was said: at the start, and after caps that worked.
  void clear();
  /// Before caps are tried.
  void begin_attempt() noexcept { reported_ = false; }
  /// Posts an error, unless the last one had the same reason and caps. Either caps may be null.
  void report(std::string reason, const GstCaps* sink_caps, const GstCaps* src_caps);
  /// After an attempt that failed, where nothing was reported: the sink caps, or a downstream that takes none of `ours`.
  void explain(GstPad* src, const GstCaps* sink_caps, const GstCaps* ours);

private:
  static GstPadProbeReturn on_event(GstPad* pad, GstPadProbeInfo* info, gpointer refusals) noexcept;

  GstElement* element_;
  bool reported_ = false; ///< in this attempt
  std::string reason_;    ///< of the last error; empty: none
  GstPtr<GstCaps> sink_caps_;
  GstPtr<GstCaps> src_caps_;
};

} // namespace simaai::gst
