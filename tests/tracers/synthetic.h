// SPDX-License-Identifier: LGPL-2.1-or-later
// A pipeline of made-up pads and times for the accounting.
#pragma once

#include <string>

#include "tracers/recorder.h"
#include "tracers/report.h"

namespace simaai::latency::test {

/// One thread that moves buffers between pads at the times that it is told.
class Synthetic {
public:
  explicit Synthetic(const Settings& settings = {}) : recorder(settings) {}

  Pad& source(const std::string& element) {
    return *recorder.add_pad(make(element, false), "src", Direction::Source);
  }
  Pad& sink(const std::string& element, bool ends = false) {
    return *recorder.add_pad(make(element, ends), "sink", Direction::Sink);
  }
  /// A further pad of the same element.
  Pad& also(const Pad& pad, const std::string& name, Direction direction) {
    return *recorder.add_pad(*pad.element, name, direction);
  }

  /// A buffer leaves `from` and enters `to`; the call into `to` begins.
  FrameTag push(std::uint64_t now, Pad& from, Pad& to, Identity identity, bool carries = true) {
    const FrameTag tag = recorder.leave(stack, now, from, identity);
    identity.tag = carries ? tag : FrameTag{};
    recorder.enter(stack, now, to, tag, identity);
    Recorder::begin(stack, now, &to, tag, 1);
    if (carries)
      last = tag;
    return tag;
  }
  void back(std::uint64_t now) { Recorder::end(stack, now); }

  [[nodiscard]] Report report() const { return make_report(recorder, "synthetic", true); }

  Recorder recorder;
  CallStack stack;
  FrameTag last;

private:
  Element& make(const std::string& name, bool ends) {
    return *recorder.add_element(name, name, ends);
  }
};

/// A buffer that carries a tag.
inline Identity tagged(const FrameTag& tag, std::uint64_t timestamp = kNoTimestamp,
                       std::uint64_t pointer = 64) {
  return {tag, timestamp, pointer};
}
/// A buffer that carries none.
inline Identity plain(std::uint64_t timestamp = kNoTimestamp, std::uint64_t pointer = 64) {
  return {{}, timestamp, pointer};
}

} // namespace simaai::latency::test
