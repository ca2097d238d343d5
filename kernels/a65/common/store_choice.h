// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether the stores of a call bypass the cache. A store around the cache saves the read of the line
// that it replaces: once more as fast where the output is in memory, half as fast where it is in
// cache. Only the call itself knows which: preparation says whether it asks.
#pragma once

#include <cstddef>
#include <cstdint>

#include <simaai/kernels/ops/plan.h>

namespace simaai::kernels::a65::detail {

enum class Stores : std::uint8_t {
  Cached,    ///< too little traffic to ask
  Streaming, ///< past the cache: forced, or too much traffic to ask
  AskOutput  ///< past the cache where the output lies in memory
};

/// Whether any kernel of this machine has stores that bypass the cache.
#if defined(__x86_64__)
inline constexpr bool kMayStream = true;
#else
inline constexpr bool kMayStream = false;
#endif

/// The choice of preparation for a plan with work. The environment variable SIMAAI_A65_STORES
/// forces it for tests and measurements: `cached` or `streaming`; another value is reported once on
/// standard error. Thread-safe.
[[nodiscard]] Stores choose_stores(const ops::PortPlan& plan) noexcept;

/// True if each of a few samples of the `bytes` bytes at `dst` took as long as memory takes. Reads
/// them.
[[nodiscard]] bool lies_in_memory(const std::byte* dst, std::size_t bytes) noexcept;

/// The choice of a call.
[[nodiscard]] inline bool streams(Stores stores, const std::byte* dst, std::size_t bytes) noexcept {
  switch (stores) {
  case Stores::Cached:
    return false;
  case Stores::Streaming:
    return true;
  case Stores::AskOutput:
    break;
  }
  return lies_in_memory(dst, bytes);
}

} // namespace simaai::kernels::a65::detail
