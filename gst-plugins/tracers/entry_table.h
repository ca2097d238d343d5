// SPDX-License-Identifier: LGPL-2.1-or-later
// What has entered an element and when: fixed tables that one thread writes and others search without a lock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "identity.h"
#include "word.h"

namespace simaai::latency {

/// A copy of an entry.
struct Entry {
  FrameTag tag;
  std::uint64_t entered_ns = 0;
  std::uint64_t spent_ns = 0; ///< thread time inside the element, once its chain has returned
  std::uint64_t pointer = 0;
  std::uint64_t content = 0;
  std::uint64_t duration = 0;
};

/// Entries of one sink pad by frame id. An entry lives until `window` later frames have come.
class EntryTable {
public:
  // State of an entry: the id shifted by four, and these.
  static constexpr std::uint64_t kLeft = 1;  ///< a buffer of it has left the element
  static constexpr std::uint64_t kEnded = 2; ///< its last buffer ended inside the element
  static constexpr std::uint64_t kAmbiguous =
      4;                                       ///< a second buffer of the same frame came meanwhile
  static constexpr std::uint64_t kDropped = 8; ///< the same, and it was counted as a drop
  static constexpr unsigned kShift = 4;

  explicit EntryTable(std::size_t window)
      : mask_(std::bit_ceil(window) - 1), slots_(new Slot[mask_ + 1]) {}

  /// False where that took the place of another measured frame, which is still inside.
  bool enter(const FrameTag& tag, std::uint64_t now_ns, const Identity& identity) noexcept {
    Slot& slot = slot_of(tag.id);
    const std::uint64_t old = get(slot.state);
    const bool inside = old != 0 && (old & (kLeft | kEnded)) == 0;
    const bool twice = inside && old >> kShift == tag.id;
    const bool forgets = inside && !twice && get(slot.origin) % 2 == 1;
    slot.state.store(0, std::memory_order_release); // readers find nothing while it changes
    std::atomic_thread_fence(std::memory_order_release);
    put(slot.entered_ns, now_ns);
    put(slot.spent_ns, 0);
    put(slot.pointer, identity.pointer);
    put(slot.content, identity.content);
    put(slot.duration, identity.duration);
    put(slot.origin_ns, tag.origin_ns);
    put(slot.origin, std::uint64_t{tag.origin_pad} << 1 | (tag.measured ? 1U : 0U));
    slot.state.store(tag.id << kShift | (twice ? kAmbiguous : 0), std::memory_order_release);
    return !forgets;
  }

  /// State of the entry; 0 where there is none.
  [[nodiscard]] std::uint64_t find(std::uint64_t id, Entry& entry) const noexcept {
    const Slot& slot = slot_of(id);
    const std::uint64_t state = slot.state.load(std::memory_order_acquire);
    if (state >> kShift != id)
      return 0;
    const std::uint64_t origin = get(slot.origin);
    entry.tag = {id, get(slot.origin_ns), static_cast<std::uint32_t>(origin >> 1), origin % 2 == 1};
    entry.entered_ns = get(slot.entered_ns);
    entry.spent_ns = get(slot.spent_ns);
    entry.pointer = get(slot.pointer);
    entry.content = get(slot.content);
    entry.duration = get(slot.duration);
    std::atomic_thread_fence(std::memory_order_acquire);
    return get(slot.state) >> kShift == id ? state : 0;
  }

  [[nodiscard]] std::uint64_t state_of(std::uint64_t id) const noexcept {
    const std::uint64_t state = slot_of(id).state.load(std::memory_order_acquire);
    return state >> kShift == id ? state : 0;
  }

  /// Adds and removes flags of an entry. Returns its state before; 0 where there is none.
  std::uint64_t mark(std::uint64_t id, std::uint64_t add, std::uint64_t remove) noexcept {
    Slot& slot = slot_of(id);
    std::uint64_t state = slot.state.load(std::memory_order_acquire);
    while (state >> kShift == id) {
      if (slot.state.compare_exchange_weak(state, (state | add) & ~remove,
                                           std::memory_order_acq_rel))
        return state;
    }
    return 0;
  }

  void set_spent(std::uint64_t id, std::uint64_t spent_ns) noexcept {
    Slot& slot = slot_of(id);
    if (get(slot.state) >> kShift == id)
      put(slot.spent_ns, spent_ns);
  }

private:
  struct alignas(64) Slot {
    Word state{0};
    Word entered_ns{0};
    Word spent_ns{0};
    Word pointer{0};
    Word origin_ns{0};
    Word origin{0};
    Word content{0};
    Word duration{0};
  };
  static_assert(sizeof(Slot) == 64, "an entry is one cache line of most processors");

  [[nodiscard]] Slot& slot_of(std::uint64_t id) const noexcept { return slots_[id & mask_]; }

  std::size_t mask_;
  std::unique_ptr<Slot[]> slots_;
};

/// Frame ids by another name: a timestamp, or the address of a buffer. Each name has four places, of which the oldest frame
/// makes room: names of frames that are inside at once are rarely lost before `window` later ones have come.
class AliasTable {
public:
  explicit AliasTable(std::size_t window)
      : shift_(64 - static_cast<unsigned>(std::bit_width(sets_of(window)) - 1)),
        sets_(new Set[sets_of(window)]) {}

