// SPDX-License-Identifier: LGPL-2.1-or-later
// Recognises frames where they leave an element and turns what is known of them into figures.
#include "recorder.h"

#include <algorithm>
#include <limits>

#include "made_once.h"

namespace simaai::latency {

namespace {

std::uint64_t since(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

template <class Visit> void for_each_sink(const Element& element, Visit visit) noexcept {
  const std::size_t count = element.sink_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i)
    visit(*element.sinks[i].load(std::memory_order_relaxed));
}

bool combines(const Element& element) noexcept {
  return element.aggregates || element.sink_count.load(std::memory_order_acquire) > 1;
}

bool has_duration(std::uint64_t duration) noexcept {
  return duration != kNoTimestamp && duration != 0;
}

/// What comes are chunks of bytes, or packets that it takes apart: what leaves and is none of these begins there.
bool makes_frames(const Element& element) noexcept {
  if (!element.parses)
    return element.demuxes;
  bool untimed = false;
  for_each_sink(element, [&untimed](const Pad& pad) {
    untimed = untimed || !pad.timed.load(std::memory_order_relaxed);
  });
  return untimed;
}

/// The thread is in a call into this element for the same frame: its time until now, without calls
/// further down. Otherwise what the finished call for it took.
std::uint64_t spent(CallStack& stack, std::uint64_t now_ns, const Pad& pad, const Entry& entry) {
  const Call* call = stack.top();
  if (call != nullptr && call->pad == &pad && call->id == entry.tag.id)
    return since(call->begun_ns + call->nested_ns, now_ns);
  return entry.spent_ns;
}

} // namespace

Recorder::Recorder(const Settings& settings)
    : settings_(settings), frames_(settings.window), log_(settings.spans) {}

FrameTag Recorder::leave(CallStack& stack, std::uint64_t now_ns, Pad& source,
                         const Identity& identity) noexcept {
  const Match match = recognise(*source.element, identity);
  const std::span<const Job> jobs =
      stack.jobs.empty() ? std::span<const Job>() : stack.jobs.take(identity.pointer);
  FrameTag tag = identity.tag;
  const Pad::Writing writing = source.writing(stack.thread);
  add(writing.figures.buffers, 1, writing.access);
  if (match.pad != nullptr) {
    tag = account(stack, now_ns, source, match, identity, jobs, writing);
  } else {
    add(writing.figures.appeared, 1, writing.access);
    // A tag without an entry: the element kept the frame longer than its entry, or had it from
    // elsewhere. It keeps its origin. What forgotten frames were called may be forgotten too.
    if (get(source.element->forgotten) != 0)
      count(source.element->missed);
    if (!tag || makes_frames(*source.element))
      tag = appear(stack, now_ns, source);
  }
  if (!jobs.empty() && tag.measured)
    note_jobs(stack, source, tag, jobs);
  return tag;
}

FrameTag Recorder::appear(const CallStack& stack, std::uint64_t now_ns, Pad& source) noexcept {
  const std::uint64_t number = source.frames.fetch_add(1, std::memory_order_relaxed);
  const bool measured = number >= settings_.warmup &&
                        (settings_.samples == 0 || number - settings_.warmup < settings_.samples);
  const FrameTag tag{next_id_.fetch_add(1, std::memory_order_relaxed), now_ns, source.index,
                     measured};
  if (measured)
    log_.add({tag.id, 0, now_ns, now_ns, 0, source.index, stack.thread, SpanKind::Origin, false});
  return tag;
}

FrameTag Recorder::account(CallStack& stack, std::uint64_t now_ns, Pad& source, const Match& match,
                           const Identity& identity, std::span<const Job> jobs,
                           const Pad::Writing& writing) noexcept {
  Element& element = *source.element;
  const auto& [figures, access] = writing;
  const std::uint64_t before = match.pad->entries->mark(match.entry.tag.id, EntryTable::kLeft,
                                                        EntryTable::kEnded | EntryTable::kDropped);
  const bool first = (before & EntryTable::kLeft) == 0;
  // The input ended before its output came: the element had made a new buffer of it.
  if (first && (before & EntryTable::kDropped) != 0)
    element.ended.fetch_sub(1, std::memory_order_relaxed);
  note_shape(source, match, identity, writing);
  FrameTag tag = identity.tag && !match.combined ? identity.tag : match.entry.tag;
  // What was cut into parts goes on as several frames: they may be inside of an element at once.
  const bool is_part =
      !first && (match.carrier == Carrier::Timestamp || identity.content != match.entry.content);
  if (match.combined || is_part)
    tag.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  if (match.ambiguous) {
    add(figures.ambiguous, 1, access);
    return tag;
  }
  add(figures.recognised[static_cast<std::size_t>(match.carrier)], 1, access);
  if (!match.entry.tag.measured)
    return tag;
  const std::uint64_t residence = since(match.entry.entered_ns, now_ns);
  std::uint64_t known = spent(stack, now_ns, *match.pad, match.entry);
  std::uint64_t in_jobs = 0;
  // The thread that brought the frame works from its entering on; while a job is on its way, or may not be, it waits.
  if (!jobs.empty()) {
    in_jobs = parts_of(jobs).sum();
    // A call that is not over was not before it had handed the last job over.
    if (known == 0)
      known = since(match.entry.entered_ns, last_submission(jobs));
    known = in_jobs + thread_time(jobs, match.entry.entered_ns, match.entry.entered_ns + known);
  }
  known = std::min(residence, known);
  const std::uint64_t waiting = residence - known;
  figures.residence->record(residence, access);
  figures.waiting->record(waiting, access);
  figures.thread->record(since(in_jobs, known), access);
  const std::uint64_t parent = tag.id == match.entry.tag.id ? 0 : match.entry.tag.id;
  log_.add({tag.id, parent, match.entry.entered_ns, now_ns, waiting, source.index, stack.thread,
            SpanKind::Residence, true});
  return tag;
}

/// Drops can be told only where one buffer that comes is one that leaves.
void Recorder::note_shape(Pad& source, const Match& match, const Identity& identity,
                          const Pad::Writing& writing) noexcept {
  const Entry& entry = match.entry;
  const bool again = get(source.last_id) == entry.tag.id;
  put(source.last_id, entry.tag.id);
  if (identity.content == entry.content)
    return; // passed on, or repeated
  const bool timed = identity.duration != kNoTimestamp && entry.duration != kNoTimestamp;
  const std::uint64_t apart =
      std::max(identity.duration, entry.duration) - std::min(identity.duration, entry.duration);
  if (again || (timed && apart > entry.duration / 4))
    add(writing.figures.reshaped, 1, writing.access);
  else if (!timed)
    add(writing.figures.remade, 1, writing.access);
}

void Recorder::note_jobs(const CallStack& stack, Pad& source, const FrameTag& tag,
                         std::span<const Job> jobs) noexcept {
  JobFigures& figures = made_once(source.jobs, [] { return std::make_unique<JobFigures>(); });
  const JobParts parts = parts_of(jobs);
  figures.device.store(stack.jobs.device(), std::memory_order_release);
  figures.queued.record(parts.queued_ns);
  figures.working.record(parts.device_ns);
  figures.retirement.record(parts.retirement_ns);
  const auto log = [&](SpanKind kind, std::uint64_t begin_ns, std::uint64_t end_ns) {
    log_.add({tag.id, 0, begin_ns, end_ns, 0, source.index, stack.thread, kind, false});
  };
  for (const Job& job : jobs) {
    log(SpanKind::JobQueued, job.submitted_ns, job.started_ns);
    log(SpanKind::JobDevice, job.started_ns, job.done_ns);
    log(SpanKind::JobRetirement, job.done_ns, job.retired_ns);
  }
}

Recorder::Match Recorder::recognise(const Element& element, const Identity& identity) noexcept {
  const Match match = of_one(element, identity);
  if (match.combined || combines(element) || makes_frames(element))
    return match;
  return joined(element, identity, match);
}

Recorder::Match Recorder::of_one(const Element& element, const Identity& identity) noexcept {
  if (identity.tag) {
    const Match match = by_tag(element, identity);
    // Data of its own, with the metas of chunks or packets that they were in.
    if (match.pad != nullptr && identity.content != match.entry.content && makes_frames(element))
      return Match{};
    if (match.pad == nullptr || !combines(element) || match.entry.pointer == identity.pointer)
      return match;
    // A new buffer of an element with several inputs: the one that it was copied from need not be
    // the last one that it waited for.
    const Match several = combined(element, identity);
    return several.pad != nullptr ? several : match;
  }
  if (element.demuxes)
    return {};
  if (identity.timestamp != kNoTimestamp) {
    if (combines(element))
      return combined(element, identity);
    return by_alias(element, AliasTable::of_timestamp(identity.timestamp), Carrier::Timestamp);
  }
  return by_alias(element, AliasTable::of_pointer(identity.pointer), Carrier::Pointer);
}

Recorder::Match Recorder::by_tag(const Element& element, const Identity& identity) noexcept {
  Match match;
  for_each_sink(element, [&](Pad& pad) {
    Entry entry;
    const std::uint64_t state = pad.entries->find(identity.tag.id, entry);
    if (state == 0 || (match.pad != nullptr && entry.entered_ns < match.entry.entered_ns))
      return;
    match = {entry, &pad, Carrier::Meta, (state & EntryTable::kAmbiguous) != 0, false};
  });
  return match;
}

Recorder::Match Recorder::by_alias(const Element& element, std::uint64_t name,
                                   Carrier carrier) noexcept {
  Match match;
  for_each_sink(element, [&](Pad& pad) {
    const AliasTable::Found found = pad.aliases->find(name);
    Entry entry;
    const std::uint64_t state = found.id != 0 ? pad.entries->find(found.id, entry) : 0;
    if (state != 0)
      match = {entry, &pad, carrier, found.ambiguous || (state & EntryTable::kAmbiguous) != 0,
               false};
  });
  return match;
}

/// Inputs of which the time lies in part in that of the output, as far as durations are known; else the latest that begin before it.
Recorder::Match Recorder::combined(const Element& element, const Identity& identity) noexcept {
  Match match;
  bool certain = false;
  bool unknown = false;
  const std::uint64_t timestamp = identity.timestamp;
  if (timestamp == kNoTimestamp)
    return match;
  for_each_sink(element, [&](Pad& pad) {
    ArrivalRing::Contribution found;
    if (has_duration(identity.duration))
      found = pad.arrivals->newest_within(timestamp, identity.duration);
    if (found.id == 0)
      found = pad.arrivals->newest_until(timestamp);
    Entry entry;
    if (found.id == 0 || pad.entries->find(found.id, entry) == 0)
      return;
    certain = certain || found.exact || found.bracketed || found.timed;
    // Several were there for one output, and it took one of them.
    unknown = unknown || (element.picks && found.timed &&
                          entry.duration + entry.duration / 16 < identity.duration);
    if (match.pad == nullptr || entry.entered_ns > match.entry.entered_ns)
      match = {entry, &pad, Carrier::Timestamp, false, true};
  });
  return certain && !unknown ? match : Match{};
}

/// One buffer of several that came one after the other: what it was recognised by may be any of them, and the newest is the one
/// that it waited for.
Recorder::Match Recorder::joined(const Element& element, const Identity& identity,
                                 const Match& match) noexcept {
  if (identity.timestamp == kNoTimestamp || !has_duration(identity.duration) ||
      (match.pad != nullptr && identity.content == match.entry.content))
    return match;
  Match newest = match;
  for_each_sink(element, [&](Pad& pad) {
    const ArrivalRing::Contribution found =
        pad.arrivals->newest_within(identity.timestamp, identity.duration);
    Entry entry;
    if (found.whole && pad.entries->find(found.id, entry) != 0 &&
        identity.duration - std::min(identity.duration, entry.duration) > entry.duration / 4)
      newest = {entry, &pad, match.pad != nullptr ? match.carrier : Carrier::Timestamp, false,
                true};
  });
  return newest;
}

void Recorder::enter(CallStack& stack, std::uint64_t now_ns, Pad& sink, const FrameTag& tag,
                     const Identity& identity) noexcept {
  const Pad::Writing writing = sink.writing(stack.thread);
  add(writing.figures.buffers, 1, writing.access);
  note_interval(sink, writing, now_ns, tag.measured);
  if (!tag)
    return;
  if (!identity.tag)
    add(writing.figures.untagged, 1, writing.access);
  if (!sink.entries->enter(tag, now_ns, identity) && !sink.element->ends_streams)
    count(sink.element->forgotten);
  if (identity.timestamp != kNoTimestamp)
    name_by_timestamp(sink, tag.id, identity.timestamp);
  else if (!identity.tag)
    sink.aliases->insert(AliasTable::of_pointer(identity.pointer), tag.id, false);
  sink.arrivals->add(tag.id, identity.timestamp, identity.duration);
  if (!sink.element->ends_streams)
    return;
  if (tag.measured)
    arrive(stack, now_ns, sink, writing, tag);
  else
    static_cast<void>(place_of(sink, tag)); // its measured frames are waited for
}

void Recorder::name_by_timestamp(Pad& sink, std::uint64_t id, std::uint64_t timestamp) noexcept {
  const std::uint64_t name = AliasTable::of_timestamp(timestamp);
  const AliasTable::Found other = sink.aliases->find(name);
  // Two frames of one timestamp inside at once: it does not tell which of them leaves.
  bool ambiguous = false;
  if (other.id != 0 && other.id != id && other.id >= get(flush_before_)) {
    const std::uint64_t state = sink.entries->state_of(other.id);
    ambiguous = state != 0 && (other.ambiguous || (state & EntryTable::kLeft) == 0);
  }
  sink.aliases->insert(name, id, ambiguous);
}

void Recorder::arrive(CallStack& stack, std::uint64_t now_ns, Pad& sink,
                      const Pad::Writing& writing, const FrameTag& tag) noexcept {
  add(writing.figures.arrived, 1, writing.access);
  // All that was made of a frame has its origin. Two origins with one time are unlikely, and then one frame less.
  const std::uint64_t name = tag.origin_ns * Figures::kOrigins + tag.origin_pad;
  const bool fresh = sink.complete->find(name).id == 0;
  if (fresh) {
    sink.complete->insert(name, tag.id, false);
    add(writing.figures.distinct, 1, writing.access);
  }
  log_.add(
      {tag.id, 0, tag.origin_ns, now_ns, 0, sink.index, stack.thread, SpanKind::Arrival, false});
  const std::size_t place = place_of(sink, tag);
  if (place == Figures::kOrigins)
    return;
  (*writing.figures.latency)[place].record(since(tag.origin_ns, now_ns), writing.access);
  if (fresh)
    add(writing.figures.frames[place], 1, writing.access);
}

/// Of the frame's origin among those of the sink; kOrigins where there is no place for one more.
std::size_t Recorder::place_of(Pad& sink, const FrameTag& tag) noexcept {
  const std::uint32_t wanted = tag.origin_pad + 1;
  for (std::size_t i = 0; i < Figures::kOrigins; ++i) {
    std::uint32_t found = sink.origins[i].load(std::memory_order_relaxed);
    if (found == wanted ||
        (found == 0 &&
         sink.origins[i].compare_exchange_strong(found, wanted, std::memory_order_relaxed)) ||
        found == wanted)
      return i;
  }
  return Figures::kOrigins;
}

void Recorder::note_interval(Pad& pad, const Pad::Writing& writing, std::uint64_t now_ns,
                             bool measured) noexcept {
  const std::uint64_t previous = get(pad.previous_ns);
  put(pad.previous_ns, now_ns);
  if (measured && previous != 0)
    writing.figures.interval->record(since(previous, now_ns), writing.access);
}

void Recorder::also_left(Pad* source, std::uint64_t id) noexcept {
  if (source == nullptr)
    return;
  for_each_sink(*source->element, [&](Pad& pad) { pad.entries->mark(id, EntryTable::kLeft, 0); });
}

void Recorder::begin(CallStack& stack, std::uint64_t now_ns, Pad* pad, const FrameTag& tag,
                     std::uint32_t buffers, const void* key) noexcept {
  if (stack.depth < CallStack::kDepth)
    stack.calls[stack.depth] = {pad, key, tag.id, now_ns, 0, buffers, tag.measured};
  ++stack.depth;
}

void Recorder::end(CallStack& stack, std::uint64_t now_ns, const void* key,
                   Outcome outcome) noexcept {
  if (!stack.unwind(key))
    return;
  const Call* call = stack.top();
  --stack.depth;
  if (call == nullptr)
    return;
  const std::uint64_t whole = since(call->begun_ns, now_ns);
  const std::uint64_t own = since(std::min(call->nested_ns, whole), whole);
  if (Call* caller = stack.top())
    caller->nested_ns += whole;
  if (call->pad == nullptr || call->buffers == 0)
    return;
  if (outcome == Outcome::Flushing && call->pad->entries)
    call->pad->owner->refused(*call->pad, call->id);
  const std::uint64_t each = call->buffers == 1 ? own : own / call->buffers;
  if (call->pad->entries)
    call->pad->entries->set_spent(call->id, each);
  if (!call->measured)
    return;
  const auto [figures, access] = call->pad->writing(stack.thread);
  for (std::uint32_t i = 0; i < call->buffers; ++i)
    figures.processing.record(each, access);
  call->pad->owner->log_.add({call->id, 0, call->begun_ns, now_ns, own, call->pad->index,
                              stack.thread, SpanKind::Processing, true});
}

void Recorder::frame_released(std::uint64_t id) noexcept {
  if (!frames_.remove(id))
    return;
  const bool was_flushed = id < get(flush_before_);
  const bool stopped = stopping_.load(std::memory_order_relaxed);
  const std::size_t pad_count = pad_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < pad_count; ++i) {
    Pad& pad = *pads_[i].load(std::memory_order_relaxed);
    if (!pad.entries || pad.element->ends_streams)
      continue;
    Entry entry;
    const std::uint64_t state = pad.entries->find(id, entry);
    if (state == 0 || (state & (EntryTable::kLeft | EntryTable::kEnded)) != 0)
      continue;
    const bool dropped = entry.tag.measured && !stopped && !was_flushed;
    const std::uint64_t before =
        pad.entries->mark(id, EntryTable::kEnded | (dropped ? EntryTable::kDropped : 0), 0);
    if (before == 0 || (before & (EntryTable::kLeft | EntryTable::kEnded)) != 0 ||
        !entry.tag.measured)
      continue;
    Element& element = *pad.element;
    count(stopped ? element.unfinished : was_flushed ? element.flushed : element.ended);
  }
}

