// SPDX-License-Identifier: LGPL-2.1-or-later
// Asks the sinks of a pipeline for their states, and the recorder for what arrived.
#include "waiting.h"

#include <map>

#include "common/gst_ptr.h"
#include "tracers/names.h"
#include "tracers/report.h"

namespace simaai::latency {

namespace {

void add_name(const GValue* item, gpointer data) noexcept {
  auto* element = GST_ELEMENT_CAST(g_value_get_object(item));
  if (GST_IS_BIN(element) || !GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK) ||
      gst_element_get_state(element, nullptr, nullptr, 0) != GST_STATE_CHANGE_ASYNC)
    return;
  auto& names = *static_cast<std::string*>(data);
  names.append(names.empty() ? "" : ", ").append(reported_name(GST_OBJECT_CAST(element)));
}

std::string sinks_without_buffer(GstElement* pipeline) {
  std::string names;
  GstIterator* elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  while (gst_iterator_foreach(elements, &add_name, &names) == GST_ITERATOR_RESYNC) {
    names.clear();
    gst_iterator_resync(elements);
  }
  gst_iterator_free(elements);
  return names;
}

} // namespace

std::string waited_for(GstElement* pipeline, const Recorder* recorder, std::uint64_t samples) {
  const std::string names = sinks_without_buffer(pipeline);
  if (!names.empty())
    return "a first buffer at " + names;
  if (recorder == nullptr)
    return "a first buffer";
  const Report report = make_report(*recorder, {}, false);
  std::map<std::string, std::uint64_t> frames;
  for (const ElementReport& element : report.elements) {
    if (element.role == "sink") {
      for (const InputReport& input : element.inputs)
        frames[element.name + ":" + input.pad] = 0;
    }
  }
  for (const PathReport& path : report.paths)
    frames[path.sink] += path.frames;
  const std::string all = samples != 0 ? " of " + std::to_string(samples) : "";
  std::string text;
  for (const auto& [sink, count] : frames)
    text.append(text.empty() ? "" : ", ")
        .append(sink)
        .append(" has ")
        .append(std::to_string(count))
        .append(all)
        .append(" frames");
  return "a further frame: " + (text.empty() ? "no sink has one" : text);
}

} // namespace simaai::latency
