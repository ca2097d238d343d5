// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the counters and distributions of a recorder.
#include "report.h"

#include <algorithm>
#include <array>
#include <map>

namespace simaai::latency {

namespace {

using ByPad = std::map<std::uint32_t, std::vector<std::uint64_t>>;

/// Exact samples by pad, from a log that lost nothing.
struct Samples {
  ByPad residence;
  ByPad waiting;
  ByPad thread;
  ByPad processing;
  ByPad queued;
  ByPad working;
  ByPad retirement;
  bool complete = false;
};

/// Jobs of each buffer by pad and frame, put together from their spans, which follow each other.
class JobLog {
public:
  void add(const Span& span) {
    std::vector<Job>& jobs = jobs_[{span.pad, span.id}];
    if (span.kind == SpanKind::JobQueued)
      jobs.push_back({span.begin_ns, span.end_ns, span.end_ns, span.end_ns});
    else if (span.kind == SpanKind::JobDevice)
      jobs.back().done_ns = span.end_ns;
    else if (span.kind == SpanKind::JobRetirement)
      jobs.back().retired_ns = span.end_ns;
  }
  void add_to(Samples& samples) const {
    for (const auto& [buffer, jobs] : jobs_) {
      const JobParts parts = parts_of(jobs);
      samples.queued[buffer.first].push_back(parts.queued_ns);
      samples.working[buffer.first].push_back(parts.device_ns);
      samples.retirement[buffer.first].push_back(parts.retirement_ns);
    }
  }
  /// How long jobs of the buffer that the residence is of were on their way.
  [[nodiscard]] std::uint64_t sum_of(const Span& residence) const {
    const auto found = jobs_.find({residence.pad, residence.id});
    return found != jobs_.end() ? parts_of(found->second).sum() : 0;
  }

private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Job>> jobs_;
};

Samples read_samples(const Recorder& recorder) {
  Samples samples;
  samples.complete = recorder.log().complete();
  if (!samples.complete)
    return samples;
  JobLog jobs;
  for (const Span& span : recorder.log().spans()) {
    switch (span.kind) {
    case SpanKind::Residence:
      samples.residence[span.pad].push_back(span.end_ns - span.begin_ns);
      samples.waiting[span.pad].push_back(span.part_ns);
      break;
    case SpanKind::Processing:
      samples.processing[span.pad].push_back(span.part_ns);
      break;
    case SpanKind::JobQueued:
    case SpanKind::JobDevice:
    case SpanKind::JobRetirement:
      jobs.add(span);
      break;
    case SpanKind::Origin:
    case SpanKind::Arrival:
      break;
    }
  }
  for (const Span& span : recorder.log().spans()) {
    if (span.kind != SpanKind::Residence)
      continue;
    const std::uint64_t known = span.end_ns - span.begin_ns - span.part_ns;
    samples.thread[span.pad].push_back(known - std::min(known, jobs.sum_of(span)));
  }
  jobs.add_to(samples);
  return samples;
}

/// Which of a pad's distributions; null where it has none.
using Part = const Distribution* (*)(const Figures&);

/// Figures of some pads: from samples where there are as many as records, else from the buckets.
std::optional<Stat> stat_of(const std::vector<const Distribution*>& parts,
                            const std::vector<const Pad*>& pads, const ByPad& by_pad) {
  const Stat stat = Distribution::stat_of(parts);
  if (stat.count == 0)
    return std::nullopt;
  std::vector<std::uint64_t> samples;
  for (const Pad* pad : pads) {
    const auto found = by_pad.find(pad->index);
    if (found != by_pad.end())
      samples.insert(samples.end(), found->second.begin(), found->second.end());
  }
  return stat.count == samples.size() ? exact_stat(samples) : stat;
}

std::optional<Stat> stat_of(const std::vector<const Pad*>& pads, Part part, const ByPad& by_pad) {
  std::vector<const Distribution*> parts;
  for (const Pad* pad : pads) {
    for (const Figures* figures : pad->figures()) {
      const Distribution* one = figures != nullptr ? part(*figures) : nullptr;
      if (one != nullptr)
        parts.push_back(one);
    }
  }
  return stat_of(parts, pads, by_pad);
}

std::optional<JobReport> jobs_of(const std::vector<const Pad*>& pads, const Samples& samples) {
  JobReport report;
  std::vector<const Distribution*> queued;
  std::vector<const Distribution*> working;
  std::vector<const Distribution*> retirement;
  for (const Pad* pad : pads) {
    const JobFigures* jobs = pad->jobs.load(std::memory_order_acquire);
    const char* device = jobs != nullptr ? jobs->device.load(std::memory_order_acquire) : nullptr;
    if (device == nullptr)
      continue;
    report.device = device;
    queued.push_back(&jobs->queued);
    working.push_back(&jobs->working);
    retirement.push_back(&jobs->retirement);
  }
  if (queued.empty())
    return std::nullopt;
  report.queued = stat_of(queued, pads, samples.queued);
  report.working = stat_of(working, pads, samples.working);
  report.retirement = stat_of(retirement, pads, samples.retirement);
  return report;
}

const Distribution* residence_of(const Figures& figures) { return figures.residence.get(); }
const Distribution* waiting_of(const Figures& figures) { return figures.waiting.get(); }
const Distribution* thread_of(const Figures& figures) { return figures.thread.get(); }
const Distribution* processing_of(const Figures& figures) { return &figures.processing; }
const Distribution* interval_of(const Figures& figures) { return figures.interval.get(); }

/// Counters of an element's pads together.
struct Counts {
  std::array<std::uint64_t, kCarriers> recognised{};
  std::uint64_t appeared = 0;
  std::uint64_t ambiguous = 0;
  std::uint64_t untagged = 0;
  std::uint64_t reshaped = 0;
  std::uint64_t remade = 0;

