// SPDX-License-Identifier: LGPL-2.1-or-later
// Looking out for an answer that is on its way, instead of sleeping until it comes.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>

#include <poll.h>
#include <sched.h>

namespace simaai::runtime {

/// Jobs whose ports have so many bytes in sum take about as long as two changes of threads: 512 KiB.
inline constexpr std::uint64_t kBriefBytes = std::uint64_t{1} << 19;

/// How long one side of a connection looks out after it handed a brief job or its answer over: waking a processor that
/// sleeps takes about as long.
inline constexpr std::chrono::microseconds kAttention{50};

inline constexpr std::uint32_t kNoProcessor = UINT32_MAX;

/// The processor that this thread runs on.
[[nodiscard]] inline std::uint32_t this_processor() noexcept {
  const int number = ::sched_getcpu();
  return number < 0 ? kNoProcessor : static_cast<std::uint32_t>(number);
}

/// Whether to look out for a side that was last seen on the processor `other`. On the same one it would only be kept from
/// its work: going to sleep is the quickest way to the answer then.
[[nodiscard]] inline bool may_look_out(std::uint32_t other) noexcept {
  return other != kNoProcessor && other != this_processor();
}

/// poll() without sleep, again and again for up to `time`. What poll() returns; 0: nothing came.
[[nodiscard]] inline int look_out(std::span<pollfd> watched,
                                  std::chrono::nanoseconds time) noexcept {
  const auto end = std::chrono::steady_clock::now() + time;
  while (true) {
    const int ready = ::poll(watched.data(), watched.size(), 0);
    if (ready != 0 || std::chrono::steady_clock::now() >= end)
      return ready;
  }
}

} // namespace simaai::runtime
