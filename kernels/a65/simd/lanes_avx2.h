// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX2 building blocks of row kernels: loads, stores, the bit rules in lanes, byte planes. Include
// it in files built with -mavx2 only; the namespace keeps its inline functions apart from code for
// other levels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <immintrin.h>

#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail::avx2 {

[[nodiscard]] inline __m256i load_256(const std::byte* from) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(from)));
}

/// Past the cache if so chosen; then `to` is aligned to 32.
template <bool kStream> void put_256(std::byte* to, __m256i value) noexcept {
  auto* const vector = static_cast<__m256i*>(static_cast<void*>(to));
  if constexpr (kStream)
    _mm256_stream_si256(vector, value);
  else
    _mm256_storeu_si256(vector, value);
}

inline void store_256(std::byte* to, __m256i value) noexcept {
  _mm256_storeu_si256(static_cast<__m256i*>(static_cast<void*>(to)), value);
}

[[nodiscard]] inline __m128i load_128(const std::byte* from) noexcept {
  return _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(from)));
}

inline void store_128(std::byte* to, __m128i value) noexcept {
  _mm_storeu_si128(static_cast<__m128i*>(static_cast<void*>(to)), value);
}

/// Past the cache; `to` is aligned to 16.
inline void stream_128(std::byte* to, __m128i value) noexcept {
  _mm_stream_si128(static_cast<__m128i*>(static_cast<void*>(to)), value);
}

[[nodiscard]] inline __m128i load_64(const std::byte* from) noexcept {
  return _mm_loadl_epi64(static_cast<const __m128i*>(static_cast<const void*>(from)));
}

inline void store_64(std::byte* to, __m128i value) noexcept {
  _mm_storel_epi64(static_cast<__m128i*>(static_cast<void*>(to)), value);
}

/// The cast rule in each 32-bit lane: result in the low half, high half zero.
[[nodiscard]] inline __m256i round_f32(__m256i bits) noexcept {
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
  return _mm256_srli_epi32(_mm256_add_epi32(bits, bias), 16);
}

/// Sixteen 16-bit lanes in order from two times eight 32-bit lanes below 2^16.
[[nodiscard]] inline __m256i narrow_32(__m256i first, __m256i second) noexcept {
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(first, second), 0xd8);
}

[[nodiscard]] inline __m256i load_16_f32(const std::byte* from) noexcept {
  return narrow_32(round_f32(load_256(from)), round_f32(load_256(from + 32)));
}

inline void store_16_f32(std::byte* to, __m256i bf16) noexcept {
  // Per 128-bit lane, unpacking with zeros below each value is a shift left by 16.
  const __m256i ordered = _mm256_permute4x64_epi64(bf16, 0xd8);
  const __m256i zero = _mm256_setzero_si256();
  store_256(to, _mm256_unpacklo_epi16(zero, ordered));
  store_256(to + 32, _mm256_unpackhi_epi16(zero, ordered));
}

/// Shuffle control that shifts a 128-bit value right by `bytes`, 0 to 16, filling with zeros.
[[nodiscard]] inline __m128i shift_control(std::int64_t bytes) noexcept {
  alignas(16) static constexpr std::int8_t kControl[32] = {
      0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,
      11,   12,   13,   14,   15,   -128, -128, -128, -128, -128, -128,
      -128, -128, -128, -128, -128, -128, -128, -128, -128, -128};
  return _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(kControl + bytes)));
}

template <class Word> [[nodiscard]] Word load_word(const std::byte* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// The first `count` bytes, 1 to 15, of a 16-byte value; the others are zero. Reads only those.
[[nodiscard]] inline __m128i load_bytes(const std::byte* from, std::int64_t count) noexcept {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  if (count >= 8) {
    low = load_word<std::uint64_t>(from);
    if (count > 8)
      high = load_word<std::uint64_t>(from + count - 8) >> (8 * (16 - count));
  } else if (count >= 4) {
    low = load_word<std::uint32_t>(from);
    low |= static_cast<std::uint64_t>(load_word<std::uint32_t>(from + count - 4))
           << (8 * (count - 4));
  } else {
    for (std::int64_t i = 0; i < count; ++i)
      low |= static_cast<std::uint64_t>(from[i]) << (8 * i);
  }
  return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low));
}