  explicit Counts(const std::vector<const Pad*>& pads) {
    for (const Pad* pad : pads) {
      appeared += pad->sum(&Figures::appeared);
      ambiguous += pad->sum(&Figures::ambiguous);
      untagged += pad->sum(&Figures::untagged);
      reshaped += pad->sum(&Figures::reshaped);
      remade += pad->sum(&Figures::remade);
      for (const Figures* figures : pad->figures()) {
        for (std::size_t i = 0; figures != nullptr && i < kCarriers; ++i)
          recognised[i] += get(figures->recognised[i]);
      }
    }
  }
  [[nodiscard]] std::uint64_t by(Carrier carrier) const {
    return recognised[static_cast<std::size_t>(carrier)];
  }
};

/// Most outputs matched no input: those that did are no picture of all, if it was not by chance.
bool most_appeared(const Counts& counts) {
  return counts.appeared >
         counts.by(Carrier::Meta) + counts.by(Carrier::Timestamp) + counts.by(Carrier::Pointer);
}

std::string identity_text(const Counts& counts) {
  if (most_appeared(counts))
    return "n/a";
  constexpr std::array<const char*, kCarriers> kNames{"meta", "timestamps", "pointer"};
  std::string text;
  const auto kinds = kCarriers - std::count(counts.recognised.begin(), counts.recognised.end(), 0U);
  for (std::size_t i = 0; i < kCarriers; ++i) {
    const std::uint64_t count = counts.recognised[i];
    if (count == 0)
      continue;
    text += (text.empty() ? "" : " + ") + std::string(kNames[i]);
    if (kinds > 1)
      text += " (" + std::to_string(count) + ")";
  }
  return text.empty() ? "n/a" : text;
}

/// A drop is a frame that entered, did not leave and ended. Where that may have another reason, the
/// number is not known.
std::optional<std::uint64_t> drops_of(const Element& element, const Counts& counts,
                                      bool is_source) {
  const bool combines =
      element.aggregates || element.sink_count.load(std::memory_order_relaxed) > 1;
  if (is_source || element.ends_streams || element.repacks || combines || counts.appeared != 0 ||
      counts.untagged != 0 || counts.reshaped != 0 || get(element.forgotten) != 0)
    return std::nullopt;
  const auto ended = static_cast<std::int64_t>(get(element.ended));
  // Other data without durations: what is gone may be part of them.
  if (ended > 0 && counts.remade != 0)
    return std::nullopt;
  return ended > 0 ? static_cast<std::uint64_t>(ended) : 0;
}

/// What reports call the elements: their names, paths where those are not unique, numbers where these are not.
std::vector<std::string> report_names(const std::vector<const Element*>& elements) {
  std::map<std::string, unsigned> names;
  std::map<std::string, unsigned> paths;
  for (const Element* element : elements)
    ++names[element->name];
  std::vector<std::string> result;
  for (const Element* element : elements) {
    const bool unique = names[element->name] == 1;
    const unsigned number = unique ? 1 : ++paths[element->path];
    result.push_back((unique ? element->name : element->path) +
                     (number > 1 ? "#" + std::to_string(number) : ""));
  }
  return result;
}

ElementReport element_report(const Element& element, const std::string& name,
                             const std::vector<const Pad*>& all, const Samples& samples) {
  std::vector<const Pad*> pads;
  for (const Pad* pad : all) {
    if (pad->element == &element)
      pads.push_back(pad);
  }
  ElementReport report;
  report.name = name;
  report.path = element.path;
  report.factory = element.factory;
  for (const Pad* pad : pads) {
    const std::uint64_t buffers = pad->sum(&Figures::buffers);
    if (pad->direction == Direction::Sink) {
      report.entered += buffers;
      report.inputs.push_back({pad->name, buffers, stat_of({pad}, &interval_of, ByPad{})});
    } else {
      report.left += buffers;
      report.outputs.push_back(
          {pad->name, buffers, stat_of({pad}, &residence_of, samples.residence)});
    }
  }
  const bool is_source = report.inputs.empty();
  report.role = is_source ? "source" : element.ends_streams ? "sink" : "element";
  const Counts counts(pads);
  report.identity = identity_text(counts);
  report.appeared = counts.appeared;
  report.ambiguous = counts.ambiguous;
  report.drops = drops_of(element, counts, is_source);
  report.flushed = get(element.flushed);
  report.unfinished = get(element.unfinished);
  report.forgotten = get(element.forgotten);
  // Those that stayed longest are not among what was recognised.
  const bool is_partial = get(element.missed) != 0;
  if (!most_appeared(counts) && !is_partial) {
    report.residence = stat_of(pads, &residence_of, samples.residence);
    report.waiting = stat_of(pads, &waiting_of, samples.waiting);
    report.thread = stat_of(pads, &thread_of, samples.thread);
  } else {
    for (OutputReport& output : report.outputs)
      output.residence.reset();
  }
  report.processing = stat_of(pads, &processing_of, samples.processing);
  report.jobs = jobs_of(pads, samples);
  return report;
}

std::string full_name(const Report& report, std::uint32_t pad) {
  return report.pads[pad].element + ":" + report.pads[pad].pad;
}

/// Latency of the frames of one origin: exact where no other origin arrives, as spans do not name it.
Stat latency_of(const Recorder& recorder, const Pad& pad, std::size_t place, bool complete) {
  std::vector<const Distribution*> parts;
  for (const Figures* figures : pad.figures()) {
    if (figures != nullptr)
      parts.push_back(&(*figures->latency)[place]);
  }
  const Stat stat = Distribution::stat_of(parts);
  if (!complete || stat.count != pad.sum(&Figures::arrived))
    return stat;
  std::vector<std::uint64_t> samples;
  for (const Span& span : recorder.log().spans()) {
    if (span.kind == SpanKind::Arrival && span.pad == pad.index)
      samples.push_back(span.end_ns - span.begin_ns);
  }
  return samples.size() == stat.count ? exact_stat(samples) : stat;
}

void add_paths(Report& report, const Recorder& recorder, const std::vector<const Pad*>& pads,
               const Samples& samples) {
  for (const Pad* pad : pads) {
    if (pad->direction != Direction::Sink || !pad->element->ends_streams)
      continue;
    for (std::size_t place = 0; place < Figures::kOrigins; ++place) {
      const std::uint32_t origin = pad->origins[place].load(std::memory_order_relaxed);
      if (origin == 0 || origin > pads.size())
        continue;
      std::uint64_t frames = 0;
      for (const Figures* figures : pad->figures())
        frames += figures != nullptr ? get(figures->frames[place]) : 0;
      const Stat latency = latency_of(recorder, *pad, place, samples.complete);
      if (latency.count == 0)
        continue; // frames that are not counted
      const bool from_source = report.elements[pads[origin - 1]->element->index].role == "source";
      report.paths.push_back({full_name(report, origin - 1), full_name(report, pad->index), frames,
                              latency, from_source});
    }
  }
}

void add_spans(Report& report, const Recorder& recorder) {
  const auto spans = recorder.log().spans();
  report.spans.assign(spans.begin(), spans.end());
  std::stable_sort(report.spans.begin(), report.spans.end(),
                   [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  const std::uint64_t base = report.spans.empty() ? 0 : report.spans.front().begin_ns;
  for (Span& span : report.spans) {
    span.begin_ns -= base;
    span.end_ns -= base;
  }
  report.spans_complete = recorder.log().complete();
}

std::string number_text(std::uint64_t number, const char* one) {
  return std::to_string(number) + " " + one + (number == 1 ? "" : "s");
}

/// What the figures do not show, so that nobody takes them for all there was.
void add_notes(Report& report, const Recorder& recorder, const std::vector<const Pad*>& pads,
               bool with_spans) {
  if (with_spans && recorder.log().short_of_room())
    report.notes.push_back("room for " + number_text(recorder.log().capacity(), "interval") +
                           " was used up: percentiles come from buckets (0.8 %), and what is shown "
                           "over time, of single "
                           "frames and in the trace is of the beginning only; see spans");
  for (const ElementReport& element : report.elements) {
    if (element.forgotten != 0)
      report.notes.push_back(
          element.name + ": " + number_text(element.forgotten, "frame") + " stayed while " +
          std::to_string(report.settings.window) +
          " later ones came and cannot be told any more: what depends on them is n/a; see window");
  }
  if (recorder.unfollowed_pads() != 0)
    report.notes.push_back(number_text(recorder.unfollowed_pads(), "pad") +
                           " could not be followed: an element has more than " +
                           std::to_string(Element::kSinks) + " inputs, or the pipeline more than " +
                           std::to_string(Recorder::kPads) + " pads");
  if (recorder.frames().forgotten() != 0)
    report.notes.push_back(number_text(recorder.frames().forgotten(), "frame") + " lived while " +
                           std::to_string(recorder.frames().size()) +
                           " later ones began: where they ended was not seen");
  const bool is_known = !total_paths(report).empty();
  for (const PathReport& path : report.paths) {
    if (!path.from_source)
      report.notes.push_back(
          path.sink + ": " + number_text(path.frames, "frame") + " began at " + path.origin +
          ", which is no source: " + (is_known ? "not part of total" : "total is n/a"));
  }
  for (const Pad* pad : pads) {
    std::uint64_t known = 0;
    for (const PathReport& path : report.paths)
      known += path.sink == full_name(report, pad->index) ? path.latency.count : 0;
    const std::uint64_t arrived = pad->sum(&Figures::arrived);
    if (arrived > known)
      report.notes.push_back(full_name(report, pad->index) + ": " +
                             number_text(arrived - known, "buffer") + " of more than " +
                             std::to_string(Figures::kOrigins) + " origins have no line");
  }
}

} // namespace

std::vector<const PathReport*> total_paths(const Report& report) {
  std::map<std::string, std::int64_t> excess; // of frames from sources, by sink
  std::vector<const PathReport*> paths;
  for (const PathReport& path : report.paths) {
    const auto frames = static_cast<std::int64_t>(path.frames);
    excess[path.sink] += path.from_source ? frames : -frames;
    if (path.from_source)
      paths.push_back(&path);
  }
  const bool is_known =
      std::all_of(excess.begin(), excess.end(), [](const auto& sink) { return sink.second >= 0; });
  return is_known ? paths : std::vector<const PathReport*>{};
}

Report make_report(const Recorder& recorder, std::string pipeline, bool with_spans) {
  Report report;
  report.pipeline = std::move(pipeline);
  report.settings = recorder.settings();
  const std::vector<const Pad*> pads = recorder.pads();
  const Samples samples = with_spans ? read_samples(recorder) : Samples{};
  const std::vector<const Element*> elements = recorder.elements();
  const std::vector<std::string> names = report_names(elements);
  for (const Element* element : elements)
    report.elements.push_back(element_report(*element, names[element->index], pads, samples));
  for (const Pad* pad : pads)
    report.pads.push_back({names[pad->element->index], pad->name});
  add_paths(report, recorder, pads, samples);
  if (with_spans)
    add_spans(report, recorder);
  add_notes(report, recorder, pads, with_spans);
  return report;
}

} // namespace simaai::latency
