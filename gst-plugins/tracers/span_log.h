// SPDX-License-Identifier: LGPL-2.1-or-later
// Every measured interval of a run in storage that is reserved beforehand: exact samples, waterfalls, traces.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace simaai::latency {

enum class SpanKind : std::uint8_t {
  Origin,     ///< the frame appears at `pad`; begin = end
  Residence,  ///< in the element of source pad `pad`; `part_ns` of it waiting
  Processing, ///< in the call into `pad`; `part_ns` of it not in calls further down
  Arrival,    ///< from its origin to sink pad `pad` of an element that ends the stream
  // Of each job that wrote a buffer of source pad `pad`, one after the other in the log.
  JobQueued,
  JobDevice,
  JobRetirement,
};

struct Span {
  std::uint64_t id = 0;
  std::uint64_t parent = 0; ///< frame that this one was made of, 0: none
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t part_ns = 0;
  std::uint32_t pad = 0;
  std::uint32_t thread = 0;
  SpanKind kind = SpanKind::Origin;
  bool known_part = false; ///< part_ns is valid
};

static_assert(sizeof(Span) == 56, "five numbers of 8 bytes, two of 4, kind and flag");

class SpanLog {
public:
  explicit SpanLog(std::size_t capacity)
      : spans_(capacity != 0 ? new (std::nothrow) Span[capacity] : nullptr),
        capacity_(spans_ ? capacity : 0), wanted_(capacity) {}

  void add(const Span& span) noexcept {
    if (capacity_ == 0)
      return;
    const std::size_t at = next_.fetch_add(1, std::memory_order_relaxed);
    if (at < capacity_)
      spans_[at] = span;
    written_.fetch_add(1, std::memory_order_release);
  }

  /// Only while no thread records.
  [[nodiscard]] std::span<const Span> spans() const noexcept {
    return {spans_.get(), std::min(written_.load(std::memory_order_acquire), capacity_)};
  }
  /// Nothing was lost: figures taken from it are complete.
  [[nodiscard]] bool complete() const noexcept {
    return capacity_ != 0 && written_.load(std::memory_order_acquire) <= capacity_;
  }

  /// Some were to be kept, and not all were.
  [[nodiscard]] bool short_of_room() const noexcept { return wanted_ != 0 && !complete(); }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

private:
  std::unique_ptr<Span[]> spans_;
  std::size_t capacity_; ///< 0 as well where there is no memory for so many
  std::size_t wanted_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::size_t> written_{0}; // equals next_ where no thread is between the two
};

} // namespace simaai::latency
