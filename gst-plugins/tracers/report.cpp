// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the counters and distributions of a recorder.
#include "report.h"

#include <algorithm>
#include <array>
#include <map>

namespace simaai::latency {

namespace {

/// Exact samples by pad, from a log that lost nothing.
struct Samples {
  std::map<std::uint32_t, std::vector<std::uint64_t>> residence;
  std::map<std::uint32_t, std::vector<std::uint64_t>> waiting;
  std::map<std::uint32_t, std::vector<std::uint64_t>> processing;
  bool complete = false;
};

Samples read_samples(const Recorder& recorder) {
  Samples samples;
  samples.complete = recorder.log().complete();
  if (!samples.complete)
    return samples;
  for (const Span& span : recorder.log().spans()) {
    if (span.kind == SpanKind::Residence) {
      samples.residence[span.pad].push_back(span.end_ns - span.begin_ns);
      samples.waiting[span.pad].push_back(span.part_ns);
    } else if (span.kind == SpanKind::Processing) {
      samples.processing[span.pad].push_back(span.part_ns);
    }
  }
  return samples;
}

using ByPad = std::map<std::uint32_t, std::vector<std::uint64_t>>;

/// Figures of some pads: from samples where there are as many as records, else from the buckets.
std::optional<Stat> stat_of(const std::vector<const Pad*>& pads,
                            const Distribution* (*part)(const Pad&), const ByPad& by_pad) {
  std::vector<const Distribution*> parts;
  std::vector<std::uint64_t> samples;
  for (const Pad* pad : pads) {
    if (const Distribution* one = part(*pad))
      parts.push_back(one);
    const auto found = by_pad.find(pad->index);
    if (found != by_pad.end())
      samples.insert(samples.end(), found->second.begin(), found->second.end());
  }
  const Stat stat = Distribution::stat_of(parts);
  if (stat.count == 0)
    return std::nullopt;
  return stat.count == samples.size() ? exact_stat(samples) : stat;
}

const Distribution* residence_of(const Pad& pad) { return pad.residence.get(); }
const Distribution* waiting_of(const Pad& pad) { return pad.waiting.get(); }
const Distribution* processing_of(const Pad& pad) { return &pad.processing; }
const Distribution* interval_of(const Pad& pad) { return pad.interval.get(); }

/// Most outputs matched no input, and those that did did so by timestamp or address only: by chance.
bool matches_by_chance(const Element& element) {
  const std::uint64_t by_meta = get(element.recognised[static_cast<std::size_t>(Carrier::Meta)]);
  std::uint64_t matched = 0;
  for (const Word& word : element.recognised)
    matched += get(word);
  return by_meta == 0 && get(element.appeared) > matched;
}

std::string identity_text(const Element& element) {
  if (matches_by_chance(element))
    return "n/a";
  constexpr std::array<const char*, kCarriers> kNames{"meta", "timestamps", "pointer"};
  std::string text;
  unsigned kinds = 0;
  for (std::size_t i = 0; i < kCarriers; ++i)
    kinds += get(element.recognised[i]) != 0 ? 1U : 0U;
  for (std::size_t i = 0; i < kCarriers; ++i) {
    const std::uint64_t count = get(element.recognised[i]);
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
std::optional<std::uint64_t> drops_of(const Element& element, bool is_source) {
  const bool combines = element.sink_count.load(std::memory_order_relaxed) > 1;
  if (is_source || element.ends_streams || combines || get(element.appeared) != 0 ||
      get(element.untagged) != 0)
    return std::nullopt;
  const auto ended = static_cast<std::int64_t>(get(element.ended));
  return ended > 0 ? static_cast<std::uint64_t>(ended) : 0;
}

ElementReport element_report(const Element& element, const std::vector<const Pad*>& all,
                             const Samples& samples) {
  std::vector<const Pad*> pads;
  for (const Pad* pad : all) {
    if (pad->element == &element)
      pads.push_back(pad);
  }
  ElementReport report;
  report.name = element.name;
  report.factory = element.factory;
  for (const Pad* pad : pads) {
    if (pad->direction == Direction::Sink) {
      report.entered += get(pad->buffers);
      report.inputs.push_back(
          {pad->name, get(pad->buffers), stat_of({pad}, &interval_of, ByPad{})});
    } else {
      report.left += get(pad->buffers);
      report.outputs.push_back(
          {pad->name, get(pad->buffers), stat_of({pad}, &residence_of, samples.residence)});
    }
  }
  const bool is_source = report.inputs.empty();
  report.role = is_source ? "source" : element.ends_streams ? "sink" : "element";
  report.identity = identity_text(element);
  report.appeared = get(element.appeared);
  report.ambiguous = get(element.ambiguous);
  report.drops = drops_of(element, is_source);
  report.flushed = get(element.flushed);
  report.unfinished = get(element.unfinished);
  if (!matches_by_chance(element)) {
    report.residence = stat_of(pads, &residence_of, samples.residence);
    report.waiting = stat_of(pads, &waiting_of, samples.waiting);
  } else {
    for (OutputReport& output : report.outputs)
      output.residence.reset();
  }
  report.processing = stat_of(pads, &processing_of, samples.processing);
  return report;
}

std::string full_name(const Pad& pad) { return pad.element->name + ":" + pad.name; }

/// Latency of the frames of one origin: exact where no other origin arrives, as spans do not name it.
Stat latency_of(const Recorder& recorder, const Pad& pad, const Pad::Latency& latency,
                bool complete) {
  const std::array<const Distribution*, 1> part{&latency.ns};
  const Stat stat = Distribution::stat_of(part);
  if (!complete || stat.count != get(pad.arrived))
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
    if (!pad->latency)
      continue;
    for (const Pad::Latency& latency : *pad->latency) {
      const std::uint32_t origin = latency.origin.load(std::memory_order_relaxed);
      if (origin != 0 && origin <= pads.size())
        report.paths.push_back({full_name(*pads[origin - 1]), full_name(*pad),
                                latency_of(recorder, *pad, latency, samples.complete)});
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

} // namespace

Report make_report(const Recorder& recorder, std::string pipeline, bool with_spans) {
  Report report;
  report.pipeline = std::move(pipeline);
  report.settings = recorder.settings();
  const std::vector<const Pad*> pads = recorder.pads();
  const Samples samples = with_spans ? read_samples(recorder) : Samples{};
  for (const Element* element : recorder.elements())
    report.elements.push_back(element_report(*element, pads, samples));
  for (const Pad* pad : pads)
    report.pads.push_back({pad->element->name, pad->name});
  add_paths(report, recorder, pads, samples);
  if (with_spans)
    add_spans(report, recorder);
  return report;
}

} // namespace simaai::latency
