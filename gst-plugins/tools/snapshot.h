// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps one frame of a pad and saves it as PNG.
#pragma once

#include <mutex>
#include <string>

#include <gst/gst.h>

#include "common/gst_ptr.h"

namespace simaai::demo {

/// Copies frame number kFrame of a video pad, or the first one where the stream is shorter. Thread-safe.
class Snapshot {
public:
  static constexpr unsigned kFrame = 30;

  void attach(GstPad* pad);
  /// Writes a PNG. Returns the reason of a failure, or nothing.
  [[nodiscard]] std::string save(const std::string& path) const;

private:
  static GstPadProbeReturn on_buffer(GstPad* pad, GstPadProbeInfo* info, gpointer self) noexcept;

  mutable std::mutex mutex_; ///< protects what follows
  unsigned seen_ = 0;
  gst::GstPtr<GstSample> sample_;
};

} // namespace simaai::demo