/// The first `count` 16-bit lanes, 1 to 15; the others are zero. Reads only those.
[[nodiscard]] inline __m256i load_lanes_16(const std::byte* from, std::int64_t count) noexcept {
  if (count < 8)
    return _mm256_zextsi128_si256(load_bytes(from, 2 * count));
  const __m128i end = load_128(from + 2 * (count - 8));
  return _mm256_set_m128i(_mm_shuffle_epi8(end, shift_control(2 * (16 - count))), load_128(from));
}

/// The cast rule on sixteen values: per 128-bit lane low bytes of four of the first eight values, of
/// four of the second eight, then their high bytes. High halves of both eights meet in alternating
/// lanes, and so do low halves, through loads that start two bytes later or earlier. A value is
/// rounded up where its low half, less one where the high half is even, reaches 0x8000.
[[nodiscard]] inline __m256i quads_of_f32(const std::byte* from) noexcept {
  const __m256i low = _mm256_blend_epi16(load_256(from), load_256(from + 30), 0xaa);
  const __m256i high = _mm256_blend_epi16(load_256(from + 2), load_256(from + 32), 0xaa);
  const __m256i even = _mm256_andnot_si256(high, _mm256_set1_epi16(1));
  const __m256i up = _mm256_cmpgt_epi16(_mm256_setzero_si256(), _mm256_subs_epu16(low, even));
  const __m256i bytes = _mm256_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15, 0, 4,
                                         8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15);
  return _mm256_shuffle_epi8(_mm256_sub_epi16(high, up), bytes);
}

/// Per 128-bit lane: low bytes of eight 16-bit lanes, then their high bytes.
[[nodiscard]] inline __m256i split_lanes(__m256i lanes) noexcept {
  const __m256i halves = _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 0,
                                          2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
  return _mm256_shuffle_epi8(lanes, halves);
}

/// Bytes of both planes of sixteen 16-bit lanes in order: low ones in the lower half.
[[nodiscard]] inline __m256i split_planes(__m256i lanes) noexcept {
  return _mm256_permute4x64_epi64(split_lanes(lanes), 0xd8);
}

/// Both planes of 32 channels.
struct WidePlanes {
  __m256i low;
  __m256i high;
};

/// Planes of 32 channels from two results of quads_of_f32().
[[nodiscard]] inline WidePlanes join_quads(__m256i first, __m256i second) noexcept {
  const __m256i even = _mm256_permute2x128_si256(first, second, 0x20);
  const __m256i odd = _mm256_permute2x128_si256(first, second, 0x31);
  return {_mm256_unpacklo_epi32(even, odd), _mm256_unpackhi_epi32(even, odd)};
}

/// Planes of 32 16-bit lanes.
[[nodiscard]] inline WidePlanes split_wide(__m256i first, __m256i second) noexcept {
  first = split_lanes(first);
  second = split_lanes(second);
  const __m256i even = _mm256_permute2x128_si256(first, second, 0x20);
  const __m256i odd = _mm256_permute2x128_si256(first, second, 0x31);
  return {_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)};
}

/// The byte planes of sixteen channels of four pixels.
struct FourPlanes {
  __m256i pixel0;
  __m256i pixel1;
  __m256i pixel2;
  __m256i pixel3;
};

// Source types: sixteen, eight or the first few channels as BFloat16 in 16-bit lanes, and the byte
// planes of sixteen, of 32, of the first few, and of sixteen in each of four pixels.

