// SPDX-License-Identifier: LGPL-2.1-or-later
// Registers the hooks and reads the parameters of GST_TRACERS.
#include "gstsimaailatencytracer.h"

#include <algorithm>
#include <bit>
#include <string>

#include "common/gst_ptr.h"
#include "names.h"
#include "tracing.h"
#include "type_name.h"

struct GstSimaaiLatencyTracer {
  GstTracer parent;
  simaai::latency::Tracing* tracing;
};

struct GstSimaaiLatencyTracerClass {
  GstTracerClass parent;
};

static gpointer gst_simaai_latency_tracer_parent_class = nullptr;
static GObject* hooked_tracer = nullptr; // tracers begin and end with GStreamer, on one thread

namespace simaai::latency {
namespace {

/// Spans kept where a form of output needs them and no number is given: 56 bytes each.
constexpr guint kDefaultSpans = 1U << 18;

Tracing& tracing_of(GObject* object) noexcept {
  return *reinterpret_cast<GstSimaaiLatencyTracer*>(object)->tracing;
}

void on_push(GObject* self, GstClockTime now, GstPad* pad, GstBuffer* buffer) noexcept {
  tracing_of(self).push(now, pad, buffer);
}
void on_push_list(GObject* self, GstClockTime now, GstPad* pad, GstBufferList* list) noexcept {
  tracing_of(self).push_list(now, pad, list);
}
void on_returned(GObject* /*self*/, GstClockTime now, GstPad* pad, GstFlowReturn result) noexcept {
  using Outcome = Recorder::Outcome;
  Tracing::returned(now, pad, result == GST_FLOW_FLUSHING ? Outcome::Flushing : Outcome::Taken);
}
void on_event_returned(GObject* /*self*/, GstClockTime now, GstPad* pad) noexcept {
  Tracing::returned(now, pad, Recorder::Outcome::Taken);
}
void on_pull(GObject* self, GstClockTime now, GstPad* pad) noexcept {
  tracing_of(self).pull(now, pad);
}
void on_pulled(GObject* self, GstClockTime now, GstPad* pad, GstBuffer* buffer,
               GstFlowReturn result) noexcept {
  tracing_of(self).pulled(now, pad, result == GST_FLOW_OK ? buffer : nullptr);
}
void on_event(GObject* self, GstClockTime now, GstPad* pad, GstEvent* event) noexcept {
  tracing_of(self).event(now, pad, event);
}
void on_changing_state(GObject* self, GstClockTime now, GstElement* element,
                       GstStateChange change) noexcept {
  tracing_of(self).changing_state(now, element, change);
}
void on_new_element(GObject* /*self*/, GstClockTime /*now*/, GstElement* element) noexcept {
  note_new_element(element);
}
void on_relinked() noexcept { Tracing::relinked(); }
void on_changed_state(GObject* self, GstClockTime /*now*/, GstElement* element,
                      GstStateChange change) noexcept {
  tracing_of(self).changed_state(element, change);
}

void register_hooks(GstTracer* tracer) {
  const auto hook = [tracer](const char* name, auto* function) {
    gst_tracing_register_hook(tracer, name, G_CALLBACK(function));
  };
  hook("pad-push-pre", &on_push);
  hook("pad-push-post", &on_returned);
  hook("pad-push-list-pre", &on_push_list);
  hook("pad-push-list-post", &on_returned);
  hook("pad-pull-range-pre", &on_pull);
  hook("pad-pull-range-post", &on_pulled);
  hook("pad-push-event-pre", &on_event);
  hook("pad-push-event-post", &on_event_returned);
  hook("pad-link-post", &on_relinked);
  hook("pad-unlink-post", &on_relinked);
  hook("element-change-state-pre", &on_changing_state);
  hook("element-change-state-post", &on_changed_state);
}

/// Takes a number out of the parameters; what is no number is left there, to be complained about. One that cannot be used
/// as it is becomes another, and that is said.
void take(GstStructure* parameters, const char* name, std::uint64_t& value,
          std::uint64_t (*usable)(std::uint64_t) = nullptr) {
  gint number = 0;
  if (gst_structure_get_int(parameters, name, &number) == FALSE || number < 0)
    return;
  value = static_cast<std::uint64_t>(number);
  gst_structure_remove_field(parameters, name);
  const std::uint64_t asked = value;
  if (usable != nullptr)
    value = usable(asked);
  if (value != asked)
    g_warning("simaailatency: %s is %s", name,
              (std::to_string(value) + ", not " + std::to_string(asked)).c_str());
}

void take(GstStructure* parameters, const char* name, std::string& value) {
  const gchar* text = gst_structure_get_string(parameters, name);
  if (text == nullptr)
    return;
  value = text;
  gst_structure_remove_field(parameters, name);
}

void read_parameters(const char* text, Settings& settings, Outputs& outputs) {
  const gst::GstPtr<GstStructure> parameters(
      gst_structure_from_string((std::string("simaailatency,") + text).c_str(), nullptr));
  if (!parameters) {
    g_warning("simaailatency: cannot read the parameters '%s'", text);
    return;
  }
  GstStructure* fields = parameters.get();
  gboolean exact = FALSE;
  if (gst_structure_get_boolean(fields, "exact", &exact) != FALSE)
    gst_structure_remove_field(fields, "exact");
  take(fields, "warmup", settings.warmup);
  take(fields, "samples", settings.samples);
  take(fields, "table", outputs.table);
  take(fields, "json", outputs.json);
  take(fields, "csv", outputs.csv);
  take(fields, "html", outputs.html);
  take(fields, "trace", outputs.trace);
  take(fields, "status", outputs.status);
  std::uint64_t window = settings.window;
  take(fields, "window", window, [](std::uint64_t asked) {
    return std::bit_ceil(std::clamp(asked, kLeastWindow, kMostWindow));
  });
  settings.window = window;
  std::uint64_t spans =
      exact != FALSE || !outputs.html.empty() || !outputs.trace.empty() ? kDefaultSpans : 0;
  take(fields, "spans", spans, [](std::uint64_t asked) { return std::min(asked, kMostSpans); });
  settings.spans = spans;
  if (share_a_file(outputs))
    g_warning("simaailatency: two outputs have the same file: the last one written stays");
  for (gint i = 0; i < gst_structure_n_fields(fields); ++i)
    g_warning("simaailatency: unknown parameter, or a value that it cannot have: %s",
              gst_structure_nth_field_name(fields, static_cast<guint>(i)));
}

} // namespace

Tracing& start_tracing(const Settings& settings) {
  auto* tracer = static_cast<GstTracer*>(g_object_new(GST_TYPE_SIMAAI_LATENCY_TRACER, nullptr));
  Tracing& tracing = tracing_of(G_OBJECT(tracer));
  gst_tracing_register_hook(tracer, "element-new", G_CALLBACK(&on_new_element));
  gst_object_unref(gst_object_ref_sink(tracer)); // each hook holds a reference
  tracing.set_parameters(settings, {});
  return tracing;
}

Recorder* running(Tracing& tracing, GstElement* pipeline) { return tracing.running(pipeline); }

void configure(Tracing& tracing, const Settings& settings,
               std::function<void(const Report&)> receiver) {
  tracing.set_receiver(settings, std::move(receiver));
}

} // namespace simaai::latency

