// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares what comes back from the tiles with the rounded input, bit for bit, on a sample of frames.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include <gst/gst.h>

namespace simaai::demo {

/// Watches the sink pad of simaaicasttess and the source pad of simaaidetesscast. Frames are paired by order and
/// timestamp; a frame that was dropped in between is not counted. Thread-safe.
class FrameCheck {
public:
  explicit FrameCheck(unsigned check_every) : check_every_(check_every) {}

  /// Installs the probes. The pads belong to the pipeline, which must not outlive this object in PLAYING.
  void attach(GstPad* before, GstPad* after);

  [[nodiscard]] std::uint64_t frames() const;  ///< frames that came back
  [[nodiscard]] std::uint64_t checked() const; ///< frames compared
  [[nodiscard]] std::uint64_t values() const;  ///< values compared
  [[nodiscard]] std::string failure() const;   ///< first difference; empty: none

private:
  struct Expected {
    GstClockTime pts;
    std::uint64_t number;
    std::vector<std::uint32_t> bits; ///< empty: a frame outside the sample
  };

  static GstPadProbeReturn on_before(GstPad* pad, GstPadProbeInfo* info, gpointer self) noexcept;
  static GstPadProbeReturn on_after(GstPad* pad, GstPadProbeInfo* info, gpointer self) noexcept;
  void remember(GstPad* pad, GstBuffer* buffer);
  void compare(GstPad* pad, GstBuffer* buffer);
  void fail(const std::string& reason);

  const unsigned check_every_;
  mutable std::mutex mutex_; ///< protects what follows
  std::deque<Expected> pending_;
  std::uint64_t sent_ = 0;
  std::uint64_t frames_ = 0;
  std::uint64_t checked_ = 0;
  std::uint64_t values_ = 0;
  std::string failure_;
};

} // namespace simaai::demo
