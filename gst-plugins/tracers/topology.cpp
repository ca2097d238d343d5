// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements and pads of a recorder: what each has, and where they are added.
#include "made_once.h"
#include "recorder.h"

namespace simaai::latency {

Figures::Figures(Direction direction, bool ends_streams) {
  if (direction == Direction::Source) {
    residence = std::make_unique<Distribution>();
    waiting = std::make_unique<Distribution>();
    thread = std::make_unique<Distribution>();
    return;
  }
  interval = std::make_unique<Distribution>();
  if (ends_streams)
    latency = std::make_unique<std::array<Distribution, kOrigins>>();
}

Pad::Pad(Recorder& recorder, Element& on, std::string called, Direction which, std::uint32_t at)
    : owner(&recorder), element(&on), name(std::move(called)), direction(which), index(at),
      own_(which, on.ends_streams) {
  if (direction == Direction::Source)
    return;
  const std::size_t window = recorder.settings().window;
  entries = std::make_unique<EntryTable>(window);
  aliases = std::make_unique<AliasTable>(window);
  arrivals = std::make_unique<ArrivalRing>();
  if (element->ends_streams)
    complete = std::make_unique<AliasTable>(window);
}

Pad::~Pad() {
  delete others_.load(std::memory_order_acquire);
  delete jobs.load(std::memory_order_acquire);
}

Pad::Writing Pad::writing_other(std::uint32_t thread) noexcept {
  std::uint32_t first = 0;
  if (first_thread_.compare_exchange_strong(first, thread, std::memory_order_relaxed))
    return {own_, Access::Own};
  const auto make = [this] { return std::make_unique<Figures>(direction, element->ends_streams); };
  return {made_once(others_, make), Access::Shared};
}

std::uint64_t Pad::sum(Word Figures::*word) const noexcept {
  std::uint64_t total = 0;
  for (const Figures* part : figures())
    total += part != nullptr ? get(part->*word) : 0;
  return total;
}

Element* Recorder::add_element(std::string name, std::string factory, bool ends_streams,
                               std::string path) {
  const std::lock_guard lock(topology_);
  Element& element = element_store_.emplace_back();
  element.path = path.empty() ? name : std::move(path);
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
  if (index == kPads || (direction == Direction::Sink && sink == Element::kSinks)) {
    count(unfollowed_pads_);
    return nullptr;
  }
  Pad& pad = pad_store_.emplace_back(*this, element, std::move(name), direction,
                                     static_cast<std::uint32_t>(index));
  if (direction == Direction::Sink) {
    element.sinks[sink].store(&pad, std::memory_order_relaxed);
    element.sink_count.store(sink + 1, std::memory_order_release);
  }
  pads_[index].store(&pad, std::memory_order_relaxed);
  pad_count_.store(index + 1, std::memory_order_release);
  return &pad;
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

} // namespace simaai::latency