static void gst_simaai_latency_tracer_init(GTypeInstance* instance, gpointer /*klass*/) {
  reinterpret_cast<GstSimaaiLatencyTracer*>(instance)->tracing = new simaai::latency::Tracing;
}

static void gst_simaai_latency_tracer_constructed(GObject* object) {
  using namespace simaai::latency;
  G_OBJECT_CLASS(gst_simaai_latency_tracer_parent_class)->constructed(object);
  gchar* raw_text = nullptr;
  g_object_get(object, "params", &raw_text, nullptr);
  const simaai::gst::GTextPtr text(raw_text);
  Settings settings;
  Outputs outputs;
  if (text && *text != '\0')
    read_parameters(text.get(), settings, outputs);
  tracing_of(object).set_parameters(settings, outputs);
  // Two would count the calls of one thread twice.
  if (hooked_tracer != nullptr) {
    g_warning("simaailatency: it traces this process already; its first parameters count");
    return;
  }
  hooked_tracer = object;
  register_hooks(GST_TRACER_CAST(object));
}

static void gst_simaai_latency_tracer_finalize(GObject* object) {
  if (hooked_tracer == object)
    hooked_tracer = nullptr;
  delete reinterpret_cast<GstSimaaiLatencyTracer*>(object)->tracing;
  G_OBJECT_CLASS(gst_simaai_latency_tracer_parent_class)->finalize(object);
}

static void gst_simaai_latency_tracer_class_init(gpointer klass, gpointer /*data*/) {
  gst_simaai_latency_tracer_parent_class = g_type_class_peek_parent(klass);
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->constructed = gst_simaai_latency_tracer_constructed;
  object_class->finalize = gst_simaai_latency_tracer_finalize;
}

GType gst_simaai_latency_tracer_get_type(void) {
  static const GType type_id = g_type_register_static_simple(
      GST_TYPE_TRACER, simaai::latency::free_type_name("GstSimaaiLatencyTracer").c_str(),
      sizeof(GstSimaaiLatencyTracerClass), &gst_simaai_latency_tracer_class_init,
      sizeof(GstSimaaiLatencyTracer), &gst_simaai_latency_tracer_init, GTypeFlags{});
  return type_id;
}
