// SPDX-License-Identifier: LGPL-2.1-or-later
// GObject side of simaainpysink: properties, caps, one file a buffer.
#include "gstsimaainpysink.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "common/caps_spec.h"
#include "common/element_stats.h"
#include "common/errors.h"
#include "common/gst_ptr.h"
#include "npy_writer.h"
#include "npysrc/file_series.h"
#include "part_file.h"

GST_DEBUG_CATEGORY_STATIC(gst_simaai_npy_sink_debug);
#define GST_CAT_DEFAULT gst_simaai_npy_sink_debug

namespace {

using namespace simaai::gst;

struct NpySinkPrivate {
  // Object lock: the application may read `index` while buffers are written.
  std::string location;
  std::int64_t index = 0;
  bool post_messages = false;
  // Streaming thread.
  FileSeries series;
  std::optional<NpyWriter> writer;
  ElementStats stats;
};

} // namespace

struct _GstSimaaiNpySink {
  GstBaseSink parent;
  NpySinkPrivate* priv;
};

#define gst_simaai_npy_sink_parent_class parent_class
G_DEFINE_FINAL_TYPE(GstSimaaiNpySink, gst_simaai_npy_sink, GST_TYPE_BASE_SINK)
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(
    simaainpysink, "simaainpysink", GST_RANK_NONE, GST_TYPE_SIMAAI_NPY_SINK,
    GST_DEBUG_CATEGORY_INIT(gst_simaai_npy_sink_debug, "simaainpysink", 0, "numpy file sink"))

namespace {

enum Property : guint { PropLocation = 1, PropIndex, PropPostMessages, PropStats };

GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS("application/vnd.simaai.tensor"));

NpySinkPrivate& priv_of(gpointer object) noexcept { return *GST_SIMAAI_NPY_SINK(object)->priv; }

void fail(GstBaseSink* sink, ErrorKind kind, std::string reason, const GstCaps* caps = nullptr) {
  Report report;
  report.reason = std::move(reason);
  report.sink_caps = caps;
  post_error(GST_ELEMENT_CAST(sink), kind, report);
}

