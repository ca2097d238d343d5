// SPDX-License-Identifier: LGPL-2.1-or-later
// Every second scalar to tiles and back, for AVX-512 with VBMI: masks leave out the gaps, which are
// neither read nor written. Everything is a member of a class of this level. Include it in files
// built for the instruction set only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "a65/simd/isa_avx512.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiSpread {
  using Isa = Avx512<true>;
  using F32 = Isa::F32;
  using F16 = Isa::AnyF16;
  using BF16 = Isa::BF16;
  using Bytes = Isa::Bytes;
  struct I8 {
    static constexpr std::int64_t kBytes = 1;
  };

  static constexpr std::uint64_t kEverySecond = 0x5555555555555555U;

  /// Channels of a step: as many as 64 bytes hold, or 128 of Float32.
  template <class Type> static constexpr std::int64_t kChannels = Type::kBytes == 1 ? 32 : 16;

  /// The scalars of the first `channels` channels among the slots of a step.
  static constexpr std::uint64_t slots(std::int64_t channels) noexcept {
    return Isa::first_bits(2 * channels) & kEverySecond;
  }

  static std::int64_t smaller(std::int64_t a, std::int64_t b) noexcept { return a < b ? a : b; }

  // Writing: 16 low and 16 high bytes, or 32 of INT8.

  template <class From>
  static constexpr Bytes kGatherIndex = [] {
    Bytes index{};
    constexpr std::int64_t kCount = kChannels<From>;
    for (std::int64_t i = 0; i < 64; ++i)
      index.at[i] = static_cast<std::uint8_t>(
          (2 * (i % kCount) * From::kBytes + (From::kBytes == 4 ? 2 : 0) + i / kCount % 2) % 64);
    return index;
  }();

  static __m512i gather(F32& type, const std::byte* src, std::uint64_t mask,
                        __m512i index) noexcept {
    const auto first = static_cast<__mmask16>(mask);
    const auto second = static_cast<__mmask16>(mask >> 16);
    const __m512i low = Isa::round_f32(type, _mm512_maskz_loadu_epi32(first, src));
    const __m512i high = Isa::round_f32(type, _mm512_maskz_loadu_epi32(second, src + 64));
    constexpr std::uint64_t kUpperChannels = 0xff00ff00ff00ff00U;
    return _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(index, low), kUpperChannels, index,
                                        high);
  }
  template <class From>
  static __m512i gather(From& type, const std::byte* src, std::uint64_t mask,
                        __m512i index) noexcept {
    const auto lanes = static_cast<__mmask32>(mask);
    return _mm512_permutexvar_epi8(index, Isa::convert(type, _mm512_maskz_loadu_epi16(lanes, src)));
  }

  static void put_128(std::byte* dst, std::int64_t bytes, __m128i value) noexcept {
    if (bytes == 16)
      Isa::store_128(dst, value);
    else
      _mm_mask_storeu_epi8(dst, static_cast<__mmask16>(Isa::first_bits(bytes)), value);
  }

  template <class From> static void write_row(const TileRow& row) noexcept {
    const std::int64_t channels = row.channels;
    const std::int64_t stored = row.stored_channels;
    const __m512i index = kGatherIndex<From>.load();
    const std::byte* src = row.src;
    std::byte* dst = row.dst;
    From type{};
    for (std::int64_t left = row.pixels; left != 0; --left) {
      for (std::int64_t c = 0; c < channels; c += 16) {
        const std::int64_t count = smaller(16, channels - c);
        const std::int64_t bytes = smaller(16, stored - c); // zeros behind the last channel
        const __m512i planes = gather(type, src + 2 * c * From::kBytes, slots(count), index);
        if (stored == 16) {
          Isa::store_256(dst, _mm512_castsi512_si256(planes));
        } else {
          put_128(dst + c, bytes, _mm512_castsi512_si128(planes));
          put_128(dst + stored + c, bytes, _mm512_extracti32x4_epi32(planes, 1));
        }
      }
      src += row.pixel_stride_bytes;
      dst += 2 * stored;
    }
  }

  static void write_bytes_row(const TileRow& row) noexcept {
    const std::int64_t channels = row.channels;
    const std::int64_t stored = row.stored_channels;
    const __m512i index = kGatherIndex<I8>.load();
    const __m512i fill = _mm512_set1_epi8(static_cast<char>(row.fill));
    const std::byte* src = row.src;
    std::byte* dst = row.dst;
    for (std::int64_t left = row.pixels; left != 0; --left) {
      for (std::int64_t c = 0; c < channels; c += 32) {
        const std::int64_t count = smaller(32, channels - c);
        const std::int64_t bytes = smaller(32, stored - c);
        const __m512i values =
            _mm512_mask_permutexvar_epi8(fill, Isa::first_bits(count), index,
                                         _mm512_maskz_loadu_epi8(slots(count), src + 2 * c));
        if (bytes == 32)
          Isa::store_256(dst + c, _mm512_castsi512_si256(values));
        else if (bytes == 16)
          put_128(dst + c, 16, _mm512_castsi512_si128(values));
        else
          _mm512_mask_storeu_epi8(dst + c, Isa::first_bits(bytes), values);
      }
      src += row.pixel_stride_bytes;
      dst += stored;
    }
  }

  // Reading.

  /// Of 16 low and 16 high bytes, the values from `first` on at every second scalar.
  template <class To, std::int64_t kFirst>
  static constexpr Bytes kScatterIndex = [] {
    Bytes index{};
    for (std::int64_t i = 0; i < 64; ++i) {
      const std::int64_t channel = kFirst + i / (2 * To::kBytes);
      index.at[i] =
          static_cast<std::uint8_t>(To::kBytes == 1 ? channel % 32 : channel % 16 + i % 2 * 16);
    }
    return index;
  }();

  static __m512i load_planes(const std::byte* low, const std::byte* high,
                             std::int64_t count) noexcept {
    const auto mask = static_cast<__mmask16>(Isa::first_bits(count));
    const __m128i zero = _mm_setzero_si128();
    return _mm512_castsi256_si512(
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_mask_loadu_epi8(zero, mask, low)),
                                _mm_mask_loadu_epi8(zero, mask, high), 1));
  }

  static void put(F32 /*type*/, std::byte* dst, std::int64_t count, __m512i planes) noexcept {
    constexpr std::uint64_t kUpperHalves = 0xccccccccccccccccU;
    const std::uint64_t mask = slots(count);
    const __m512i first = kScatterIndex<F32, 0>.load();
    const __m512i second = kScatterIndex<F32, 8>.load();
    _mm512_mask_storeu_epi32(dst, static_cast<__mmask16>(mask),
                             _mm512_maskz_permutexvar_epi8(kUpperHalves, first, planes));
    if (count > 8)
      _mm512_mask_storeu_epi32(dst + 64, static_cast<__mmask16>(mask >> 16),
                               _mm512_maskz_permutexvar_epi8(kUpperHalves, second, planes));
  }
  static void put(BF16 /*type*/, std::byte* dst, std::int64_t count, __m512i planes) noexcept {
    const __m512i index = kScatterIndex<BF16, 0>.load();
    _mm512_mask_storeu_epi16(dst, static_cast<__mmask32>(slots(count)),
                             _mm512_permutexvar_epi8(index, planes));
  }

  template <class To> static void read_row(const TileRow& row) noexcept {
    const std::byte* src = row.src;
    std::byte* dst = row.dst;
    for (std::int64_t left = row.pixels; left != 0; --left) {
      for (std::int64_t c = 0; c < row.channels; c += 16) {
        const std::int64_t count = smaller(16, row.channels - c);
        put(To{}, dst + 2 * c * To::kBytes, count,
            load_planes(src + c, src + row.stored_channels + c, count));
      }
      src += 2 * row.stored_channels;
      dst += row.pixel_stride_bytes;
    }
  }

  static void read_bytes_row(const TileRow& row) noexcept {
    const __m512i index = kScatterIndex<I8, 0>.load();
    const std::byte* src = row.src;
    std::byte* dst = row.dst;
    for (std::int64_t left = row.pixels; left != 0; --left) {
      for (std::int64_t c = 0; c < row.channels; c += 32) {
        const std::int64_t count = smaller(32, row.channels - c);
        const __m512i values = _mm512_maskz_loadu_epi8(Isa::first_bits(count), src + c);
        _mm512_mask_storeu_epi8(dst + 2 * c, slots(count), _mm512_permutexvar_epi8(index, values));
      }
      src += row.stored_channels;
      dst += row.pixel_stride_bytes;
    }
  }

  /// Rows of every second scalar by `kRow`, others by the level below.
  template <std::int64_t kBytes, void (*kRow)(const TileRow&) noexcept, TileRowFn RowTable::*kBelow>
  static void read(const TileRow& row) noexcept {
    if (row.channel_stride_bytes == 2 * kBytes)
      kRow(row);
    else
      (avx2_linear_rows().*kBelow)(row);
  }

  /// The same; the level below packs long rows of few channels, and has a step for 16 of INT8.
  template <std::int64_t kBytes, void (*kRow)(const TileRow&) noexcept, TileRowFn RowTable::*kBelow>
  static void write(const TileRow& row) noexcept {
    constexpr std::int64_t kLongRow = 32;
    constexpr std::int64_t kManyChannels = kBytes == 1 ? 32 : 16;
    if (row.channels >= kManyChannels || (row.channels < 16 && row.pixels < kLongRow))
      read<kBytes, kRow, kBelow>(row);
    else
      (avx2_linear_rows().*kBelow)(row);
  }
};

} // namespace simaai::kernels::a65::detail
