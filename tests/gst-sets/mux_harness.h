// SPDX-License-Identifier: LGPL-2.1-or-later
// A multiplexer between pads of the test.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gst/gst.h>

#include "pads.h"

namespace simaai::test {

/// What a pad gets: bytes that say which pad and buffer it was.
struct Timed {
  GstClockTime pts;
  GstClockTime duration = GST_CLOCK_TIME_NONE;
};

/// Number of the buffer whose memory a set has there.
inline int memory_mark(GstBuffer* set, guint index) {
  const gst::MapGuard map(gst_buffer_peek_memory(set, index), GST_MAP_READ);
  return map && map.size() == 4 ? map.data()[1] : -1;
}

class Mux {
public:
  /// `pads` sink pads, or none: they are requested later. `live`: sources that do not wait.
  explicit Mux(std::size_t pads, bool live = false,
               const std::vector<std::pair<const char*, const char*>>& properties = {})
      : element_(gst_element_factory_make("simaaitensormux", nullptr)) {
    gst_object_ref_sink(element_.get());
    gst_element_set_bus(element_.get(), bus_.get());
    for (const auto& [name, value] : properties)
      gst_util_set_object_arg(G_OBJECT(element_.get()), name, value);
    const gst::GstPtr<GstPad> source(gst_element_get_static_pad(element_.get(), "src"));
    out = std::make_unique<Collector>(source.get());
    for (std::size_t i = 0; i < pads; ++i)
      add_pad(("sink_" + std::to_string(i)).c_str(), live);
    if (!live)
      gst_element_set_state(element_.get(), GST_STATE_PLAYING);
  }
  ~Mux() {
    gst_element_set_state(element_.get(), GST_STATE_NULL);
    in.clear();
    out.reset();
    gst_element_set_bus(element_.get(), nullptr);
  }
  Mux(const Mux&) = delete;
  Mux& operator=(const Mux&) = delete;

  [[nodiscard]] GstElement* element() const { return element_.get(); }
  Feeder& add_pad(const char* name, bool live = false) {
    const gst::GstPtr<GstPad> pad(gst_element_request_pad_simple(element_.get(), name));
    if (pad == nullptr)
      g_error("pad %s is refused", name);
    in.push_back(std::make_unique<Feeder>(pad.get(), live));
    return *in.back();
  }
  void set_pad(const char* name, const char* property, const char* value) {
    const gst::GstPtr<GstPad> pad(gst_element_get_static_pad(element_.get(), name));
    gst_util_set_object_arg(G_OBJECT(pad.get()), property, value);
  }
  std::vector<std::string> errors() {
    std::vector<std::string> texts;
    while (GstMessage* message = gst_bus_pop(bus_.get())) {
      if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
        texts.push_back(error_text(message));
      gst_message_unref(message);
    }
    return texts;
  }
  /// Waits for the first one.
  std::string error() {
    const gst::GstPtr<GstMessage> message(
        gst_bus_timed_pop_filtered(bus_.get(), 10 * GST_SECOND, GST_MESSAGE_ERROR));
    return message ? error_text(message.get()) : "";
  }
  /// The first one that waits; empty where there is none.
  std::string warning() {
    const gst::GstPtr<GstMessage> message(gst_bus_pop_filtered(bus_.get(), GST_MESSAGE_WARNING));
    if (message == nullptr)
      return {};
    GError* raw = nullptr;
    gst_message_parse_warning(message.get(), &raw, nullptr);
    const gst::GstPtr<GError> warning(raw);
    return warning->message;
  }
  [[nodiscard]] std::uint64_t stat(const char* field) const {
    GstStructure* raw = nullptr;
    g_object_get(element_.get(), "stats", &raw, nullptr);
    const gst::GstPtr<GstStructure> stats(raw);
    guint64 value = 0;
    if (!gst_structure_get_uint64(stats.get(), field, &value))
      g_error("stats has no uint64 field %s", field);
    return value;
  }

  /// Four bytes: the pad, and the number of the buffer.
  static gst::GstPtr<GstBuffer> mark(std::size_t pad, std::size_t number) {
    return buffer_of(
        Bytes{static_cast<std::uint8_t>(pad), static_cast<std::uint8_t>(number), 0, 0});
  }
  static std::string mark_caps(const char* more = "") {
    return std::string("application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=<4>") +
           more;
  }
  /// Starts every pad and feeds each from a thread of its own, then sends EOS.
  void run(const std::vector<std::vector<Timed>>& streams, const char* more_caps = "") {
    std::vector<std::thread> threads;
    for (std::size_t pad = 0; pad < streams.size(); ++pad)
      threads.emplace_back([this, pad, &streams, more_caps] {
        in[pad]->start(mark_caps(more_caps));
        for (std::size_t i = 0; i < streams[pad].size(); ++i)
          in[pad]->push(mark(pad, i), streams[pad][i].pts, streams[pad][i].duration);
        in[pad]->event(gst_event_new_eos());
      });
    (void)out->await_event(GST_EVENT_EOS);
    for (std::thread& thread : threads)
      thread.join();
  }
  /// Numbers of the buffers of each set that came, by pad; checks that pads are in order.
  std::vector<std::vector<int>> sets() {
    std::vector<std::vector<int>> all;
    while (out->waiting() > 0) {
      const auto set = out->next();
      all.emplace_back();
      for (guint i = 0; i < gst_buffer_n_memory(set.get()); ++i) {
        const gst::MapGuard map(gst_buffer_peek_memory(set.get(), i), GST_MAP_READ);
        all.back().push_back(map && map.size() == 4 && map.data()[0] == i ? map.data()[1] : -1);
      }
      times.push_back(GST_BUFFER_PTS(set.get()));
      durations.push_back(GST_BUFFER_DURATION(set.get()));
    }
    return all;
  }

  std::vector<std::unique_ptr<Feeder>> in;
  std::unique_ptr<Collector> out;
  std::vector<GstClockTime> times;     ///< of the sets that sets() gave
  std::vector<GstClockTime> durations; ///< of these

private:
  gst::GstPtr<GstElement> element_;
  gst::GstPtr<GstBus> bus_{gst_bus_new()};
};

} // namespace simaai::test
