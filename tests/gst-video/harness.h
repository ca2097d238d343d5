// SPDX-License-Identifier: LGPL-2.1-or-later
// GstHarness with its bus, and the caps that come out of it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gst/check/gstharness.h>
#include <gst/gst.h>

#include "gst-plugins/common/gst_ptr.h"

namespace simaai::test {

using gst::GstPtr;

/// A property as text, in the syntax of gst-launch.
using Setting = std::pair<const char*, std::string>;

/// One element between two pads of the test. Pads are active, the element plays.
class ElementHarness {
public:
  ElementHarness(const char* factory, const std::vector<Setting>& settings = {});
  ElementHarness(const ElementHarness&) = delete;
  ElementHarness& operator=(const ElementHarness&) = delete;
  ~ElementHarness();

  /// What the downstream peer accepts. To be called before caps are pushed.
  void accept(const std::string& caps);
  /// Pushes stream-start, caps and segment; false where the element refuses the caps.
  bool push_caps(const std::string& caps);
  GstFlowReturn push(GstPtr<GstBuffer> buffer);
  /// The next output buffer, which must be there already.
  GstPtr<GstBuffer> pull();
  /// Caps of the source pad as they are now; null before they are known.
  GstPtr<GstCaps> caps() const;
  /// Caps events that reached downstream so far.
  unsigned caps_events();
  /// Text of the first error on the bus, empty without one.
  std::string error();
  guint64 stat(const char* field) const;
  GstElement* element() const { return harness_->element; }
  GstHarness* get() const { return harness_; }

private:
  GstHarness* harness_ = nullptr;
  GstPtr<GstBus> bus_;
  unsigned caps_events_ = 0;
};

} // namespace simaai::test
