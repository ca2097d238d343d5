// SPDX-License-Identifier: LGPL-2.1-or-later
// Samples of the output, timed.
#include "a65/common/store_choice.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace simaai::kernels::a65::detail {
namespace {

/// Views with gaps between elements have no bytes that are safe to sample; from this on it is
/// assumed that no cache holds them.
constexpr std::uint64_t kStreamBytes = std::uint64_t{1} << 20;

/// What SIMAAI_A65_STORES says; AskOutput without it.
Stores forced_stores() noexcept {
  const char* value = std::getenv("SIMAAI_A65_STORES");
  const std::string_view name = value == nullptr ? "" : value;
  if (name == "cached")
    return Stores::Cached;
  if (name == "streaming")
    return Stores::Streaming;
  if (!name.empty())
    std::fprintf(stderr,
                 "simaai-kernels: SIMAAI_A65_STORES=%s is not known (cached, streaming), each call "
                 "chooses\n",
                 value);
  return Stores::AskOutput;
}

#if defined(__x86_64__)
/// Bytes read and written below which a call is over before its samples pay.
constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 10;
/// Output bytes below which a sample's neighbourhood would not lie in the output.
constexpr std::uint64_t kLeastOutputBytes = std::uint64_t{8} << 10;

std::uint64_t elements_of(const TensorSpec& spec) noexcept {
  std::uint64_t elements = 1;
  for (const std::int64_t extent : spec.shape.extents())
    elements *= static_cast<std::uint64_t>(extent);
  return elements;
}

/// Whether every byte of the output port belongs to the output.
bool is_gapless(const ops::PortPlan& plan) noexcept {
  const TensorSpec& output = plan.output();
  return !std::holds_alternative<Strided>(output.layout) ||
         elements_of(output) * scalar_bytes(output.dtype) == plan.output_requirement().bytes;
}

/// Cycles of the time stamp counter that a line takes from no cache: on machines with 2 to 4 GHz
/// caches answer within 120, memory after 250 or more.
constexpr std::uint64_t kMemoryCycles = 200;

void read_byte(const std::byte* at) noexcept {
  static_cast<void>(*static_cast<const volatile std::byte*>(at));
}

std::uint64_t cycles_of_read(const std::byte* at) noexcept {
  _mm_lfence();
  const std::uint64_t begin = __rdtsc();
  _mm_lfence();
  read_byte(at);
  _mm_lfence();
  return __rdtsc() - begin;
}

/// Another line of the same page, at the same side of the middle of the output.
const std::byte* page_neighbour(const std::byte* at) noexcept {
  constexpr std::uintptr_t kPageBytes = 4096;
  constexpr std::ptrdiff_t kDistance = 1024;
  const bool late = reinterpret_cast<std::uintptr_t>(at) % kPageBytes >= kPageBytes - kDistance;
  return late ? at - kDistance : at + kDistance;
}
#endif

} // namespace

Stores choose_stores(const ops::PortPlan& plan) noexcept {
  static const Stores forced = forced_stores();
  if (forced != Stores::AskOutput)
    return forced;
  const std::uint64_t bytes = plan.input_requirement().bytes + plan.output_requirement().bytes;
#if defined(__x86_64__)
  if (bytes >= kLeastBytes && plan.output_requirement().bytes >= kLeastOutputBytes &&
      is_gapless(plan))
    return Stores::AskOutput;
#endif
  return bytes >= kStreamBytes ? Stores::Streaming : Stores::Cached;
}

bool lies_in_memory(const std::byte* dst, std::size_t bytes) noexcept {
#if defined(__x86_64__)
  constexpr std::size_t kSamples = 3;
  // The pages first, all at once: translation of an address takes longer than memory and says
  // nothing about the data.
  for (std::size_t sample = 1; sample <= kSamples; ++sample)
    read_byte(page_neighbour(dst + sample * (bytes / (kSamples + 1))));
  // One sample in cache is enough: of a cached output some lines may be gone, of another none is left.
  for (std::size_t sample = 1; sample <= kSamples; ++sample)
    if (cycles_of_read(dst + sample * (bytes / (kSamples + 1))) < kMemoryCycles)
      return false;
  return true;
#else
  // Preparation decides here: it never says AskOutput.
  static_cast<void>(dst);
  static_cast<void>(bytes);
  return false;
#endif
}

} // namespace simaai::kernels::a65::detail
