// SPDX-License-Identifier: LGPL-2.1-or-later
// How a frame is recognised on its way through the elements.
#pragma once

#include <cstdint>

namespace simaai::latency {

/// No timestamp.
inline constexpr std::uint64_t kNoTimestamp = ~std::uint64_t{0};

/// What a buffer carries from where it first appeared. Never changed afterwards.
struct FrameTag {
  std::uint64_t id = 0; ///< 0: no frame
  std::uint64_t origin_ns = 0;
  std::uint32_t origin_pad = 0; ///< index of the pad that it left first
  bool measured = false;        ///< after the warm-up and within the number of samples

  [[nodiscard]] explicit operator bool() const noexcept { return id != 0; }
};

/// All that can be known of one buffer at one moment.
struct Identity {
  FrameTag tag; ///< empty where the buffer carries none
  std::uint64_t timestamp = kNoTimestamp;
  std::uint64_t pointer = 0;
  std::uint64_t content =
      0; ///< address of its first memory: copies that share it are the same data
  std::uint64_t duration = kNoTimestamp;
};

/// What a frame was recognised by when it left an element.
enum class Carrier : std::uint8_t { Meta, Timestamp, Pointer };
inline constexpr unsigned kCarriers = 3;

} // namespace simaai::latency
