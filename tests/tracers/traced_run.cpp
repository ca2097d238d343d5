// SPDX-License-Identifier: LGPL-2.1-or-later
// One tracer serves all runs of a test program.
#include "traced_run.h"

#include <stdexcept>

#include "tracers/gstsimaailatencytracer.h"

namespace simaai::latency::test {

namespace {

Tracing& tracing() {
  static Tracing& started = start_tracing({});
  return started;
}

} // namespace

PlainRun::PlainRun(const std::string& text) {
  register_behaviour_element();
  GError* raw_error = nullptr;
  pipeline_.reset(gst_parse_launch(text.c_str(), &raw_error));
  const gst::GstPtr<GError> error(raw_error);
  if (error)
    throw std::runtime_error(error->message);
}

PlainRun::~PlainRun() { state(GST_STATE_NULL); }

TracedRun::TracedRun(const std::string& text, const Settings& settings) : PlainRun(text) {
  configure(tracing(), settings, [this](const Report& report) { reports_.push_back(report); });
}

TracedRun::~TracedRun() {
  state(GST_STATE_NULL);
  configure(tracing(), {}, [](const Report&) {});
}

GstElement* PlainRun::element(const char* name) const {
  const gst::GstPtr<GstElement> found(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
  if (!found)
    throw std::runtime_error(std::string("no element ") + name);
  return found.get();
}

void PlainRun::state(GstState state) const {
  gst_element_set_state(pipeline_.get(), state);
  gst_element_get_state(pipeline_.get(), nullptr, nullptr, GST_CLOCK_TIME_NONE);
}

bool PlainRun::play() const {
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  const gst::GstPtr<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  const gst::GstPtr<GstMessage> message(
      gst_bus_timed_pop_filtered(bus.get(), GST_CLOCK_TIME_NONE,
                                 static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  return GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_EOS;
}

const Recorder* TracedRun::recorder() const { return running(tracing(), pipeline_.get()); }

const Report& TracedRun::stop() {
  state(GST_STATE_NULL);
  if (reports_.empty())
    throw std::runtime_error("no report");
  return reports_.back();
}

const ElementReport& element_of(const Report& report, const std::string& name) {
  for (const ElementReport& element : report.elements) {
    if (element.name == name)
      return element;
  }
  throw std::runtime_error("no element " + name + " in the report");
}

} // namespace simaai::latency::test
