// SPDX-License-Identifier: LGPL-2.1-or-later
// Pipelines of two elements.
#include "run.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include <gst/app/app.h>

namespace simaai::test {
namespace {

namespace fs = std::filesystem;

GstElement* make(const char* factory, const std::vector<Setting>& settings) {
  GstElement* element = gst_element_factory_make(factory, nullptr);
  EXPECT_NE(element, nullptr) << factory;
  for (const auto& [name, value] : settings)
    gst_util_set_object_arg(G_OBJECT(element), name.c_str(), value.c_str());
  return element;
}

/// Source and sink, linked.
class Pipeline {
public:
  Pipeline(GstElement* source, GstElement* sink) : pipeline_(gst_pipeline_new(nullptr)) {
    gst_object_ref_sink(pipeline_.get());
    gst_bin_add_many(GST_BIN(pipeline_.get()), source, sink, nullptr);
    EXPECT_TRUE(gst_element_link(source, sink));
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

  void play() { gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING); }

  /// Until the end or an error; 20 s without either is a failure.
  void wait(Outcome& outcome) {
    const GstPtr<GstBus> bus(gst_element_get_bus(pipeline_.get()));
    const auto types =
        static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
    while (true) {
      const GstPtr<GstMessage> message(
          gst_bus_timed_pop_filtered(bus.get(), 20 * GST_SECOND, types));
      if (message == nullptr) {
        ADD_FAILURE() << "neither end nor error";
        return;
      }
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ELEMENT) {
        outcome.messages.emplace_back(gst_structure_copy(gst_message_get_structure(message.get())));
        continue;
      }
      if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR)
        keep_error(message.get(), outcome);
      return;
    }
  }

private:
  static void keep_error(GstMessage* message, Outcome& outcome) {
    GError* raw = nullptr;
    gst_message_parse_error(message, &raw, nullptr);
    const GstPtr<GError> error(raw);
    outcome.error = error->message;
    outcome.domain = error->domain;
    outcome.code = error->code;
    const GstStructure* details = nullptr;
    gst_message_parse_error_details(message, &details);
    const char* reason = details != nullptr ? gst_structure_get_string(details, "reason") : nullptr;
    outcome.details = reason != nullptr ? reason : "";
  }

  GstPtr<GstElement> pipeline_;
};

GstPtr<GstStructure> stats_of(GstElement* element) {
  GstStructure* raw = nullptr;
  g_object_get(element, "stats", &raw, nullptr);
  return GstPtr<GstStructure>(raw);
}

Bytes bytes_of(GstBuffer* buffer) {
  Bytes bytes(gst_buffer_get_size(buffer));
  if (!bytes.empty())
    gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

} // namespace

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "simaai-npy-XXXXXX").string();
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::vector<std::string> TempFolder::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Outcome run_source(const std::vector<Setting>& settings, const std::string& accepted) {
  Outcome outcome;
  GstElement* sink = make("appsink", {{"sync", "false"}, {"wait-on-eos", "false"}});
  if (accepted != "ANY") {
    const GstPtr<GstCaps> caps(gst_caps_from_string(accepted.c_str()));
    gst_app_sink_set_caps(GST_APP_SINK(sink), caps.get());
  }
  GstElement* source = make("simaainpysrc", settings);
  Pipeline pipeline(source, sink);
  pipeline.play();
  pipeline.wait(outcome);
  outcome.stats = stats_of(source);
  while (true) {
    const GstPtr<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(sink), 0));
    if (sample == nullptr)
      return outcome;
    GstBuffer* buffer = gst_sample_get_buffer(sample.get());
    outcome.buffers.push_back({GstPtr<GstCaps>(gst_caps_ref(gst_sample_get_caps(sample.get()))),
                               bytes_of(buffer), GST_BUFFER_PTS(buffer),
                               GST_BUFFER_DURATION(buffer)});
  }
}

Outcome run_sink(const std::vector<Setting>& settings, const std::vector<Input>& inputs) {
  Outcome outcome;
  GstElement* source = make("appsrc", {{"format", "time"}});
  GstElement* sink = make("simaainpysink", settings);
  Pipeline pipeline(source, sink);
  pipeline.play();
  GstClockTime pts = 0;
  for (const auto& input : inputs) {
    const GstPtr<GstCaps> caps(gst_caps_from_string(input.caps.c_str()));
    EXPECT_NE(caps, nullptr) << input.caps;
    const std::size_t first = input.first_memory_bytes;
    const GstPtr<GstBuffer> buffer(gst_buffer_new());
    for (const std::size_t bytes : {first, input.bytes.size() - first})
      if (bytes != 0)
        gst_buffer_append_memory(buffer.get(), gst_allocator_alloc(nullptr, bytes, nullptr));
    gst_buffer_fill(buffer.get(), 0, input.bytes.data(), input.bytes.size());
    GST_BUFFER_PTS(buffer.get()) = pts;
    GST_BUFFER_DURATION(buffer.get()) = GST_MSECOND;
    pts += GST_MSECOND;
    const GstPtr<GstSample> sample(gst_sample_new(buffer.get(), caps.get(), nullptr, nullptr));
    gst_app_src_push_sample(GST_APP_SRC(source), sample.get());
  }
  gst_app_src_end_of_stream(GST_APP_SRC(source));
  pipeline.wait(outcome);
  outcome.stats = stats_of(sink);
  g_object_get(sink, "index", &outcome.index, nullptr);
  return outcome;
}

void write_file(const std::string& path, const Bytes& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(file.good()) << path;
}

std::uint64_t stat(const Outcome& outcome, const char* field) {
  guint64 value = 0;
  EXPECT_TRUE(gst_structure_get_uint64(outcome.stats.get(), field, &value)) << field;
  return value;
}

Bytes read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string text_of(const GstCaps* caps) {
  const gst::GTextPtr text(gst_caps_to_string(caps));
  return text.get();
}

bool caps_are(const GstCaps* caps, const std::string& fields) {
  const GstPtr<GstCaps> wanted(
      gst_caps_from_string(("application/vnd.simaai.tensor," + fields).c_str()));
  EXPECT_NE(wanted, nullptr) << fields;
  return gst_caps_is_equal(caps, wanted.get()) != FALSE;
}

} // namespace simaai::test
