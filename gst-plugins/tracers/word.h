// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers that one thread writes, or several, while others read them.
#pragma once

#include <atomic>
#include <cstdint>

namespace simaai::latency {

/// A relaxed atomic that can be written and read as a plain value.
using Word = std::atomic<std::uint64_t>;

inline std::uint64_t get(const Word& word) noexcept { return word.load(std::memory_order_relaxed); }
inline void put(Word& word, std::uint64_t value) noexcept {
  word.store(value, std::memory_order_relaxed);
}

/// Whether the calling thread is the only one that ever writes: then it need not lock the bus.
enum class Access : std::uint8_t { Own, Shared };

inline void add(Word& word, std::uint64_t amount, Access access) noexcept {
  if (access == Access::Own)
    put(word, get(word) + amount);
  else
    word.fetch_add(amount, std::memory_order_relaxed);
}

/// What happens rarely enough not to ask who writes.
inline void count(Word& word) noexcept { word.fetch_add(1, std::memory_order_relaxed); }

} // namespace simaai::latency