struct F32 {
  static constexpr std::int64_t kBytes = 4;
  static constexpr std::int64_t kStoredBytes = 32;
  static __m256i load_16(const std::byte* from) noexcept { return load_16_f32(from); }
  static __m128i load_8(const std::byte* from) noexcept {
    const __m256i bits = round_f32(load_256(from));
    return _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
  }
  static __m256i load_some(const std::byte* from, std::int64_t count) noexcept {
    alignas(32) static constexpr std::int32_t kMask[32] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                           -1, -1, -1, -1, -1, -1, -1, -1};
    const auto* lanes = static_cast<const int*>(static_cast<const void*>(from));
    const auto* mask = static_cast<const std::byte*>(static_cast<const void*>(kMask + 16 - count));
    const __m256i first = _mm256_maskload_epi32(lanes, load_256(mask));
    const __m256i second = _mm256_maskload_epi32(lanes + 8, load_256(mask + 32));
    return narrow_32(round_f32(first), round_f32(second));
  }
  static __m256i planes_16(const std::byte* from) noexcept {
    return _mm256_permutevar8x32_epi32(quads_of_f32(from),
                                       _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
  static WidePlanes planes_32(const std::byte* from) noexcept {
    return join_quads(quads_of_f32(from), quads_of_f32(from + 64));
  }
  static __m256i planes_some(const std::byte* from, std::int64_t count) noexcept {
    return split_planes(load_some(from, count));
  }
  static FourPlanes planes_4x16(const std::byte* from, std::int64_t stride) noexcept {
    return {planes_16(from), planes_16(from + stride), planes_16(from + 2 * stride),
            planes_16(from + 3 * stride)};
  }
};

struct BF16 {
  static constexpr std::int64_t kBytes = 2;
  static constexpr std::int64_t kStoredBytes = 32;
  static __m256i load_16(const std::byte* from) noexcept { return load_256(from); }
  static __m128i load_8(const std::byte* from) noexcept { return load_128(from); }
  static __m256i load_some(const std::byte* from, std::int64_t count) noexcept {
    return load_lanes_16(from, count);
  }
  static __m256i planes_16(const std::byte* from) noexcept { return split_planes(load_256(from)); }
  static WidePlanes planes_32(const std::byte* from) noexcept {
    return split_wide(load_256(from), load_256(from + 32));
  }
  static __m256i planes_some(const std::byte* from, std::int64_t count) noexcept {
    return split_planes(load_some(from, count));
  }
  static FourPlanes planes_4x16(const std::byte* from, std::int64_t stride) noexcept {
    return {planes_16(from), planes_16(from + stride), planes_16(from + 2 * stride),
            planes_16(from + 3 * stride)};
  }
  /// Sixteen low and sixteen high bytes.
  template <bool kStream> static void put_planes(std::byte* to, __m256i planes) noexcept {
    const __m256i pairs = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0,
                                           8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    put_256<kStream>(to, _mm256_shuffle_epi8(_mm256_permute4x64_epi64(planes, 0xd8), pairs));
  }
  static void store_1(std::byte* to, std::byte low, std::byte high) noexcept {
    to[0] = low;
    to[1] = high;
  }
  static void store_16(std::byte* to, __m128i first, __m128i second) noexcept {
    store_128(to, first);
    store_128(to + 16, second);
  }
  static void store_8(std::byte* to, __m128i lanes) noexcept { store_128(to, lanes); }
  static void store_4(std::byte* to, __m128i lanes) noexcept { store_64(to, lanes); }
};

/// What F32 is as a destination.
struct ToF32 {
  static constexpr std::int64_t kBytes = 4;
  static constexpr std::int64_t kStoredBytes = 32;
  /// Sixteen low and sixteen high bytes. Each 128-bit lane gets both bytes of four channels of the
  /// first eight and four of the second eight, then a shuffle spreads either group.
  template <bool kStream> static void put_planes(std::byte* to, __m256i planes) noexcept {
    constexpr char kNone = -128;
    const __m256i first = _mm256_setr_epi8(kNone, kNone, 0, 8, kNone, kNone, 1, 9, kNone, kNone, 2,
                                           10, kNone, kNone, 3, 11, kNone, kNone, 0, 8, kNone,
                                           kNone, 1, 9, kNone, kNone, 2, 10, kNone, kNone, 3, 11);
    const __m256i second = _mm256_setr_epi8(kNone, kNone, 4, 12, kNone, kNone, 5, 13, kNone, kNone,
                                            6, 14, kNone, kNone, 7, 15, kNone, kNone, 4, 12, kNone,
                                            kNone, 5, 13, kNone, kNone, 6, 14, kNone, kNone, 7, 15);
    const __m256i lanes =
        _mm256_permutevar8x32_epi32(planes, _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7));
    put_256<kStream>(to, _mm256_shuffle_epi8(lanes, first));
    put_256<kStream>(to + 32, _mm256_shuffle_epi8(lanes, second));
  }
  static void store_1(std::byte* to, std::byte low, std::byte high) noexcept {
    to[0] = to[1] = std::byte{0};
    to[2] = low;
    to[3] = high;
  }
  static void store_16(std::byte* to, __m128i first, __m128i second) noexcept {
    store_8(to, first);
    store_8(to + 32, second);
  }
  static void store_8(std::byte* to, __m128i lanes) noexcept {
    store_256(to, _mm256_slli_epi32(_mm256_cvtepu16_epi32(lanes), 16));
  }
  static void store_4(std::byte* to, __m128i lanes) noexcept {
    store_128(to, _mm_unpacklo_epi16(_mm_setzero_si128(), lanes));
  }
};