/// What the type of the property and of the message can say of it.
int shown(std::int64_t index) noexcept {
  return static_cast<int>(std::min<std::int64_t>(index, G_MAXINT));
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) noexcept {
  NpySinkPrivate& priv = priv_of(object);
  const ObjectLock lock(object);
  switch (id) {
  case PropLocation: {
    const char* location = g_value_get_string(value);
    priv.location = location != nullptr ? location : "";
    break;
  }
  case PropIndex:
    priv.index = g_value_get_int(value);
    break;
  case PropPostMessages:
    priv.post_messages = g_value_get_boolean(value) != FALSE;
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) noexcept {
  const NpySinkPrivate& priv = priv_of(object);
  if (id == PropStats) {
    GstStructure* stats = priv.stats.structure_with_conversions();
    priv.stats.describe_memory(stats);
    g_value_take_boxed(value, stats);
    return;
  }
  const ObjectLock lock(object);
  switch (id) {
  case PropLocation:
    g_value_set_string(value, priv.location.c_str());
    break;
  case PropIndex:
    g_value_set_int(value, shown(priv.index));
    break;
  case PropPostMessages:
    g_value_set_boolean(value, priv.post_messages);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

gboolean start(GstBaseSink* sink) noexcept {
  NpySinkPrivate& priv = priv_of(sink);
  priv.stats.reset();
  std::string location;
  std::int64_t index = 0;
  {
    const ObjectLock lock(sink);
    location = priv.location;
    index = priv.index;
  }
  if (location.empty()) {
    fail(sink, ErrorKind::Settings,
         "property location: expected the name of a .npy file, found nothing");
    return FALSE;
  }
  auto series = FileSeries::parse(location);
  if (const auto* refused = std::get_if<SeriesError>(&series)) {
    fail(sink, ErrorKind::Settings, "property " + refused->reason);
    return FALSE;
  }
  priv.series = std::get<FileSeries>(std::move(series));
  const auto place = find_file_place(priv.series.path(index));
  if (const auto* refused = std::get_if<std::string>(&place)) {
    fail(sink, ErrorKind::OpenWrite, *refused);
    return FALSE;
  }
  return TRUE;
}

gboolean stop(GstBaseSink* sink) noexcept {
  priv_of(sink).writer.reset();
  return TRUE;
}

gboolean set_caps(GstBaseSink* sink, GstCaps* caps) noexcept {
  NpySinkPrivate& priv = priv_of(sink);
  priv.writer.reset();
  const auto parsed = parse_tensor(*caps);
  if (const auto* refused = std::get_if<CapsError>(&parsed)) {
    fail(sink, ErrorKind::Negotiation, refused->reason, caps);
    return FALSE;
  }
  auto made = NpyWriter::make(std::get<TensorInfo>(parsed).spec);
  if (const auto* refused = std::get_if<std::string>(&made)) {
    fail(sink, ErrorKind::Negotiation, *refused, caps);
    return FALSE;
  }
  priv.writer = std::get<NpyWriter>(std::move(made));
  if (priv.writer->gathers())
    priv.stats.count_allocation();
  return TRUE;
}

/// Same fields as the message of multifilesink.
void announce(GstBaseSink* sink, GstBuffer* buffer, const std::string& path, std::int64_t index) {
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  const GstSegment* segment = &sink->segment;
  const guint64 running = gst_segment_to_running_time(segment, GST_FORMAT_TIME, pts);
  const guint64 stream = gst_segment_to_stream_time(segment, GST_FORMAT_TIME, pts);
  post_notice(GST_ELEMENT_CAST(sink),
              gst_structure_new("simaai-npy-file", "filename", G_TYPE_STRING, path.c_str(), "index",
                                G_TYPE_INT, shown(index), "timestamp", G_TYPE_UINT64, pts,
                                "stream-time", G_TYPE_UINT64, stream, "running-time", G_TYPE_UINT64,
                                running, "duration", G_TYPE_UINT64, GST_BUFFER_DURATION(buffer),
                                nullptr));
}

bool write_buffer(GstBaseSink* sink, NpySinkPrivate& priv, GstBuffer* buffer,
                  const std::string& path) {
  NpyWriter& writer = *priv.writer;
  const std::uint64_t found = gst_buffer_get_size(buffer);
  if (found < writer.needed_bytes()) {
    Report report;
    report.reason = "the buffer is shorter than its caps say";
    const GstPtr<GstCaps> caps(gst_pad_get_current_caps(GST_BASE_SINK_PAD(sink)));
    report.sink_caps = caps.get();
    report.needed_bytes = writer.needed_bytes();
    report.found_bytes = found;
    post_error(GST_ELEMENT_CAST(sink), ErrorKind::Data, report);
    return false;
  }
  priv.stats.note_memory(buffer);
  const bool merges = gst_buffer_n_memory(buffer) > 1; // mapping makes one of them
  GstMapInfo map;
  if (gst_buffer_map(buffer, &map, GST_MAP_READ) == FALSE) {
    fail(sink, ErrorKind::Resource, "cannot map the buffer for reading");
    return false;
  }
  const auto failed = writer.write(path, {reinterpret_cast<const std::byte*>(map.data), map.size});
  gst_buffer_unmap(buffer, &map);
  if (merges)
    priv.stats.count_copy();
  if (failed)
    fail(sink, ErrorKind::Write, *failed);
  return !failed;
}

GstFlowReturn render(GstBaseSink* sink, GstBuffer* buffer) noexcept {
  NpySinkPrivate& priv = priv_of(sink);
  if (!priv.writer)
    return GST_FLOW_NOT_NEGOTIATED;
  std::int64_t index = 0;
  bool post_messages = false;
  {
    const ObjectLock lock(sink);
    index = priv.index;
    post_messages = priv.post_messages;
  }
  const std::string path = priv.series.path(index);
  const GstClockTime begun = gst_util_get_timestamp();
  if (!write_buffer(sink, priv, buffer, path))
    return GST_FLOW_ERROR;
  if (priv.writer->gathers())
    priv.stats.count_conversion();
  priv.stats.count_frame(priv.writer->needed_bytes(), priv.writer->file_bytes(),
                         gst_util_get_timestamp() - begun);
  {
    const ObjectLock lock(sink);
    ++priv.index;
  }
  if (post_messages)
    announce(sink, buffer, path, index);
  return GST_FLOW_OK;
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_NPY_SINK(object)->priv;
  G_OBJECT_CLASS(gst_simaai_npy_sink_parent_class)->finalize(object);
}

void install_properties(GObjectClass* klass) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      klass, PropLocation,
      g_param_spec_string("location", "Location",
                          "File to write, replaced by each tensor; or a pattern with one %d, %5d "
                          "or %05d for a file a tensor; %% stands for a percent sign",
                          "", static_cast<GParamFlags>(flags | GST_PARAM_MUTABLE_READY)));
  g_object_class_install_property(
      klass, PropIndex,
      g_param_spec_int("index", "Index",
                       "Number of the next file of a series; grows by one with each tensor. Beyond "
                       "2147483647 files go on being numbered, this value stays",
                       0, G_MAXINT, 0,
                       static_cast<GParamFlags>(flags | GST_PARAM_MUTABLE_PLAYING)));
  g_object_class_install_property(
      klass, PropPostMessages,
      g_param_spec_boolean("post-messages", "Post messages",
                           "Post an element message simaai-npy-file for each file, when it is "
                           "complete",
                           FALSE, static_cast<GParamFlags>(flags | GST_PARAM_MUTABLE_PLAYING)));
  install_stats_property(
      klass, PropStats,
      "Counters since the element was started: frames (files), bytes-in (of tensors), bytes-out "
      "(of "
      "files), copies (buffers in several memories), conversions (strided tensors, put in order), "
      "allocations (of the block for that), p50-ns, p95-ns, p99-ns and max-ns of writing a file "
      "(all uint64); memory (string) of the buffers");
}

} // namespace

static void gst_simaai_npy_sink_class_init(GstSimaaiNpySinkClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_set_static_metadata(
      element_class, "Tensor sink for numpy files", "Sink/File/Tensor",
      "Writes each tensor to a .npy file: linear ones in row-major order, tiled ones as physical "
      "bytes",
      "SimaKernels");

  auto* base_class = GST_BASE_SINK_CLASS(klass);
  base_class->start = start;
  base_class->stop = stop;
  base_class->set_caps = set_caps;
  base_class->render = render;
}

static void gst_simaai_npy_sink_init(GstSimaaiNpySink* self) {
  self->priv = new NpySinkPrivate();
  gst_base_sink_set_sync(GST_BASE_SINK(self), FALSE);
}
