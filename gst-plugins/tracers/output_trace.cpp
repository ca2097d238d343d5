// SPDX-License-Identifier: LGPL-2.1-or-later
// Reports as trace events: one row a thread with the calls, one row an element with the frames in it, one with its jobs.
#include <algorithm>
#include <cstdio>
#include <map>

#include "json_writer.h"
#include "output.h"

namespace simaai::latency {

namespace {

constexpr int kThreads = 1; ///< process of the calls
constexpr int kFrames = 2;  ///< process of the frames
constexpr int kJobs = 3;    ///< process of the jobs

std::string microseconds(std::uint64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%llu.%03llu", static_cast<unsigned long long>(ns / 1000),
                static_cast<unsigned long long>(ns % 1000));
  return text;
}

std::string name_event(const char* what, int process, std::uint32_t row, const std::string& name) {
  return R"({"ph": "M", "name": ")" + std::string(what) +
         "\", \"pid\": " + std::to_string(process) + ", \"tid\": " + std::to_string(row) +
         ", \"args\": {\"name\": " + JsonWriter::quoted(name) + "}}";
}

std::string common(const std::string& name, const char* phase, int process, std::uint32_t row,
                   std::uint64_t at_ns) {
  return "{\"name\": " + JsonWriter::quoted(name) + ", \"ph\": \"" + phase +
         "\", \"pid\": " + std::to_string(process) + ", \"tid\": " + std::to_string(row) +
         ", \"ts\": " + microseconds(at_ns);
}

/// Frames in one element overlap, so they are asynchronous events.
void add_residence(JsonWriter& json, const Span& span, const std::string& element) {
  const std::string id = ", \"cat\": \"frame\", \"id\": " + std::to_string(span.id);
  json.raw_item(common(element, "b", kFrames, span.pad, span.begin_ns) + id +
                ", \"args\": {\"frame\": " + std::to_string(span.id) +
                ", \"waiting_us\": " + microseconds(span.part_ns) + "}}");
  json.raw_item(common(element, "e", kFrames, span.pad, span.end_ns) + id + "}");
}

/// Jobs of several frames overlap too.
void add_job(JsonWriter& json, const Span& span, const char* part) {
  const std::string id = ", \"cat\": \"job\", \"id\": " + std::to_string(span.id);
  json.raw_item(common(part, "b", kJobs, span.pad, span.begin_ns) + id +
                ", \"args\": {\"frame\": " + std::to_string(span.id) + "}}");
  json.raw_item(common(part, "e", kJobs, span.pad, span.end_ns) + id + "}");
}

/// Names of the rows of jobs: element and device.
void add_job_rows(JsonWriter& json, const Report& report) {
  bool any = false;
  for (const ElementReport& element : report.elements) {
    for (std::uint32_t pad = 0; element.jobs && pad < report.pads.size(); ++pad) {
      if (report.pads[pad].element != element.name)
        continue;
      if (!any)
        json.raw_item(name_event("process_name", kJobs, 0, report.pipeline + ": jobs"));
      any = true;
      json.raw_item(
          name_event("thread_name", kJobs, pad, element.name + " on " + element.jobs->device));
    }
  }
}

} // namespace

std::string trace_text(const Report& report) {
  JsonWriter json;
  json.open('{');
  json.value("displayTimeUnit", "ms");
  json.open("otherData", '{');
  for (std::size_t i = 0; i < report.notes.size(); ++i)
    json.value("note " + std::to_string(i + 1), report.notes[i]);
  json.close('}');
  json.open("traceEvents", '[');
  json.raw_item(name_event("process_name", kThreads, 0, report.pipeline + ": threads"));
  json.raw_item(name_event("process_name", kFrames, 0, report.pipeline + ": frames"));
  add_job_rows(json, report);
  std::map<std::uint32_t, bool> threads;
  std::uint64_t end_ns = 0;
  for (const Span& span : report.spans) {
    end_ns = std::max(end_ns, span.end_ns);
    if (threads.emplace(span.thread, true).second)
      json.raw_item(name_event("thread_name", kThreads, span.thread,
                               "streaming thread " + std::to_string(span.thread)));
    const PadName& pad = report.pads[span.pad];
    switch (span.kind) {
    case SpanKind::Processing:
      json.raw_item(common(pad.element, "X", kThreads, span.thread, span.begin_ns) +
                    ", \"dur\": " + microseconds(span.end_ns - span.begin_ns) +
                    ", \"args\": {\"frame\": " + std::to_string(span.id) +
                    ", \"own_us\": " + microseconds(span.part_ns) + "}}");
      break;
    case SpanKind::Residence:
      add_residence(json, span, pad.element);
      break;
    case SpanKind::JobQueued:
      add_job(json, span, "queued");
      break;
    case SpanKind::JobDevice:
      add_job(json, span, "working");
      break;
    case SpanKind::JobRetirement:
      add_job(json, span, "retirement");
      break;
    case SpanKind::Origin:
    case SpanKind::Arrival:
      json.raw_item(common(pad.element + (span.kind == SpanKind::Origin ? " begins" : " arrives"),
                           "i", kThreads, span.thread, span.end_ns) +
                    ", \"s\": \"t\", \"args\": {\"frame\": " + std::to_string(span.id) + "}}");
      break;
    }
  }
  // Where its viewer looks: at the end of what there is.
  for (const std::string& note : report.notes)
    json.raw_item(common("note: " + note, "i", kThreads, 0, end_ns) + R"(, "s": "g"})");
  json.close(']');
  json.close('}');
  return json.text() + "\n";
}

} // namespace simaai::latency
