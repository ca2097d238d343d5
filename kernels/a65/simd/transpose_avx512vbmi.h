// SPDX-License-Identifier: LGPL-2.1-or-later
// Transposition of bytes within the 128-bit lanes of AVX-512. Everything is a member of a class of the
// level with VBMI. Include it in files built for the instruction set only.
#pragma once

#include <cstddef>

#include "a65/simd/isa_avx512.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiTranspose {
  // With rows r and columns c of a lane as the bits of an address (r, c), a step makes
  // the highest bit of r the lowest of c and the highest of c the lowest of r: it rotates the address.

  template <std::size_t kRows> struct Rows { __m512i of[kRows]; };

  template <std::size_t kRows>
  [[gnu::always_inline]] static inline Rows<kRows> step(const Rows<kRows>& rows) noexcept {
    Rows<kRows> made;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows / 2; ++i) {
      made.of[2 * i] = _mm512_unpacklo_epi8(rows.of[i], rows.of[i + kRows / 2]);
      made.of[2 * i + 1] = _mm512_unpackhi_epi8(rows.of[i], rows.of[i + kRows / 2]);
    }
    return made;
  }
  /// A step that keeps the lower half of the columns.
  template <std::size_t kRows>
  [[gnu::always_inline]] static inline Rows<kRows / 2>
  lower_step(const Rows<kRows>& rows) noexcept {
    Rows<kRows / 2> made;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < kRows / 2; ++i)
      made.of[i] = _mm512_unpacklo_epi8(rows.of[i], rows.of[i + kRows / 2]);
    return made;
  }

  /// Channels as rows become pixels: each lane of row j holds the 16 / kChannels pixels from
  /// j * 16 / kChannels on, all channels of each.
  template <std::size_t kChannels>
  [[gnu::always_inline]] static inline Rows<kChannels>
  to_pixels(const Rows<kChannels>& rows) noexcept {
    if constexpr (kChannels == 16)
      return step(step(step(step(rows))));
    else if constexpr (kChannels == 8)
      return step(step(step(rows)));
    else
      return step(step(rows));
  }
  /// Sixteen pixels of sixteen channels become the first kChannels channels.
  template <std::size_t kChannels>
  [[gnu::always_inline]] static inline Rows<kChannels> to_channels(const Rows<16>& rows) noexcept {
    if constexpr (kChannels == 16)
      return step(step(step(step(rows))));
    else if constexpr (kChannels == 8)
      return step(step(step(lower_step(rows))));
    else
      return step(step(lower_step(lower_step(rows))));
  }
};

} // namespace simaai::kernels::a65::detail