  struct Found {
    std::uint64_t id = 0; ///< 0: the name is not known
    bool ambiguous = false;
  };

  void insert(std::uint64_t name, std::uint64_t id, bool ambiguous) noexcept {
    Set& set = set_of(name);
    Slot* place = &set[0];
    for (Slot& slot : set) {
      if (get(slot.name) == name) {
        place = &slot;
        break;
      }
      if (get(slot.id) < get(place->id))
        place = &slot;
    }
    place->name.store(~std::uint64_t{0}, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_release);
    put(place->id, id << 1 | (ambiguous ? 1U : 0U));
    place->name.store(name, std::memory_order_release);
  }

  [[nodiscard]] Found find(std::uint64_t name) const noexcept {
    for (const Slot& slot : set_of(name)) {
      if (slot.name.load(std::memory_order_acquire) != name)
        continue;
      const std::uint64_t id = get(slot.id);
      std::atomic_thread_fence(std::memory_order_acquire);
      return get(slot.name) == name ? Found{id >> 1, id % 2 == 1} : Found{};
    }
    return {};
  }

  // Names of both kinds in one table: addresses are even.
  static std::uint64_t of_timestamp(std::uint64_t timestamp) noexcept { return timestamp << 1 | 1; }
  static std::uint64_t of_pointer(std::uint64_t pointer) noexcept { return pointer; }

private:
  struct Slot {
    Word name{~std::uint64_t{0}};
    Word id{0};
  };
  struct alignas(64) Set : std::array<Slot, 4> {};
  static_assert(sizeof(Set) == 64, "one cache line of most processors");

  // Two places for each frame of the window; two sets at least, as nothing is shifted by 64.
  static std::size_t sets_of(std::size_t window) noexcept {
    return std::max<std::size_t>(2, std::bit_ceil(window) / 2);
  }
  [[nodiscard]] Set& set_of(std::uint64_t name) const noexcept {
    // Names come in steps; one multiplication leaves some of them in few sets.
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
    const std::uint64_t once = name * kGolden;
    return sets_[static_cast<std::size_t>(((once ^ once >> 32) * kGolden) >> shift_)];
  }

  unsigned shift_;
  std::unique_ptr<Set[]> sets_;
};

/// The latest arrivals of a sink pad in their order, for elements that make one buffer of several.
class ArrivalRing {
public:
  static constexpr std::size_t kDepth = 64;

  void add(std::uint64_t id, std::uint64_t timestamp, std::uint64_t duration) noexcept {
    const std::uint64_t next = get(next_);
    put(ids_[next % kDepth], id);
    put(timestamps_[next % kDepth], timestamp);
    put(durations_[next % kDepth], duration);
    next_.store(next + 1, std::memory_order_release);
  }

  struct Contribution {
    std::uint64_t id = 0;
    bool exact = false;     ///< its timestamp is the one asked for, but for rounding
    bool bracketed = false; ///< a later arrival lies after the one asked for
    bool timed = false;     ///< durations say so
    bool whole = false;     ///< it and earlier ones cover all that was asked for
  };

  /// Elements that count frames of a rate round another way than their inputs did.
  static constexpr std::uint64_t kRoundingNs = 2;

  /// The newest arrival that is not later than `timestamp`.
  [[nodiscard]] Contribution newest_until(std::uint64_t timestamp) const noexcept {
    Contribution found;
    const std::uint64_t next = next_.load(std::memory_order_acquire);
    for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(next, kDepth); ++back) {
      const std::size_t at = (next - back) % kDepth;
      const std::uint64_t stamp = get(timestamps_[at]);
      if (stamp == kNoTimestamp)
        continue;
      if (stamp > timestamp + kRoundingNs) {
        found.bracketed = true;
        continue;
      }
      found.id = get(ids_[at]);
      found.exact = stamp + kRoundingNs >= timestamp;
      break;
    }
    return found;
  }

  /// The newest arrival that lies in part within `duration` from `timestamp` on, which is not 0. Nothing where one that came
  /// later than it has no duration.
  [[nodiscard]] Contribution newest_within(std::uint64_t timestamp,
                                           std::uint64_t duration) const noexcept {
    Contribution found;
    const std::uint64_t end = timestamp + duration;
    const std::uint64_t next = next_.load(std::memory_order_acquire);
    for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(next, kDepth); ++back) {
      const std::size_t at = (next - back) % kDepth;
      const std::uint64_t stamp = get(timestamps_[at]);
      const std::uint64_t length = get(durations_[at]);
      if (stamp == kNoTimestamp)
        continue;
      if (stamp + kRoundingNs >= end)
        continue; // later
      if (length == kNoTimestamp || length == 0 || stamp + length <= timestamp + kRoundingNs)
        break; // unknown, or earlier
      if (found.id == 0) {
        found.id = get(ids_[at]);
        found.timed = true;
        found.whole = stamp + length + kRoundingNs >= end;
      }
      if (stamp <= timestamp + kRoundingNs)
        return found;
    }
    found.whole = false;
    return found;
  }

private:
  std::array<Word, kDepth> ids_{};
  std::array<Word, kDepth> timestamps_{};
  std::array<Word, kDepth> durations_{};
  Word next_{0};
};

} // namespace simaai::latency