/// The frame is gone by then, and was taken for a drop.
void Recorder::refused(Pad& pad, std::uint64_t id) noexcept {
  Entry entry;
  if (pad.element->ends_streams || pad.entries->find(id, entry) == 0 || !entry.tag.measured)
    return;
  const std::uint64_t before =
      pad.entries->mark(id, EntryTable::kLeft, EntryTable::kEnded | EntryTable::kDropped);
  if (before == 0 || (before & EntryTable::kLeft) != 0)
    return;
  if ((before & EntryTable::kDropped) != 0)
    pad.element->ended.fetch_sub(1, std::memory_order_relaxed);
  else if ((before & EntryTable::kEnded) != 0)
    return; // counted as what it was
  count(pad.element->flushed);
}

void Recorder::flushed() noexcept {
  put(flush_before_, get(next_id_));
  paused();
}

void Recorder::paused() noexcept {
  const std::size_t pad_count = pad_count_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < pad_count; ++i)
    put(pads_[i].load(std::memory_order_relaxed)->previous_ns, 0);
}

std::optional<std::uint64_t> Recorder::arrived() const {
  std::optional<std::uint64_t> fewest;
  for (const Pad* pad : pads()) {
    if (pad->direction == Direction::Sink && pad->element->ends_streams)
      fewest =
          std::min(fewest.value_or(std::numeric_limits<std::uint64_t>::max()), arrived_at(*pad));
  }
  return fewest;
}

