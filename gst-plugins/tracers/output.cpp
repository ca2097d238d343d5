// SPDX-License-Identifier: LGPL-2.1-or-later
// The table, and the files.
#include "output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace simaai::latency {

namespace {

constexpr const char* kStandardError = "stderr";

std::string milliseconds(const std::optional<Stat>& stat, std::uint64_t Stat::*field) {
  if (!stat)
    return "n/a";
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", static_cast<double>((*stat).*field) / 1e6);
  return text;
}

std::string padded(const std::string& text, int width) {
  char cell[128];
  std::snprintf(cell, sizeof cell, width < 0 ? "%-*s" : "%*s", width < 0 ? -width : width,
                text.c_str());
  return cell;
}

std::string element_line(const ElementReport& element) {
  std::string line = "  " + padded(element.name, -24) + " " + padded(element.identity, -12);
  for (const auto field : {&Stat::p50, &Stat::p95, &Stat::p99, &Stat::max})
    line += " " + padded(milliseconds(element.residence, field), 9);
  line += " " + padded(milliseconds(element.waiting, &Stat::p50), 9);
  line += " " + padded(milliseconds(element.processing, &Stat::p50), 9);
  line += " " + padded(element.drops ? std::to_string(*element.drops) : "n/a", 7);
  return line + "\n";
}

/// Where jobs of the elements that name them were; empty where none does.
std::string job_lines(const Report& report) {
  std::string text;
  for (const ElementReport& element : report.elements) {
    if (!element.jobs)
      continue;
    const JobReport& jobs = *element.jobs;
    if (text.empty()) {
      text = "  " + padded("jobs, p50", -24) + " " + padded("device", -12);
      for (const char* head : {"queued", "working", "p99", "retire", "buffers"})
        text += " " + padded(head, 9);
      text += "\n";
    }
    text += "  " + padded(element.name, -24) + " " + padded(jobs.device, -12);
    text += " " + padded(milliseconds(jobs.queued, &Stat::p50), 9);
    text += " " + padded(milliseconds(jobs.working, &Stat::p50), 9);
    text += " " + padded(milliseconds(jobs.working, &Stat::p99), 9);
    text += " " + padded(milliseconds(jobs.retirement, &Stat::p50), 9);
    text += " " + padded(jobs.working ? std::to_string(jobs.working->count) : "0", 9) + "\n";
  }
  return text;
}

/// NAME-2.EXTENSION for the second report; a device or a pipe takes all of them.
std::string numbered(const std::string& path, unsigned number) {
  std::error_code unknown;
  const auto type = std::filesystem::status(path, unknown).type();
  if (number <= 1 || path.starts_with("/dev/") || type == std::filesystem::file_type::character ||
      type == std::filesystem::file_type::fifo)
    return path;
  const std::size_t slash = path.rfind('/');
  const std::size_t dot = path.rfind('.');
  const bool has_extension =
      dot != std::string::npos && dot != 0 && (slash == std::string::npos || dot > slash + 1);
  const std::size_t end = has_extension ? dot : path.size();
  return path.substr(0, end) + "-" + std::to_string(number) + path.substr(end);
}

std::string write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  const bool opened = file.is_open();
  file << text;
  file.close();
  if (file)
    return {};
  std::error_code unknown;
  const auto target = std::filesystem::canonical(path, unknown); // a link stays
  if (opened && std::filesystem::is_regular_file(target, unknown))
    std::filesystem::remove(target, unknown); // half a report is none
  return "cannot write " + path;
}

/// The first number from `number` on whose status file is not there; it is made. Pipelines of several processes share a folder.
unsigned claim(const std::string& path, unsigned number) {
  constexpr unsigned kMost = 100'000;
  for (; number < kMost; ++number) {
    const int file =
        open(numbered(path, number).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool taken = file < 0 && errno == EEXIST;
    if (file >= 0)
      close(file);
    if (!taken)
      break;
  }
  return number;
}

} // namespace

bool share_a_file(const Outputs& outputs) {
  std::vector<std::string> paths;
  for (const std::string* path : {&outputs.table, &outputs.json, &outputs.csv, &outputs.html,
                                  &outputs.trace, &outputs.status})
    if (!path->empty() && !path->starts_with("/dev/"))
      paths.push_back(std::filesystem::absolute(*path).lexically_normal().string());
  std::sort(paths.begin(), paths.end());
  return std::adjacent_find(paths.begin(), paths.end()) != paths.end();
}

std::string table_text(const Report& report) {
  std::string text = report.pipeline + "\n  " + padded("times in ms", -24) + " " +
                     padded("identity", -12) + " " + padded("residence", 9);
  text += padded("", 30) + " " + padded("waiting", 9) + " " + padded("process", 9) + "\n";
  text += "  " + padded("element", -24) + " " + padded("", -12);
  for (const char* head : {"p50", "p95", "p99", "max", "p50", "p50"})
    text += " " + padded(head, 9);
  text += " " + padded("drops", 7) + "\n";
  for (const ElementReport& element : report.elements)
    text += element_line(element);
  text += job_lines(report);
  if (!report.paths.empty())
    text += "  source to sink\n";
  for (const PathReport& path : report.paths) {
    text += "  " + padded(path.origin + " - " + path.sink, -37);
    for (const auto field : {&Stat::p50, &Stat::p95, &Stat::p99, &Stat::max})
      text += " " + padded(milliseconds(path.latency, field), 9);
    if (path.latency.count != path.frames)
      text += "   " + std::to_string(path.latency.count) + " buffers of";
    text += "   " + std::to_string(path.frames) + " frames\n";
  }
  for (const std::string& note : report.notes)
    text += "  note: " + note + "\n";
  return text;
}

std::string write_outputs(const Outputs& outputs, const Report& report, unsigned number) {
  if (!outputs.any() || outputs.table == kStandardError)
    std::fputs(table_text(report).c_str(), stderr);
  struct Form {
    const std::string& path;
    std::string (*text)(const Report&);
  };
  const Form forms[] = {{outputs.table, &table_text},
                        {outputs.json, &json_text},
                        {outputs.csv, &csv_text},
                        {outputs.html, &html_text},
                        {outputs.trace, &trace_text}};
  if (!outputs.status.empty())
    number = claim(outputs.status, number);
  std::string errors;
  std::string status = csv_text(report);
  const auto note = [&](const std::string& problem) {
    if (problem.empty())
      return;
    errors += (errors.empty() ? "" : "\n") + problem;
    status += csv_note("error", problem);
  };
  for (const Form& form : forms) {
    if (form.path.empty() || (form.text == &table_text && form.path == kStandardError))
      continue;
    note(write_file(numbered(form.path, number), form.text(report)));
  }
  if (!outputs.status.empty())
    note(write_file(numbered(outputs.status, number), status));
  return errors;
}

} // namespace simaai::latency