struct F16 {
  static constexpr std::int64_t kBytes = 2;
  static constexpr std::int64_t kStoredBytes = 32;

  /// Normal numbers: an eighth of the bits as a signed number, rounded, spreads the sign, which
  /// makes the bias of negative numbers its negative; 0x0000 has none. The product rounds halves up,
  /// so a half above an even eighth is made smaller before.
  static __m256i convert_normal(__m256i bits) noexcept {
    const __m256i end = _mm256_and_si256(bits, _mm256_set1_epi16(15));
    const __m256i down = _mm256_cmpeq_epi16(end, _mm256_set1_epi16(4));
    const __m256i eighth =
        _mm256_mulhrs_epi16(_mm256_add_epi16(bits, down), _mm256_set1_epi16(1 << 12));
    return _mm256_add_epi16(eighth, _mm256_sign_epi16(_mm256_set1_epi16(112 << 7), bits));
  }

  /// Subnormal magnitudes, 32 bits each, as BFloat16 in the upper halves. As whole numbers they are
  /// exact in Float32, and 2^-24 of them has another exponent: no arithmetic that could round, flush
  /// or raise a flag.
  static __m256i convert_subnormal(__m256i magnitude) noexcept {
    const __m256i whole = _mm256_castps_si256(_mm256_cvtepi32_ps(magnitude));
    const __m256i bits = _mm256_sub_epi32(whole, _mm256_set1_epi32(24 << 23));
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  }

