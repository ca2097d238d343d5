// SPDX-License-Identifier: LGPL-2.1-or-later
// One element between two pads, with a bus of its own, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gst/check/gstharness.h>
#include <gst/gst.h>

#include "common/gst_ptr.h"

namespace simaai::test {

using Bytes = std::vector<std::uint8_t>;

/// Owns a GstHarness around one element. Failures to create stop the test program.
class ElementHarness {
public:
  /// `properties`: names and values as gst-launch would read them.
  explicit ElementHarness(const char* factory,
                          const std::vector<std::pair<const char*, const char*>>& properties = {});
  ~ElementHarness();
  ElementHarness(const ElementHarness&) = delete;
  ElementHarness& operator=(const ElementHarness&) = delete;

  [[nodiscard]] GstHarness* get() const { return harness_; }
  [[nodiscard]] GstElement* element() const { return harness_->element; }

  /// What downstream accepts; before any caps are sent.
  void accept_downstream(const char* caps);
  /// Sends stream-start (once), the caps and a segment. False where the caps are refused.
  bool send_caps(const std::string& caps);
  /// Caps that the element pushed downstream, as text without spaces in arrays; empty if none.
  [[nodiscard]] std::string output_caps() const;

  GstFlowReturn push(const Bytes& bytes);
  GstFlowReturn push(gst::GstPtr<GstBuffer> buffer);
  /// Content of the next output buffer; empty if there is none.
  Bytes pull();
  gst::GstPtr<GstBuffer> pull_buffer();

  /// Everything posted so far, in order; empties the bus.
  std::vector<gst::GstPtr<GstMessage>> take_messages();
  /// Texts of the ERROR messages among them.
  std::vector<std::string> take_errors();
  [[nodiscard]] std::uint64_t stat(const char* field) const;

private:
  GstHarness* harness_;
  gst::GstPtr<GstBus> bus_;
  bool started_ = false;
};

/// A writable buffer with one memory that holds these bytes behind `offset` unused ones.
gst::GstPtr<GstBuffer> buffer_of(const Bytes& bytes, std::size_t offset = 0);
Bytes bytes_of(GstBuffer* buffer);
std::string error_text(GstMessage* message);
/// True where every part occurs in the text.
bool mentions(const std::string& text, const std::vector<std::string>& parts);

} // namespace simaai::test
