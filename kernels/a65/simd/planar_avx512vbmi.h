// SPDX-License-Identifier: LGPL-2.1-or-later
// Panels whose pixels are neighbours in each channel on the linear side (channels first), for AVX-512
// with VBMI. Sixteen channels of sixteen pixels are transposed as bytes of one plane in each 128-bit
// lane. Everything is a member of a class of this level. Include it in files built for the
// instruction set only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "a65/simd/isa_avx512.h"
#include "a65/simd/panel_rows.h"
#include "a65/simd/transpose_avx512vbmi.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiPlanar : Avx512VbmiTranspose {
  using Isa = Avx512<true>;
  using Bytes = Isa::Bytes;
  using F32 = Isa::F32;
  using F16 = Isa::F16;
  using BF16 = Isa::BF16;
  struct I8 {
    static constexpr std::int64_t kBytes = 1;
  };

  /// Planes of a stored scalar and pixels of a vector that holds all planes of them.
  template <class Type> static constexpr std::int64_t kPlanes = Type::kBytes == 1 ? 1 : 2;
  template <class Type> static constexpr std::int64_t kPixels = 64 / kPlanes<Type>;

  static constexpr std::uint64_t first_bits(std::int64_t count) noexcept {
    return Isa::first_bits(count);
  }

  // One channel of up to kPixels pixels as lanes of one plane: low and high bytes of the first
  // sixteen pixels, then of the others; or four lanes of INT8.

  /// Linear bytes of the planes of 32 pixels; of 16 of Float32, again and again.
  template <class From>
  static constexpr Bytes kSplitIndex = [] {
    Bytes index{};
    for (std::int64_t i = 0; i < 64; ++i) {
      const std::int64_t pixel = i / 32 * 16 + i % 16;
      index.at[i] =
          static_cast<std::uint8_t>(pixel * From::kBytes % 64 + From::kBytes - 2 + i / 16 % 2);
    }
    return index;
  }();

  [[gnu::always_inline]] static inline __m512i load(F32& type, const std::byte* src,
                                                    std::uint64_t pixels) noexcept {
    const __m512i index = kSplitIndex<F32>.load();
    const __m512i first =
        Isa::round_f32(type, _mm512_maskz_loadu_epi32(static_cast<__mmask16>(pixels), src));
    const __m512i second = Isa::round_f32(
        type, _mm512_maskz_loadu_epi32(static_cast<__mmask16>(pixels >> 16), src + 64));
    return _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(index, first), 0xffffffff00000000U,
                                        index, second);
  }
  [[gnu::always_inline]] static inline __m512i load(I8& /*type*/, const std::byte* src,
                                                    std::uint64_t pixels) noexcept {
    return _mm512_maskz_loadu_epi8(pixels, src);
  }
  template <class From>
  [[gnu::always_inline]] static inline __m512i load(From& type, const std::byte* src,
                                                    std::uint64_t pixels) noexcept {
    const auto mask = static_cast<__mmask32>(pixels);
    return _mm512_permutexvar_epi8(
        kSplitIndex<From>.load(),
        Isa::convert_some(type, _mm512_maskz_loadu_epi16(mask, src), mask));
  }

  /// Stored bytes of the values from `kFirst` on of 32 pixels.
  template <class To, std::int64_t kFirst>
  static constexpr Bytes kJoinIndex = [] {
    Bytes index{};
    for (std::int64_t i = 0; i < 64; ++i) {
      const std::int64_t pixel = kFirst + i / To::kBytes;
      index.at[i] = static_cast<std::uint8_t>((pixel / 16 * 2 + i % 2) * 16 % 64 + pixel % 16);
    }
    return index;
  }();

  static void store(I8 /*type*/, std::byte* dst, std::uint64_t pixels, __m512i lanes) noexcept {
    if (pixels == ~std::uint64_t{0})
      _mm512_storeu_si512(dst, lanes);
    else
      _mm512_mask_storeu_epi8(dst, pixels, lanes);
  }
  static void store(BF16 /*type*/, std::byte* dst, std::uint64_t pixels, __m512i lanes) noexcept {
    const __m512i index = kJoinIndex<BF16, 0>.load();
    const __m512i values = _mm512_permutexvar_epi8(index, lanes);
    if (pixels == 0xffffffffU)
      _mm512_storeu_si512(dst, values);
    else
      _mm512_mask_storeu_epi16(dst, static_cast<__mmask32>(pixels), values);
  }
  static void store(F32 /*type*/, std::byte* dst, std::uint64_t pixels, __m512i lanes) noexcept {
    constexpr std::uint64_t kUpperHalves = 0xccccccccccccccccU;
    const __m512i index = kJoinIndex<F32, 0>.load();
    const __m512i next_index = kJoinIndex<F32, 16>.load();
    const __m512i first = _mm512_maskz_permutexvar_epi8(kUpperHalves, index, lanes);
    const __m512i second = _mm512_maskz_permutexvar_epi8(kUpperHalves, next_index, lanes);
    if (pixels == 0xffffffffU) {
      _mm512_storeu_si512(dst, first);
      _mm512_storeu_si512(dst + 64, second);
    } else {
      _mm512_mask_storeu_epi32(dst, static_cast<__mmask16>(pixels), first);
      _mm512_mask_storeu_epi32(dst + 64, static_cast<__mmask16>(pixels >> 16), second);
    }
  }

  // The tile side of a chunk: pixels of one segment or of several whole ones.

  template <class Type> struct Chunk {
    std::array<std::int64_t, static_cast<std::size_t>(kPixels<Type>)> at; ///< place of each pixel
    std::int64_t count;                                                   ///< pixels
  };

  /// Sixteen stored channels from `to` on of each pixel. `rows`: of to_pixels().
  template <class Type>
  [[gnu::always_inline]] static inline void put_sixteen(const Rows<16>& rows,
                                                        const Chunk<Type>& chunk, std::byte* to,
                                                        std::int64_t plane_bytes) noexcept {
    const bool full = chunk.count == kPixels<Type>;
#pragma GCC unroll 16
    for (std::size_t row = 0; row < 16; ++row) {
      const auto is_there = [&](std::size_t pixel) {
        return full || static_cast<std::int64_t>(pixel) < chunk.count;
      };
      const __m256i lower = _mm512_castsi512_si256(rows.of[row]);
      const __m256i upper = _mm512_extracti64x4_epi64(rows.of[row], 1);
      if constexpr (kPlanes<Type> == 2) {
        if (is_there(row))
          put_planes(to + chunk.at[row], plane_bytes, lower);
        if (is_there(row + 16))
          put_planes(to + chunk.at[row + 16], plane_bytes, upper);
      } else {
        put_each(lower, upper, [&](std::size_t lane, __m128i pixel) {
          if (is_there(row + 16 * lane))
            Isa::store_128(to + chunk.at[row + 16 * lane], pixel);
        });
      }
    }
  }

  /// Calls `put(lane, value)` for each lane of two halves.
  template <class Put>
  [[gnu::always_inline]] static inline void put_each(__m256i lower, __m256i upper,
                                                     Put put) noexcept {
    put(0, _mm256_castsi256_si128(lower));
    put(1, _mm256_extracti128_si256(lower, 1));
    put(2, _mm256_castsi256_si128(upper));
    put(3, _mm256_extracti128_si256(upper, 1));
  }

  static void put_planes(std::byte* to, std::int64_t plane_bytes, __m256i planes) noexcept {
    if (plane_bytes == 16) {
      Isa::store_256(to, planes);
    } else {
      Isa::store_128(to, _mm256_castsi256_si128(planes));
      Isa::store_128(to + plane_bytes, _mm256_extracti128_si256(planes, 1));
    }
  }

  static __m256i load_planes(const std::byte* from, std::int64_t plane_bytes) noexcept {
    if (plane_bytes == 16)
      return Isa::load_256(from);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(Isa::load_128(from)),
                                   Isa::load_128(from + plane_bytes), 1);
  }

  /// The way back: rows of sixteen channels; pixels that are not there are taken from others.
  template <class Type>
  [[gnu::always_inline]] static inline Rows<16>
  get_sixteen(const Chunk<Type>& chunk, const std::byte* from, std::int64_t plane_bytes) noexcept {
    Rows<16> rows;
#pragma GCC unroll 16
    for (std::size_t row = 0; row < 16; ++row) {
      __m256i lower;
      __m256i upper;
      if constexpr (kPlanes<Type> == 2) {
        lower = load_planes(from + chunk.at[row], plane_bytes);
        upper = load_planes(from + chunk.at[row + 16], plane_bytes);
      } else {
        lower = _mm256_inserti128_si256(_mm256_castsi128_si256(Isa::load_128(from + chunk.at[row])),
                                        Isa::load_128(from + chunk.at[row + 16]), 1);
        upper = _mm256_inserti128_si256(
            _mm256_castsi128_si256(Isa::load_128(from + chunk.at[row + 32])),
            Isa::load_128(from + chunk.at[row + 48]), 1);
      }
      rows.of[row] = _mm512_inserti64x4(_mm512_castsi256_si512(lower), upper, 1);
    }
    return rows;
  }

  /// Vectors of whole padded pixels of kChannels channels: two of two planes each, or four of INT8.
  /// `part` counts them in a row of to_pixels(): those of the first lanes come first.
  template <class Type, std::size_t kChannels>
  static constexpr Bytes pad_index(std::size_t part) noexcept {
    Bytes index{};
    constexpr std::size_t kLanePixels = 16 / kChannels;
    constexpr auto kPlaneCount = static_cast<std::size_t>(kPlanes<Type>);
    constexpr std::size_t kMade = 4 / kPlaneCount; // pixels of a vector
    constexpr std::size_t kGroup = kMade < kLanePixels ? kMade : kLanePixels;
    static_assert(kMade % kGroup == 0);
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t pixel = part * kMade + i / (16 * kPlaneCount); // of the row
      const std::size_t lane = pixel / kLanePixels * kPlaneCount + i / 16 % kPlaneCount;
      index.at[i] = static_cast<std::uint8_t>(lane % 4 * 16 + pixel % kLanePixels * kChannels +
                                              i % kChannels);
    }
    return index;
  }
  template <class Type, std::size_t kChannels>
  static constexpr auto kPadIndex = [] {
    std::array<Bytes, 16 / kChannels> indices{};
    for (std::size_t part = 0; part < indices.size(); ++part)
      indices[part] = pad_index<Type, kChannels>(part);
    return indices;
  }();

  /// Pixels of 4 or 8 channels with padding to 16 of them.
  template <class Type, std::size_t kChannels>
  [[gnu::always_inline]] static inline void
  put_padded(const Rows<kChannels>& rows, const Chunk<Type>& chunk, std::byte* to,
             std::uint64_t keep, __m512i fill, bool adjacent) noexcept {
    constexpr std::size_t kLanePixels = 16 / kChannels;
    constexpr auto kPlaneCount = static_cast<std::size_t>(kPlanes<Type>);
    constexpr std::size_t kMade = 4 / kPlaneCount;
    constexpr std::size_t kLaneParts = kLanePixels / kMade; // vectors made of a lane; 0 where less
    static_assert(kLaneParts != 0 || kPlaneCount == 1);
#pragma GCC unroll 8
    for (std::size_t row = 0; row < kChannels; ++row) {
#pragma GCC unroll 4
      for (std::size_t part = 0; part < 16 / kChannels; ++part) {
        const __m512i index = kPadIndex<Type, kChannels>[part].load();
        const __m512i pixels = _mm512_mask_permutexvar_epi8(fill, keep, index, rows.of[row]);
        const auto number = [=](std::size_t i) { // of a pixel of the vector in the chunk
          const std::size_t of_row = part * kMade + i;
          return of_row / kLanePixels * 16 + row * kLanePixels + of_row % kLanePixels;
        };
        if (adjacent && kLaneParts != 0)
          _mm512_storeu_si512(to + chunk.at[number(0)], pixels);
        else
          put_some(chunk, to, pixels, number);
      }
    }
  }

  /// The pixels of a vector that are there, each at its place.
  template <class Type, class Number>
  [[gnu::always_inline]] static inline void put_some(const Chunk<Type>& chunk, std::byte* to,
                                                     __m512i pixels, Number number) noexcept {
    const auto is_there = [&](std::size_t i) {
      return static_cast<std::int64_t>(number(i)) < chunk.count;
    };
    const __m256i lower = _mm512_castsi512_si256(pixels);
    const __m256i upper = _mm512_extracti64x4_epi64(pixels, 1);
    if constexpr (kPlanes<Type> == 2) {
      if (is_there(0))
        Isa::store_256(to + chunk.at[number(0)], lower);
      if (is_there(1))
        Isa::store_256(to + chunk.at[number(1)], upper);
    } else {
      put_each(lower, upper, [&](std::size_t i, __m128i pixel) {
        if (is_there(i))
          Isa::store_128(to + chunk.at[number(i)], pixel);
      });
    }
  }

  // Panels: lines of pixels, all channels of a chunk of them before the next.

  /// How the pixels of a panel are taken: chunks of one segment or of several whole ones.
  template <class Type> struct Chunks {
    Chunk<Type> full; ///< places of the most pixels of a chunk
    std::int64_t segments;
    bool adjacent; ///< pixels of a padded vector follow each other
  };

  template <class Type> static Chunks<Type> chunks_of(const TilePanel& panel) noexcept {
    constexpr std::int64_t kMost = kPixels<Type>;
    const std::int64_t pixels = panel.row.pixels;
    const std::int64_t pixel_bytes = panel.row.stored_channels * kPlanes<Type>;
    Chunks<Type> chunks{};
    chunks.segments = pixels < kMost && kMost % pixels == 0 ? kMost / pixels : 1;
    std::int64_t in_segment = 0;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < chunks.full.at.size(); ++i) {
      chunks.full.at[i] = at + in_segment * pixel_bytes;
      if (++in_segment == pixels) {
        in_segment = 0;
        at += panel.segment_tile_bytes;
      }
    }
    chunks.full.count = kMost;
    chunks.adjacent = pixels % (4 / kPlanes<Type>) == 0;
    return chunks;
  }

  /// The first `count` pixels; the places of the others are the first one's.
  template <class Type>
  [[gnu::noinline]] static Chunk<Type> shortened(const Chunk<Type>& chunk,
                                                 std::int64_t count) noexcept {
    Chunk<Type> some = chunk;
    some.count = count;
    for (auto i = static_cast<std::size_t>(count); i < some.at.size(); ++i)
      some.at[i] = some.at[0];
    return some;
  }

  /// Calls `visit(chunk, linear offset, tile offset)` for each chunk of a panel.
  template <class Type, class Visit>
  [[gnu::always_inline]] static inline void for_each_chunk(const TilePanel& panel,
                                                           Visit visit) noexcept {
    constexpr std::int64_t kMost = kPixels<Type>;
    const Chunks<Type> chunks = chunks_of<Type>(panel);
    const std::int64_t pixel_bytes = panel.row.stored_channels * kPlanes<Type>;
    for (std::int64_t segment = 0; segment < panel.segments; segment += chunks.segments) {
      const std::int64_t left = panel.segments - segment;
      const std::int64_t all = (left < chunks.segments ? left : chunks.segments) * panel.row.pixels;
      for (std::int64_t pixel = 0; pixel < all; pixel += kMost) {
        const std::int64_t linear = segment * panel.segment_linear_bytes + pixel * Type::kBytes;
        const std::int64_t tile = segment * panel.segment_tile_bytes + pixel * pixel_bytes;
        if (all - pixel >= kMost)
          visit(chunks.full, linear, tile, chunks.adjacent);
        else
          visit(shortened(chunks.full, all - pixel), linear, tile, false);
      }
    }
  }

  /// Up to sixteen channels of a chunk.
  template <class From, std::size_t kChannels>
  [[gnu::always_inline]] static inline Rows<kChannels>
  load_channels(From& type, const std::byte* src, std::int64_t stride, std::int64_t channels,
                std::uint64_t pixels, __m512i absent) noexcept {
    Rows<kChannels> rows;
    if (channels == static_cast<std::int64_t>(kChannels)) {
#pragma GCC unroll 16
      for (std::size_t row = 0; row < kChannels; ++row) {
        const std::byte* from = src + static_cast<std::int64_t>(row) * stride;
        __builtin_prefetch(from + 2 * kPixels<From> * From::kBytes);
        rows.of[row] = load(type, from, pixels);
      }
    } else {
#pragma GCC unroll 16
      for (std::size_t row = 0; row < kChannels; ++row)
        rows.of[row] = static_cast<std::int64_t>(row) < channels
                           ? load(type, src + static_cast<std::int64_t>(row) * stride, pixels)
                           : absent;
    }
    return rows;
  }

  /// False if they have to be written again.
  template <class From>
  static bool try_channels(From& type, const TilePanel& panel, const Chunk<From>& chunk,
                           bool adjacent, const std::byte* src, std::byte* dst,
                           std::int64_t channels) noexcept {
    const std::int64_t stride = panel.row.channel_stride_bytes;
    const std::int64_t stored = panel.row.stored_channels;
    const std::uint64_t pixels = first_bits(chunk.count);
    const __m512i fill = kPlanes<From> == 1 ? _mm512_set1_epi8(static_cast<char>(panel.row.fill))
                                            : _mm512_setzero_si512();
    if (stored == 16 && channels <= 8) {
      const std::uint64_t keep = first_bits(channels) * 0x0001000100010001U;
      if (channels <= 4)
        put_padded<From, 4>(
            to_pixels(load_channels<From, 4>(type, src, stride, channels, pixels, fill)), chunk,
            dst, keep, fill, adjacent);
      else
        put_padded<From, 8>(
            to_pixels(load_channels<From, 8>(type, src, stride, channels, pixels, fill)), chunk,
            dst, keep, fill, adjacent);
    } else {
      put_sixteen<From>(
          to_pixels(load_channels<From, 16>(type, src, stride, channels, pixels, fill)), chunk, dst,
          stored);
    }
    return PanelRows<Isa>::was_right(type);
  }

  template <class From>
  [[gnu::noinline]] static void
  write_other_channels(const TilePanel& panel, const Chunk<F16>& chunk, bool adjacent,
                       const std::byte* src, std::byte* dst, std::int64_t channels) noexcept {
    From type{};
    Chunk<From> same{};
    same.at = chunk.at;
    same.count = chunk.count;
    static_cast<void>(try_channels(type, panel, same, adjacent, src, dst, channels));
  }

  template <class From> static void write(const TilePanel& panel) noexcept {
    From type{};
    for_each_chunk<From>(panel, [&](const Chunk<From>& chunk, std::int64_t linear,
                                    std::int64_t tile, bool adjacent) {
      for_each_sixteen(panel, [&](std::int64_t channels, std::int64_t of_linear,
                                  std::int64_t of_tile) {
        const std::byte* src = panel.row.src + linear + of_linear;
        std::byte* dst = panel.row.dst + tile + of_tile;
        const bool done = !PanelRows<Isa>::is_wary(type) &&
                          try_channels(type, panel, chunk, adjacent, src, dst, channels);
        if constexpr (requires { typename From::Other; })
          if (!done)
            write_other_channels<typename From::Other>(panel, chunk, adjacent, src, dst, channels);
      });
    });
  }

  template <class To, std::size_t kChannels>
  [[gnu::always_inline]] static inline void
  store_channels(const Rows<16>& rows, std::byte* dst, std::int64_t stride, std::int64_t channels,
                 std::uint64_t pixels) noexcept {
    const Rows<kChannels> made = to_channels<kChannels>(rows);
#pragma GCC unroll 16
    for (std::size_t row = 0; row < kChannels; ++row)
      if (static_cast<std::int64_t>(row) < channels)
        store(To{}, dst + static_cast<std::int64_t>(row) * stride, pixels, made.of[row]);
  }

  template <class To> static void read(const TilePanel& panel) noexcept {
    const std::int64_t stride = panel.row.channel_stride_bytes;
    for_each_chunk<To>(panel, [&](const Chunk<To>& chunk, std::int64_t linear, std::int64_t tile,
                                  bool /*adjacent*/) {
      const std::uint64_t pixels = first_bits(chunk.count);
      for_each_sixteen(
          panel, [&](std::int64_t channels, std::int64_t of_linear, std::int64_t of_tile) {
            const Rows<16> rows =
                get_sixteen<To>(chunk, panel.row.src + tile + of_tile, panel.row.stored_channels);
            std::byte* dst = panel.row.dst + linear + of_linear;
            if (channels <= 4)
              store_channels<To, 4>(rows, dst, stride, channels, pixels);
            else if (channels <= 8)
              store_channels<To, 8>(rows, dst, stride, channels, pixels);
            else
              store_channels<To, 16>(rows, dst, stride, channels, pixels);
          });
    });
  }
};

} // namespace simaai::kernels::a65::detail
