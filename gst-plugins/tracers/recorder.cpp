// SPDX-License-Identifier: LGPL-2.1-or-later
// Recognises frames where they leave an element and turns what is known of them into figures.
#include "recorder.h"

#include <algorithm>
#include <limits>

namespace simaai::latency {

namespace {

void count(Word& word) noexcept { word.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t since(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

template <class Visit> void for_each_sink(const Element& element, Visit visit) noexcept {
  const std::size_t count = element.sink_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i)
    visit(*element.sinks[i].load(std::memory_order_relaxed));
}

bool combines(const Element& element) noexcept {
  return element.sink_count.load(std::memory_order_acquire) > 1;
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

Recorder::Recorder(const Settings& settings) : settings_(settings), log_(settings.spans) {}

Element* Recorder::add_element(std::string name, std::string factory, bool ends_streams) {
  const std::lock_guard lock(topology_);
  Element& element = element_store_.emplace_back();
  element.name = std::move(name);
  element.factory = std::move(factory);
  element.ends_streams = ends_streams;
  element.index = static_cast<std::uint32_t>(element_store_.size() - 1);
  return &element;
}

Pad* Recorder::add_pad(Element& element, std::string name, Direction direction) {
  const std::lock_guard lock(topology_);
  const std::size_t index = pad_count_.load(std::memory_order_relaxed);
  const std::size_t sink = element.sink_count.load(std::memory_order_relaxed);
  if (index == kPads || (direction == Direction::Sink && sink == Element::kSinks))
    return nullptr;
  Pad& pad = pad_store_.emplace_back();
  pad.owner = this;
  pad.element = &element;
  pad.name = std::move(name);
  pad.direction = direction;
  pad.index = static_cast<std::uint32_t>(index);
  if (direction == Direction::Source) {
    pad.residence = std::make_unique<Distribution>();
    pad.waiting = std::make_unique<Distribution>();
  } else {
    pad.interval = std::make_unique<Distribution>();
    pad.entries = std::make_unique<EntryTable>(settings_.window);
    pad.aliases = std::make_unique<AliasTable>(settings_.window);
    pad.arrivals = std::make_unique<ArrivalRing>();
    if (element.ends_streams)
      pad.latency = std::make_unique<std::array<Pad::Latency, Pad::kOrigins>>();
    element.sinks[sink].store(&pad, std::memory_order_relaxed);
    element.sink_count.store(sink + 1, std::memory_order_release);
  }
  pads_[index].store(&pad, std::memory_order_relaxed);
  pad_count_.store(index + 1, std::memory_order_release);
  return &pad;
}

FrameTag Recorder::leave(CallStack& stack, std::uint64_t now_ns, Pad& source,
                         const Identity& identity) noexcept {
  count(source.buffers);
  const Match match = recognise(*source.element, identity);
  if (match.pad != nullptr)
    return account(stack, now_ns, source, match, identity.tag);
  count(source.element->appeared);
  // A tag without an entry: the element kept the frame longer than its entry, or had it from
  // elsewhere. It keeps its origin.
  return identity.tag ? identity.tag : appear(stack, now_ns, source);
}

FrameTag Recorder::appear(CallStack& stack, std::uint64_t now_ns, Pad& source) noexcept {
  const std::uint64_t number = source.appeared.fetch_add(1, std::memory_order_relaxed);
  const bool measured = number >= settings_.warmup &&
                        (settings_.samples == 0 || number - settings_.warmup < settings_.samples);
  const FrameTag tag{next_id_.fetch_add(1, std::memory_order_relaxed), now_ns, source.index,
                     measured};
  if (measured)
    log_.add({tag.id, 0, now_ns, now_ns, 0, source.index, stack.thread, SpanKind::Origin, false});
  return tag;
}

FrameTag Recorder::account(CallStack& stack, std::uint64_t now_ns, Pad& source, const Match& match,
                           const FrameTag& carried) noexcept {
  Element& element = *source.element;
  const std::uint64_t before =
      match.pad->entries->mark(match.entry.tag.id, EntryTable::kLeft, EntryTable::kEnded);
  const bool first = (before & EntryTable::kLeft) == 0;
  // The input ended before its output came: the element had made a new buffer of it.
  if (first && (before & EntryTable::kEnded) != 0 && match.entry.tag.measured)
    element.ended.fetch_sub(1, std::memory_order_relaxed);
  FrameTag tag = carried ? carried : match.entry.tag;
  if (match.combined || (match.carrier == Carrier::Timestamp && !first))
    tag.id = next_id_.fetch_add(1, std::memory_order_relaxed);
  if (match.ambiguous) {
    count(element.ambiguous);
    return tag;
  }
  count(element.recognised[static_cast<std::size_t>(match.carrier)]);
  if (!match.entry.tag.measured)
    return tag;
  const std::uint64_t residence = since(match.entry.entered_ns, now_ns);
  const std::uint64_t waiting =
      since(std::min(residence, spent(stack, now_ns, *match.pad, match.entry)), residence);
  source.residence->record(residence);
  source.waiting->record(waiting);
  const std::uint64_t parent = tag.id == match.entry.tag.id ? 0 : match.entry.tag.id;
  log_.add({tag.id, parent, match.entry.entered_ns, now_ns, waiting, source.index, stack.thread,
            SpanKind::Residence, true});
  return tag;
}

Recorder::Match Recorder::recognise(const Element& element, const Identity& identity) noexcept {
  if (identity.tag) {
    const Match match = by_tag(element, identity);
    if (match.pad == nullptr || !combines(element) || match.entry.pointer == identity.pointer)
      return match;
    // A new buffer of an element with several inputs: the one that it was copied from need not be
    // the last one that it waited for.
    const Match several = combined(element, identity.timestamp);
    return several.pad != nullptr ? several : match;
  }
  if (identity.timestamp != kNoTimestamp) {
    if (combines(element))
      return combined(element, identity.timestamp);
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

Recorder::Match Recorder::combined(const Element& element, std::uint64_t timestamp) noexcept {
  Match match;
  bool certain = false;
  if (timestamp == kNoTimestamp)
    return match;
  for_each_sink(element, [&](Pad& pad) {
    const ArrivalRing::Contribution found = pad.arrivals->newest_until(timestamp);
    Entry entry;
    if (found.id == 0 || pad.entries->find(found.id, entry) == 0)
      return;
    certain = certain || found.exact || found.bracketed;
    if (match.pad == nullptr || entry.entered_ns > match.entry.entered_ns)
      match = {entry, &pad, Carrier::Timestamp, false, true};
  });
  return certain ? match : Match{};
}

void Recorder::enter(CallStack& stack, std::uint64_t now_ns, Pad& sink, const FrameTag& tag,
                     const Identity& identity) noexcept {
  count(sink.buffers);
  note_interval(sink, now_ns, tag.measured);
  if (!tag)
    return;
  if (!identity.tag)
    count(sink.element->untagged);
  sink.entries->enter(tag, now_ns, identity.pointer);
  if (identity.timestamp != kNoTimestamp)
    name_by_timestamp(sink, tag.id, identity.timestamp);
  else if (!identity.tag)
    sink.aliases->insert(AliasTable::of_pointer(identity.pointer), tag.id, false);
  sink.arrivals->add(tag.id, identity.timestamp);
  if (sink.element->ends_streams && tag.measured)
    arrive(stack, now_ns, sink, tag);
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
                      const FrameTag& tag) noexcept {
  count(sink.arrived);
  log_.add(
      {tag.id, 0, tag.origin_ns, now_ns, 0, sink.index, stack.thread, SpanKind::Arrival, false});
  for (Pad::Latency& latency : *sink.latency) {
    std::uint32_t owner = 0;
    const std::uint32_t wanted = tag.origin_pad + 1;
    if (latency.origin.load(std::memory_order_relaxed) == wanted ||
        latency.origin.compare_exchange_strong(owner, wanted, std::memory_order_relaxed) ||
        owner == wanted) {
      latency.ns.record(since(tag.origin_ns, now_ns));
      return;
    }
  }
  count(sink.other_origins);
}

void Recorder::note_interval(Pad& pad, std::uint64_t now_ns, bool measured) noexcept {
  const std::uint64_t previous = get(pad.previous_ns);
  put(pad.previous_ns, now_ns);
  if (measured && previous != 0)
    pad.interval->record(since(previous, now_ns));
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

void Recorder::end(CallStack& stack, std::uint64_t now_ns, const void* key) noexcept {
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
  if (call->pad->entries)
    call->pad->entries->set_spent(call->id, own / call->buffers);
  if (!call->measured)
    return;
  for (std::uint32_t i = 0; i < call->buffers; ++i)
    call->pad->processing.record(own / call->buffers);
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
    const std::uint64_t before = pad.entries->mark(id, EntryTable::kEnded, 0);
    if (before == 0 || (before & (EntryTable::kLeft | EntryTable::kEnded)) != 0 ||
        !entry.tag.measured)
      continue;
    Element& element = *pad.element;
    count(stopped ? element.unfinished : was_flushed ? element.flushed : element.ended);
  }
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

std::vector<const Element*> Recorder::elements() const {
  const std::lock_guard lock(topology_);
  std::vector<const Element*> result;
  for (const Element& element : element_store_)
    result.push_back(&element);
  return result;
}

std::vector<const Pad*> Recorder::pads() const {
  const std::lock_guard lock(topology_);
  std::vector<const Pad*> result;
  for (const Pad& pad : pad_store_)
    result.push_back(&pad);
  return result;
}

std::optional<std::uint64_t> Recorder::arrived() const {
  std::optional<std::uint64_t> fewest;
  for (const Pad* pad : pads()) {
    if (pad->latency)
      fewest =
          std::min(fewest.value_or(std::numeric_limits<std::uint64_t>::max()), get(pad->arrived));
  }
  return fewest;
}

} // namespace simaai::latency
