// SPDX-License-Identifier: LGPL-2.1-or-later
// What was measured in one run of one pipeline, as plain values. An empty optional is "not known", never zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distribution.h"
#include "recorder.h"
#include "span_log.h"

namespace simaai::latency {

inline constexpr unsigned kReportVersion = 3;

struct InputReport {
  std::string pad;
  std::uint64_t buffers = 0;
  std::optional<Stat> interval;
};

struct OutputReport {
  std::string pad;
  std::uint64_t buffers = 0;
  std::optional<Stat> residence;
};

/// Jobs that wrote the buffers of an element; each figure has one sample a buffer.
struct JobReport {
  std::string device; ///< URI of the device, or the backend on the host
  std::optional<Stat> queued;
  std::optional<Stat> working;
  std::optional<Stat> retirement;
};

struct ElementReport {
  std::string name; ///< or the path, where several elements have the name
  std::string path; ///< with the bins around it
  std::string factory;
  std::string role;     ///< source, sink or element
  std::string identity; ///< meta, timestamps, pointer, several of them with counts, or n/a
  std::uint64_t entered = 0;
  std::uint64_t left = 0;
  std::uint64_t appeared = 0;  ///< buffers that left without having entered
  std::uint64_t ambiguous = 0; ///< buffers that left and could have entered at several times
  std::optional<std::uint64_t> drops;
  std::uint64_t flushed = 0;
  std::uint64_t unfinished = 0;
  std::uint64_t forgotten = 0; ///< frames inside that `window` later ones made room for
  std::optional<Stat> residence;
  std::optional<Stat> waiting;
  std::optional<Stat> thread; ///< residence without waiting and jobs
  std::optional<Stat> processing;
  std::optional<JobReport> jobs; ///< elements that name them
  std::vector<InputReport> inputs;
  std::vector<OutputReport> outputs;
};

/// Source-to-sink latency of the frames of one origin at one sink.
struct PathReport {
  std::string origin;       ///< element:pad where the frames appeared
  std::string sink;         ///< element:pad where they arrived
  std::uint64_t frames = 0; ///< of which these are the buffers
  Stat latency;
  bool from_source = true; ///< the origin is a source, not an element that began frames anew
};

/// A buffer's way, for waterfalls and traces. Times are relative to the first span.
struct PadName {
  std::string element;
  std::string pad;
};

struct Report {
  std::string pipeline;
  std::string text; ///< the pipeline as the caller described it, may be empty
  std::vector<std::pair<std::string, std::string>> environment;
  Settings settings;
  std::vector<ElementReport> elements; ///< in the order in which data reached them
  std::vector<PathReport> paths;
  std::vector<PadName> pads; ///< Span::pad is an index into it
  std::vector<Span> spans;   ///< ordered by begin
  bool spans_complete = false;
  std::vector<std::string> notes; ///< what was not seen, for people
};

/// Paths from a source to a sink; empty where some sink got most of its frames from where they began anew inside the
/// pipeline: how long they took from the source is not known then.
[[nodiscard]] std::vector<const PathReport*> total_paths(const Report& report);

/// Call it while no thread records for exact figures; otherwise spans are left out.
[[nodiscard]] Report make_report(const Recorder& recorder, std::string pipeline, bool with_spans);

} // namespace simaai::latency
