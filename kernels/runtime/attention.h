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

/// Whether there is a second processor for the other side; on the only one, looking out would keep it from working.
[[nodiscard]] inline bool may_look_out() noexcept {
  cpu_set_t allowed;
  return ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 1;
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