/// Of the origin that has the fewest. What begins inside counts only where nothing comes from a source: it may be a few.
std::uint64_t Recorder::arrived_at(const Pad& sink) const {
  std::optional<std::uint64_t> of_sources;
  std::optional<std::uint64_t> of_others;
  for (std::size_t i = 0; i < Figures::kOrigins; ++i) {
    const std::uint32_t origin = sink.origins[i].load(std::memory_order_relaxed);
    if (origin == 0)
      continue;
    std::uint64_t frames = 0;
    for (const Figures* figures : sink.figures())
      frames += figures != nullptr ? get(figures->frames[i]) : 0;
    const Pad& begins = *pads_[origin - 1].load(std::memory_order_relaxed);
    const bool is_source = begins.element->sink_count.load(std::memory_order_relaxed) == 0;
    std::optional<std::uint64_t>& fewest = is_source ? of_sources : of_others;
    fewest = std::min(fewest.value_or(frames), frames);
  }
  return of_sources.value_or(of_others.value_or(0));
}

std::uint64_t Recorder::arrived_in_all() const {
  std::uint64_t sum = 0;
  for (const Pad* pad : pads())
    sum += pad->sum(&Figures::distinct);
  return sum;
}

std::uint64_t Recorder::begun() const {
  std::uint64_t sum = 0;
  for (const Pad* pad : pads())
    sum += get(pad->frames);
  return sum;
}

bool Recorder::measured_have_begun() const {
  const auto all = pads();
  return settings_.samples != 0 && std::any_of(all.begin(), all.end(), [this](const Pad* pad) {
           return pad->direction == Direction::Source &&
                  get(pad->frames) >= settings_.warmup + settings_.samples;
         });
}

} // namespace simaai::latency