  /// The full rule.
  [[gnu::noinline]] static __m256i convert_any(__m256i bits) noexcept {
    const __m256i magnitude = _mm256_and_si256(bits, _mm256_set1_epi16(0x7fff));
    const __m256i even = convert_subnormal(_mm256_and_si256(magnitude, _mm256_set1_epi32(0xffff)));
    const __m256i odd = convert_subnormal(_mm256_srli_epi32(magnitude, 16));
    const __m256i subnormal = _mm256_blend_epi16(_mm256_srli_epi32(even, 16), odd, 0xaa);
    const __m256i payload =
        _mm256_srli_epi16(_mm256_and_si256(magnitude, _mm256_set1_epi16(0x03ff)), 3);
    const __m256i nan = _mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16(0x7c00));
    const __m256i quiet = _mm256_and_si256(nan, _mm256_set1_epi16(0x0040));
    const __m256i special =
        _mm256_or_si256(_mm256_or_si256(payload, quiet), _mm256_set1_epi16(0x7f80));
    const __m256i is_special = _mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16(0x7bff));
    const __m256i is_small = _mm256_cmpgt_epi16(_mm256_set1_epi16(0x0400), magnitude);
    const __m256i is_zero = _mm256_cmpeq_epi16(magnitude, _mm256_setzero_si256());
    const __m256i sign = _mm256_xor_si256(bits, magnitude);
    const __m256i rare = _mm256_or_si256(_mm256_blendv_epi8(subnormal, special, is_special), sign);
    const __m256i all =
        _mm256_blendv_epi8(convert_normal(bits), rare, _mm256_or_si256(is_special, is_small));
    return _mm256_blendv_epi8(all, bits, is_zero);
  }

  /// Exponent and fraction above those of the least normal number, doubled and unsigned: normal
  /// numbers are below kOther, zeros are kZero, all others are neither.
  static __m256i class_of(__m256i bits) noexcept {
    return _mm256_sub_epi16(_mm256_add_epi16(bits, bits), _mm256_set1_epi16(0x0800));
  }
  static constexpr std::int16_t kOther = static_cast<std::int16_t>(0xf000);
  static constexpr std::int16_t kZero = static_cast<std::int16_t>(0xf800);

  /// No lane of the maximum of some classes belongs to anything but a normal number.
  static bool all_normal(__m256i most) noexcept {
    const __m256i other = _mm256_set1_epi16(kOther);
    const __m256i found = _mm256_cmpeq_epi16(_mm256_max_epu16(most, other), most);
    return _mm256_testz_si256(found, found) != 0;
  }

  /// Whether convert_normal() is right for all lanes: it is for 0x0000, too, but most blocks are done
  /// with the first question.
  template <class... Lanes> static bool are_normal(Lanes... bits) noexcept {
    return all_normal(most(class_of(bits)...)) ||
           all_normal(most(_mm256_andnot_si256(_mm256_cmpeq_epi16(bits, _mm256_setzero_si256()),
                                               class_of(bits))...));
  }
  static __m256i most(__m256i classes) noexcept { return classes; }
  template <class... Lanes> static __m256i most(__m256i first, Lanes... others) noexcept {
    return _mm256_max_epu16(first, most(others...));
  }

  /// Normal numbers and zeros of either sign; one other lane sends all to the full rule. Apart from
  /// the loops, which keep their constants in registers.
  [[gnu::noinline]] static __m256i convert_common(__m256i bits) noexcept {
    const __m256i magnitude = class_of(bits);
    const __m256i zero = _mm256_cmpeq_epi16(magnitude, _mm256_set1_epi16(kZero));
    if (!all_normal(_mm256_andnot_si256(zero, magnitude)))
      return convert_any(bits);
    return _mm256_blendv_epi8(convert_normal(bits), bits, zero);
  }

  static __m256i convert(__m256i bits) noexcept {
    return are_normal(bits) ? convert_normal(bits) : convert_common(bits);
  }

  static __m256i load_16(const std::byte* from) noexcept { return convert(load_256(from)); }
  static __m128i load_8(const std::byte* from) noexcept {
    return _mm256_castsi256_si128(convert(_mm256_zextsi128_si256(load_128(from))));
  }
  static __m256i load_some(const std::byte* from, std::int64_t count) noexcept {
    return convert(load_lanes_16(from, count));
  }
  static __m256i planes_16(const std::byte* from) noexcept {
    return split_planes(convert(load_256(from)));
  }
  static WidePlanes planes_32(const std::byte* from) noexcept {
    const __m256i first = load_256(from);
    const __m256i second = load_256(from + 32);
    if (are_normal(first, second))
      return split_wide(convert_normal(first), convert_normal(second));
    return split_wide(convert_common(first), convert_common(second));
  }
  static __m256i planes_some(const std::byte* from, std::int64_t count) noexcept {
    return split_planes(convert_common(load_lanes_16(from, count)));
  }
  [[gnu::always_inline]] static inline FourPlanes planes_4x16(const std::byte* from,
                                                              std::int64_t stride) noexcept {
    const __m256i bits0 = load_256(from);
    const __m256i bits1 = load_256(from + stride);
    const __m256i bits2 = load_256(from + 2 * stride);
    const __m256i bits3 = load_256(from + 3 * stride);
    if (are_normal(bits0, bits1, bits2, bits3))
      return {split_planes(convert_normal(bits0)), split_planes(convert_normal(bits1)),
              split_planes(convert_normal(bits2)), split_planes(convert_normal(bits3))};
    return {split_planes(convert_common(bits0)), split_planes(convert_common(bits1)),
            split_planes(convert_common(bits2)), split_planes(convert_common(bits3))};
  }
};

/// Sixteen channels of a pixel into both planes, `stored` bytes apart.
inline void store_planes_16(std::byte* to, std::int64_t stored, __m256i planes) noexcept {
  store_128(to, _mm256_castsi256_si128(planes));
  store_128(to + stored, _mm256_extracti128_si256(planes, 1));
}

inline void store_planes_8(std::byte* to, std::int64_t stored, __m128i lanes) noexcept {
  const __m128i low = _mm_and_si128(lanes, _mm_set1_epi16(0x00ff));
  const __m128i planes = _mm_packus_epi16(low, _mm_srli_epi16(lanes, 8));
  store_64(to, planes);
  store_64(to + stored, _mm_unpackhi_epi64(planes, planes));
}

} // namespace simaai::kernels::a65::detail::avx2
