// SPDX-License-Identifier: LGPL-2.1-or-later
// Element latencybehaviour: does with its buffers what a test says.
#pragma once

#include <functional>
#include <memory>

#include <gst/gst.h>

#include "common/gst_ptr.h"

namespace simaai::latency::test {

using BufferPtr = gst::GstPtr<GstBuffer>;

/// What an element does. Calls for one element never overlap.
class Behaviour {
public:
  Behaviour() = default;
  virtual ~Behaviour() = default;
  Behaviour(const Behaviour&) = delete;
  Behaviour& operator=(const Behaviour&) = delete;

  /// A buffer came in at sink pad `input`.
  virtual GstFlowReturn take(unsigned input, BufferPtr buffer) = 0;
  /// All inputs have ended.
  virtual void finish() {}

  GstPad* source = nullptr;

protected:
  GstFlowReturn push(BufferPtr buffer) { return gst_pad_push(source, buffer.release()); }
};

/// Makes the element known to gst_parse_launch(), once.
void register_behaviour_element();

/// Gives the element its behaviour. It has one sink pad; `inputs` above 1 adds sink_1, sink_2, ...
void set_behaviour(GstElement* element, std::unique_ptr<Behaviour> behaviour, unsigned inputs = 1);

/// Behaviour of a function that gets the buffer and pushes what it wants.
std::unique_ptr<Behaviour>
each(std::function<GstFlowReturn(GstPad* source, BufferPtr buffer)> take);

/// Keeps the latest `count` buffers, pushes the oldest one when one more comes.
std::unique_ptr<Behaviour> holds(std::size_t count);
/// Pushes buffers in pairs, the second one first.
std::unique_ptr<Behaviour> swaps_pairs();
/// Pushes new buffers with the timestamp of the input, or without one, after the input has ended.
std::unique_ptr<Behaviour> makes_new(bool with_timestamp);
/// A new buffer for each one of input 0, with its timestamp, when the latest input 1 that is not
/// later is there too.
std::unique_ptr<Behaviour> combines_two();

} // namespace simaai::latency::test
