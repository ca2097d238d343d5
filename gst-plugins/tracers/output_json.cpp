// SPDX-License-Identifier: LGPL-2.1-or-later
// Reports as JSON and as CSV.
#include <cstdio>
#include <iterator>

#include "json_writer.h"
#include "output.h"

namespace simaai::latency {

namespace {

struct Field {
  const char* name;
  std::uint64_t Stat::*field;
};
constexpr Field kFields[] = {{"count", &Stat::count}, {"min", &Stat::min}, {"mean", &Stat::mean},
                             {"p50", &Stat::p50},     {"p90", &Stat::p90}, {"p95", &Stat::p95},
                             {"p99", &Stat::p99},     {"max", &Stat::max}};

void write_stat(JsonWriter& json, const char* key, const std::optional<Stat>& stat) {
  if (!stat) {
    json.null(key);
    return;
  }
  std::string object = "{";
  for (const Field& field : kFields)
    object += JsonWriter::quoted(field.name) + ": " + std::to_string((*stat).*field.field) + ", ";
  json.raw(key, object + "\"exact\": " + (stat->exact ? "true}" : "false}"));
}

void write_jobs(JsonWriter& json, const std::optional<JobReport>& jobs) {
  if (!jobs) {
    json.null("jobs");
    return;
  }
  json.open("jobs", '{');
  json.value("device", jobs->device);
  write_stat(json, "queued", jobs->queued);
  write_stat(json, "working", jobs->working);
  write_stat(json, "retirement", jobs->retirement);
  json.close('}');
}

void write_element(JsonWriter& json, const ElementReport& element) {
  json.open('{');
  json.value("name", element.name);
  json.value("path", element.path);
  json.value("factory", element.factory);
  json.value("role", element.role);
  json.value("identity", element.identity);
  json.value("entered", element.entered);
  json.value("left", element.left);
  json.value("appeared", element.appeared);
  json.value("ambiguous", element.ambiguous);
  json.value("drops", element.drops);
  json.value("flushed", element.flushed);
  json.value("unfinished", element.unfinished);
  json.value("forgotten", element.forgotten);
  write_stat(json, "residence", element.residence);
  write_stat(json, "waiting", element.waiting);
  write_stat(json, "thread", element.thread);
  write_stat(json, "processing", element.processing);
  write_jobs(json, element.jobs);
  json.open("inputs", '[');
  for (const InputReport& input : element.inputs) {
    json.open('{');
    json.value("pad", input.pad);
    json.value("buffers", input.buffers);
    write_stat(json, "interval", input.interval);
    json.close('}');
  }
  json.close(']');
  json.open("outputs", '[');
  for (const OutputReport& output : element.outputs) {
    json.open('{');
    json.value("pad", output.pad);
    json.value("buffers", output.buffers);
    write_stat(json, "residence", output.residence);
    json.close('}');
  }
  json.close(']');
  json.close('}');
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos)
    return text;
  std::string cell = "\"";
  for (const char c : text)
    cell += c == '"' ? std::string("\"\"") : std::string(1, c);
  return cell + "\"";
}

void csv_line(std::string& text, const std::string& kind, const std::string& name,
              const char* metric, const std::optional<Stat>& stat) {
  text += kind + "," + csv_cell(name) + "," + metric;
  for (const Field& field : kFields)
    text += "," + (stat ? std::to_string((*stat).*field.field) : std::string());
  text += stat ? (stat->exact ? ",yes\n" : ",no\n") : ",\n";
}

/// A number that is no duration, in the column of counts.
void csv_bare_line(std::string& text, const std::string& kind, const std::string& name,
                   const std::string& metric, std::optional<std::uint64_t> number) {
  text += kind + "," + csv_cell(name) + "," + csv_cell(metric) + "," +
          (number ? std::to_string(*number) : std::string()) +
          std::string(std::size(kFields), ',') + "\n";
}

} // namespace

std::string JsonWriter::quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      result += code;
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string json_text(const Report& report) {
  JsonWriter json;
  json.open('{');
  json.value("format", "simaai-latency");
  json.value("version", std::uint64_t{kReportVersion});
  json.value("unit", "ns");
  json.value("pipeline", report.pipeline);
  json.value("description", report.text);
  json.open("environment", '{');
  for (const auto& [name, value] : report.environment)
    json.value(name, value);
  json.close('}');
  json.open("settings", '{');
  json.value("warmup", report.settings.warmup);
  json.value("samples", report.settings.samples);
  json.value("window", std::uint64_t{report.settings.window});
  json.value("spans", std::uint64_t{report.settings.spans});
  json.close('}');
  json.open("elements", '[');
  for (const ElementReport& element : report.elements)
    write_element(json, element);
  json.close(']');
  json.open("paths", '[');
  for (const PathReport& path : report.paths) {
    json.open('{');
    json.value("origin", path.origin);
    json.value("sink", path.sink);
    json.value("frames", path.frames);
    json.value("from_source", path.from_source);
    write_stat(json, "latency", path.latency);
    json.close('}');
  }
  json.close(']');
  json.open("notes", '[');
  for (const std::string& note : report.notes)
    json.raw_item(JsonWriter::quoted(note));
  json.close(']');
  json.close('}');
  return json.text() + "\n";
}

std::string csv_text(const Report& report) {
  std::string text = "kind,name,metric";
  for (const Field& field : kFields)
    text += std::string(",") + field.name + (field.field == &Stat::count ? "" : "_ns");
  text += ",exact\n";
  csv_bare_line(text, "pipeline", report.pipeline, "version", kReportVersion);
  for (const ElementReport& element : report.elements) {
    if (element.path != element.name)
      csv_bare_line(text, "name", element.name, element.path, std::nullopt);
    csv_line(text, "element", element.name, "residence", element.residence);
    csv_line(text, "element", element.name, "waiting", element.waiting);
    csv_line(text, "element", element.name, "thread", element.thread);
    csv_line(text, "element", element.name, "processing", element.processing);
    if (element.jobs) {
      csv_line(text, "element", element.name, "queued", element.jobs->queued);
      csv_line(text, "element", element.name, "working", element.jobs->working);
      csv_line(text, "element", element.name, "retirement", element.jobs->retirement);
    }
    csv_bare_line(text, "element", element.name, "drops", element.drops);
    for (const InputReport& input : element.inputs)
      csv_line(text, "pad", element.name + ":" + input.pad, "interval", input.interval);
    for (const OutputReport& output : element.outputs)
      csv_line(text, "pad", element.name + ":" + output.pad, "residence", output.residence);
  }
  for (const PathReport& path : report.paths) {
    csv_line(text, "path", path.origin + " " + path.sink, "latency", path.latency);
    csv_bare_line(text, "path", path.origin + " " + path.sink, "frames", path.frames);
    csv_bare_line(text, "path", path.origin + " " + path.sink, "from_source",
                  path.from_source ? 1 : 0);
  }
  for (const std::string& note : report.notes)
    text += csv_note("note", note);
  return text;
}

std::string csv_note(const std::string& kind, const std::string& words) {
  std::string text;
  csv_bare_line(text, kind, words, "", std::nullopt);
  return text;
}

} // namespace simaai::latency
