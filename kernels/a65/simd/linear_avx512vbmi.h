// SPDX-License-Identifier: LGPL-2.1-or-later
// Contiguous vectors for AVX-512 with VBMI. Everything is a member of a class of this level. Include
// it in files built for the instruction set only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "a65/simd/isa_avx512.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiLinear {
  using Isa = Avx512<true>;
  using Bytes = Isa::Bytes;

  /// Elements of a step.
  static constexpr std::int64_t kStep = 32;

  /// Float32 to BFloat16: the upper halves of two vectors side by side.
  struct Narrowing {
    static constexpr std::int64_t kSrcBytes = 4;
    static constexpr std::int64_t kDstBytes = 2;
    static constexpr std::int64_t kAhead = 2048; ///< prefetch distance of streaming in bytes
    static constexpr Bytes kIndex = [] {
      Bytes index{};
      for (std::uint8_t i = 0; i < 64; ++i)
        index.at[i] = static_cast<std::uint8_t>(i / 2 % 16 * 4 + 2 + i % 2);
      return index;
    }();
    template <bool kStream> void step(const std::byte* from, std::byte* to) const noexcept {
      const __m512i first = Isa::round_f32(type, Isa::load_512(from));
      const __m512i second = Isa::round_f32(type, Isa::load_512(from + 64));
      Isa::put_512<kStream>(to, _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(index, first),
                                                             0xffffffff00000000U, index, second));
    }
    Isa::F32 type;
    __m512i index = kIndex.load();
  };

  struct Widening {
    static constexpr std::int64_t kSrcBytes = 2;
    static constexpr std::int64_t kDstBytes = 4;
    static constexpr std::int64_t kAhead = 512;
    static __m512i widen(const std::byte* from) noexcept {
      return _mm512_slli_epi32(_mm512_cvtepu16_epi32(Isa::load_256(from)), 16);
    }
    template <bool kStream> void step(const std::byte* from, std::byte* to) const noexcept {
      Isa::put_512<kStream>(to, widen(from));
      Isa::put_512<kStream>(to + 64, widen(from + 32));
    }
  };

  /// The first and the last step are unaligned and overlap their neighbours, which write the same
  /// values; all between are aligned to a cache line, so that any output is as fast as an aligned one.
  template <class Conversion, bool kStream>
  [[gnu::noinline]] static void convert(const LinearRow& row) noexcept {
    constexpr std::int64_t kSrc = Conversion::kSrcBytes;
    constexpr std::int64_t kDst = Conversion::kDstBytes;
    const Conversion conversion{};
    const std::byte* const src = row.src;
    std::byte* const dst = row.dst;
    const std::int64_t last = row.count - kStep;
    conversion.template step<false>(src, dst);
    const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst) % 64);
    for (std::int64_t i = beyond == 0 ? 0 : (64 - beyond) / kDst; i <= last; i += kStep) {
      if constexpr (kStream)
        for (std::int64_t line = 0; line < kStep * kSrc; line += 64)
          __builtin_prefetch(src + i * kSrc + Conversion::kAhead + line);
      conversion.template step<kStream>(src + i * kSrc, dst + i * kDst);
    }
    conversion.template step<false>(src + last * kSrc, dst + last * kDst);
    if constexpr (kStream)
      _mm_sfence();
  }

  /// Vectors of a step or more; shorter ones by the level below.
  template <class Conversion, bool kStream, LinearRowFn RowTable::*kBelow>
  static void row(const LinearRow& row) noexcept {
    if (row.count >= kStep)
      convert<Conversion, kStream>(row);
    else
      (avx2_linear_rows().*kBelow)(row);
  }
};

} // namespace simaai::kernels::a65::detail
