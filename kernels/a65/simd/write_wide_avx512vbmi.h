// SPDX-License-Identifier: LGPL-2.1-or-later
// Writers of panels of many channels for AVX-512 with VBMI, and what those of few channels share with
// them: whole vectors of values go through byte permutes; masks keep loads to the bytes that they may
// touch. Everything is a member of a class of this level. Include it in files built for the
// instruction set only.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "a65/simd/isa_avx512.h"
#include "a65/simd/panel_rows.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiWideWriters {
  using Isa = Avx512<true>;
  using F32 = Isa::F32;
  using AnyF16 = Isa::AnyF16;
  using F16 = Isa::F16;
  using BF16 = Isa::BF16;
  using Bytes = Isa::Bytes;

  // Every second scalar: kBytes is the distance of two values, and the gap between them is not read.
  struct SpreadF32 : F32 {
    static constexpr std::int64_t kBytes = 8;
    static constexpr std::int64_t kLowByte = 2;
  };
  struct SpreadAnyF16 : AnyF16 {
    static constexpr std::int64_t kBytes = 4;
    static constexpr std::int64_t kLowByte = 0;
  };
  struct SpreadF16 : F16 {
    using Other = SpreadAnyF16;
    static constexpr std::int64_t kBytes = 4;
    static constexpr std::int64_t kLowByte = 0;
  };
  struct SpreadBF16 : BF16 {
    static constexpr std::int64_t kBytes = 4;
    static constexpr std::int64_t kLowByte = 0;
  };

  /// Values of a vector.
  template <class Type> static constexpr std::int64_t kValues = 64 / Type::kBytes;

  /// The place of value `value` of a vector of linear values: the lower byte of its BFloat16.
  template <class Type> static constexpr std::uint8_t byte_of(std::int64_t value) noexcept {
    std::int64_t low = Type::kBytes - 2;
    if constexpr (requires { Type::kLowByte; })
      low = Type::kLowByte;
    return static_cast<std::uint8_t>(value % kValues<Type> * Type::kBytes + low);
  }

  static constexpr std::uint64_t first_bits(std::int64_t count) noexcept {
    return Isa::first_bits(count);
  }

  static void put_halves(std::byte* low, std::byte* high, __m512i planes) noexcept {
    Isa::store_256(low, _mm512_castsi512_si256(planes));
    Isa::store_256(high, _mm512_extracti64x4_epi64(planes, 1));
  }

  // Loads: up to a vector of values, as BFloat16 in the upper two bytes of each.

  static __m512i load(F32& type, const std::byte* src, std::uint64_t values) noexcept {
    return Isa::round_f32(type, _mm512_maskz_loadu_epi32(static_cast<__mmask16>(values), src));
  }
  template <class From>
  static __m512i load(From& type, const std::byte* src, std::uint64_t values) noexcept {
    const auto mask = static_cast<__mmask32>(values);
    return Isa::convert_some(type, _mm512_maskz_loadu_epi16(mask, src), mask);
  }

  /// The scalars of the values among twice as many.
  static constexpr std::uint64_t every_second(std::uint64_t values) noexcept {
    return first_bits(std::int64_t{2} * std::popcount(values)) & 0x5555555555555555U;
  }
  static __m512i load(SpreadF32& type, const std::byte* src, std::uint64_t values) noexcept {
    const auto mask = static_cast<__mmask16>(every_second(values));
    return Isa::round_f32(type, _mm512_maskz_loadu_epi32(mask, src));
  }
  template <class From>
  requires(From::kBytes == 4) static __m512i
      load(From& type, const std::byte* src, std::uint64_t values) noexcept {
    const auto mask = static_cast<__mmask32>(every_second(values));
    return convert_spread(type, _mm512_maskz_loadu_epi16(mask, src), mask);
  }
  static __m512i convert_spread(F16& type, __m512i bits, __mmask32 values) noexcept {
    return Isa::convert_some(type, bits, values);
  }
  static __m512i convert_spread(AnyF16& type, __m512i bits, __mmask32 values) noexcept {
    return Isa::convert_some(type, bits, values);
  }
  static __m512i convert_spread(BF16& /*type*/, __m512i bits, __mmask32 /*values*/) noexcept {
    return bits;
  }

  /// The same of up to sixteen values.
  static __m512i load_16(F32& type, const std::byte* src, std::uint64_t values) noexcept {
    return load(type, src, values);
  }
  template <class From>
  static __m512i load_16(From& type, const std::byte* src, std::uint64_t values) noexcept {
    const __m256i some = _mm256_maskz_loadu_epi16(static_cast<__mmask16>(values), src);
    return Isa::convert_some(type, _mm512_castsi256_si512(some), static_cast<__mmask32>(values));
  }

  /// Bytes at `index` of the first 32 values, or those in `values`: values from the sixteenth on
  /// are in a second vector of Float32, and `of_second` marks their bytes.
  static __m512i place(F32& type, const std::byte* src, __m512i index,
                       std::uint64_t of_second) noexcept {
    const __m512i first = Isa::round_f32(type, Isa::load_512(src));
    const __m512i second = Isa::round_f32(type, Isa::load_512(src + 64));
    return _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(index, first), of_second, index,
                                        second);
  }
  template <class From>
  static __m512i place(From& type, const std::byte* src, __m512i index,
                       std::uint64_t /*of_second*/) noexcept {
    return _mm512_permutexvar_epi8(index, Isa::convert(type, Isa::load_512(src)));
  }
  static __m512i place_some(F32& type, const std::byte* src, __m512i index, std::uint64_t of_second,
                            std::uint64_t values) noexcept {
    const __m512i first = load(type, src, values);
    const __m512i second = load(type, src + 64, values >> 16);
    return _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(index, first), of_second, index,
                                        second);
  }
  template <class From>
  static __m512i place_some(From& type, const std::byte* src, __m512i index,
                            std::uint64_t /*of_second*/, std::uint64_t values) noexcept {
    return _mm512_permutexvar_epi8(index, load(type, src, values));
  }

  /// Asks for the line that is written some pixels after the one at `to`.
  [[gnu::always_inline]] static inline void prefetch_line(const std::byte* to) noexcept {
    __builtin_prefetch(to + Isa::kAhead, 1);
  }

  /// Bytes at `index` of up to sixteen values of two pixels each.
  static __m512i place_rests(F32& type, const std::byte* first, const std::byte* second,
                             __m512i index, std::uint64_t values) noexcept {
    return _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(index, load(type, first, values)),
                                        0xffffffff00000000U, index, load(type, second, values));
  }
  template <class From>
  static __m512i place_rests(From& type, const std::byte* first, const std::byte* second,
                             __m512i index, std::uint64_t values) noexcept {
    const auto mask = static_cast<__mmask16>(values);
    const __m512i both =
        _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_maskz_loadu_epi16(mask, first)),
                           _mm256_maskz_loadu_epi16(mask, second), 1);
    return _mm512_permutexvar_epi8(
        index, Isa::convert_some(type, both, static_cast<__mmask32>(values * 0x10001U)));
  }

  // Wide: 32 channels of a pixel are 32 low and 32 high bytes.

  template <class From>
  static constexpr Bytes kWideIndex = [] {
    Bytes index{};
    for (std::uint8_t i = 0; i < 64; ++i)
      index.at[i] = static_cast<std::uint8_t>(byte_of<From>(i % 32) + i / 32);
    return index;
  }();
  static constexpr std::uint64_t kUpperValues = 0xffff0000ffff0000U;

  /// What is left of a pixel after its whole groups of 32 channels.
  enum class Rest : std::uint8_t {
    None,
    Line,   ///< nothing, and 32 channels are all: both planes are a cache line
    Half,   ///< stored as 16 channels
    Whole,  ///< stored as 32
    Eighty, ///< of 80 stored channels: the whole pixel is two and a half cache lines
    Overlap ///< without padding: the last group overlaps the one before
  };

  /// 64 channels: stores to a line follow each other.
  template <class From>
  static void write_64(From& type, const std::byte* src, std::byte* low, std::byte* high,
                       __m512i index) noexcept {
    const __m512i first = place(type, src, index, kUpperValues);
    const __m512i second = place(type, src + 32 * From::kBytes, index, kUpperValues);
    prefetch_line(low);
    prefetch_line(high);
    _mm512_storeu_si512(low, _mm512_inserti64x4(first, _mm512_castsi512_si256(second), 1));
    _mm512_storeu_si512(high, _mm512_shuffle_i64x2(first, second, 0xee));
  }

  // 65 to 80 channels of 80 stored ones: two pixels are five cache lines. Planes are put together from
  // blocks of 16 bytes; those of the second 32 channels come high ones first and those of the rest as low
  // and high ones of either pixel, so that each line is one shuffle.

  template <class From>
  static constexpr Bytes kHighFirstIndex = [] {
    Bytes index{};
    for (std::uint8_t i = 0; i < 64; ++i)
      index.at[i] = kWideIndex<From>.at[(i + 32) % 64];
    return index;
  }();
  template <class From>
  static constexpr Bytes kRestIndex = [] {
    Bytes index{};
    for (std::uint8_t i = 0; i < 64; ++i)
      index.at[i] = static_cast<std::uint8_t>(byte_of<From>(i % 16 + i / 32 * 16) + i / 16 % 2);
    return index;
  }();

  template <class From> struct EightyPlaces {
    __m512i first = kWideIndex<From>.load();
    __m512i second = kHighFirstIndex<From>.load();
    __m512i rest = kRestIndex<From>.load();
  };

  template <class From>
  [[gnu::always_inline]] static inline void
  write_two_eighties(From& type, const std::byte* src, std::int64_t stride, std::byte* dst,
                     std::uint64_t rest, const EightyPlaces<From>& places) noexcept {
    const std::byte* next = src + stride;
    const __m512i rests =
        place_rests(type, src + 64 * From::kBytes, next + 64 * From::kBytes, places.rest, rest);
    const __m512i first = place(type, src, places.first, kUpperValues);
    const __m512i second = place(type, src + 32 * From::kBytes, places.second, kUpperValues);
    prefetch_line(dst); // no loop: compilers take one over prefetches for empty
    prefetch_line(dst + 64);
    prefetch_line(dst + 128);
    prefetch_line(dst + 192);
    prefetch_line(dst + 256);
    _mm512_storeu_si512(dst, _mm512_mask_mov_epi64(first, 0xf0, second));
    _mm512_storeu_si512(dst + 64, _mm512_mask_alignr_epi64(rests, 0xfc, second, first, 2));
    const __m512i third = place(type, next, places.first, kUpperValues);
    const __m512i fourth = place(type, next + 32 * From::kBytes, places.second, kUpperValues);
    _mm512_storeu_si512(dst + 128, _mm512_mask_shuffle_i64x2(rests, 0xf3, second, third, 0x41));
    _mm512_storeu_si512(dst + 192, _mm512_mask_shuffle_i64x2(rests, 0xcf, fourth, third, 0x8e));
    _mm512_storeu_si512(dst + 256, _mm512_mask_alignr_epi64(rests, 0x3f, fourth, third, 6));
  }

  template <class From>
  [[gnu::always_inline]] static inline void
  write_eighty(From& type, const std::byte* src, std::byte* dst, std::uint64_t rest,
               const EightyPlaces<From>& places) noexcept {
    const __m512i last =
        _mm512_permutexvar_epi8(places.rest, load_16(type, src + 64 * From::kBytes, rest));
    const __m512i first = place(type, src, places.first, kUpperValues);
    const __m512i second = place(type, src + 32 * From::kBytes, places.second, kUpperValues);
    prefetch_line(dst);
    prefetch_line(dst + 64);
    prefetch_line(dst + 128);
    _mm512_storeu_si512(dst, _mm512_mask_mov_epi64(first, 0xf0, second));
    _mm512_storeu_si512(dst + 64, _mm512_mask_alignr_epi64(last, 0xfc, second, first, 2));
    Isa::store_256(dst + 128, _mm512_castsi512_si256(
                                  _mm512_mask_shuffle_i64x2(last, 0xf3, second, second, 0x41)));
  }

  /// The channels of a run as the loop over pixels needs them.
  struct WideRun {
    std::int64_t pairs; ///< groups of 64 channels
    bool single;        ///< a group of 32 after them
    std::int64_t rest;  ///< the first channel of the rest
    std::uint64_t rest_values;
    std::int64_t stored;
    std::int64_t runs;
    std::int64_t run_linear_bytes;
    std::int64_t run_tile_bytes;
  };

  template <Rest kRest, class From>
  [[gnu::always_inline]] static inline void write_pixel(From& type, const WideRun& run,
                                                        const std::byte* src, std::byte* dst,
                                                        __m512i index) noexcept {
    if constexpr (kRest == Rest::Line) {
      prefetch_line(dst);
      _mm512_storeu_si512(dst, place(type, src, index, kUpperValues));
      return;
    }
    const std::int64_t stored = run.stored;
    const std::byte* from = src;
    std::byte* to = dst;
    for (std::int64_t pair = run.pairs; pair != 0; --pair) {
      write_64(type, from, to, to + stored, index);
      from += 64 * From::kBytes;
      to += 64;
    }
    if (run.single)
      put_halves(to, to + stored, place(type, from, index, kUpperValues));
    from = src + run.rest * From::kBytes;
    to = dst + run.rest;
    if constexpr (kRest == Rest::Overlap) {
      put_halves(to, to + stored, place(type, from, index, kUpperValues));
    } else if constexpr (kRest == Rest::Whole) {
      put_halves(to, to + stored, place_some(type, from, index, kUpperValues, run.rest_values));
    } else if constexpr (kRest == Rest::Half) {
      const __m512i planes = _mm512_permutexvar_epi8(index, load(type, from, run.rest_values));
      Isa::store_128(to, _mm512_castsi512_si128(planes));
      Isa::store_128(to + stored, _mm512_extracti32x4_epi32(planes, 2));
    }
  }

  /// Pixels that follow each other, in rows: along W and H or the other way around.
  struct WideGrid {
    const std::byte* src;
    std::byte* dst;
    std::int64_t rows;
    std::int64_t row_linear_bytes;
    std::int64_t row_tile_bytes;
    std::int64_t pixels;
    std::int64_t pixel_linear_bytes;
    std::int64_t pixel_tile_bytes;
  };

  /// Calls `pixel(src, dst)` for every pixel of a grid, or of one as wide that begins elsewhere.
  template <class Pixel>
  [[gnu::always_inline]] static inline void
  for_each_pixel(const WideGrid& grid, const std::byte* src, std::byte* dst, std::int64_t pixels,
                 std::int64_t step, Pixel pixel) noexcept {
    for (std::int64_t row = grid.rows; row != 0; --row) {
      const std::byte* from = src;
      std::byte* to = dst;
      for (std::int64_t left = pixels; left != 0; --left) {
        pixel(from, to);
        from += step * grid.pixel_linear_bytes;
        to += step * grid.pixel_tile_bytes;
      }
      src += grid.row_linear_bytes;
      dst += grid.row_tile_bytes;
    }
  }

  /// Pairs of pixels, then what is left of all rows: the two in one loop cost moves between registers.
  template <class From>
  [[gnu::always_inline]] static inline void write_eighties(From& type, const WideRun& run,
                                                           const WideGrid& grid) noexcept {
    const EightyPlaces<From> places;
    const std::int64_t twos = run.runs == 1 && grid.pixel_tile_bytes == 160 ? grid.pixels / 2 : 0;
    const auto write_two = [&](const std::byte* src, std::byte* dst)
        __attribute__((always_inline)) {
      write_two_eighties(type, src, grid.pixel_linear_bytes, dst, run.rest_values, places);
    };
    const auto write_one = [&](const std::byte* src, std::byte* dst)
        __attribute__((always_inline)) {
      for (std::int64_t next = 0; next < run.runs; ++next)
        write_eighty(type, src + next * run.run_linear_bytes, dst + next * run.run_tile_bytes,
                     run.rest_values, places);
    };
    if (twos != 0)
      for_each_pixel(grid, grid.src, grid.dst, twos, 2, write_two);
    if (grid.pixels != 2 * twos)
      for_each_pixel(grid, grid.src + 2 * twos * grid.pixel_linear_bytes,
                     grid.dst + 2 * twos * grid.pixel_tile_bytes, grid.pixels - 2 * twos, 1,
                     write_one);
  }

  /// False if they have to be written again. A loop over a single run is left out: it would take as
  /// long as the work on a pixel.
  template <Rest kRest, class From>
  [[gnu::always_inline]] static inline bool try_grid(From& type, const WideRun& run,
                                                     const WideGrid& grid) noexcept {
    if constexpr (kRest == Rest::Eighty) {
      write_eighties(type, run, grid);
    } else {
      const __m512i index = kWideIndex<From>.load();
      const bool single_run = run.runs == 1;
      const auto write_one = [&](const std::byte* src, std::byte* dst)
          __attribute__((always_inline)) {
        if (single_run)
          write_pixel<kRest>(type, run, src, dst, index);
        else
          for (std::int64_t next = 0; next < run.runs; ++next)
            write_pixel<kRest>(type, run, src + next * run.run_linear_bytes,
                               dst + next * run.run_tile_bytes, index);
      };
      for_each_pixel(grid, grid.src, grid.dst, grid.pixels, 1, write_one);
    }
    return PanelRows<Isa>::was_right(type);
  }

  template <class From, Rest kRest>
  [[gnu::noinline]] static void write_other_grid(const WideRun& run,
                                                 const WideGrid& grid) noexcept {
    From type{};
    static_cast<void>(try_grid<kRest>(type, run, grid));
  }

  /// Runs of equal numbers of channels.
  template <class From, Rest kRest> static void write_wide_runs(const TilePanel& panel) noexcept {
    const TileRow row = panel.row;
    const std::int64_t whole = row.channels / 32 * 32;
    const bool columns =
        kRest == Rest::Eighty ? row.pixels == 1 : walks_columns(row.pixels, panel.segments);
    const WideRun run{row.channels / 64,
                      row.channels % 64 >= 32,
                      kRest == Rest::Overlap ? row.channels - 32 : whole,
                      first_bits(row.channels - whole),
                      row.stored_channels,
                      panel.runs,
                      row.channels * From::kBytes,
                      panel.run_tile_bytes};
    std::int64_t boxes = panel.boxes;
    WideGrid grid{row.src,
                  row.dst,
                  panel.segments,
                  panel.segment_linear_bytes,
                  panel.segment_tile_bytes,
                  row.pixels,
                  row.pixel_stride_bytes,
                  2 * row.stored_channels};
    if (columns) {
      std::swap(grid.rows, grid.pixels);
      std::swap(grid.row_linear_bytes, grid.pixel_linear_bytes);
      std::swap(grid.row_tile_bytes, grid.pixel_tile_bytes);
    }
    if (grid.rows == 1) { // boxes of one row are rows
      grid.rows = boxes;
      grid.row_linear_bytes = panel.box_linear_bytes;
      grid.row_tile_bytes = panel.box_tile_bytes;
      boxes = 1;
    }
    From type{};
    for (; boxes != 0; --boxes) {
      if constexpr (requires { typename From::Other; })
        try_blocks<From, kRest>(type, run, grid);
      else
        static_cast<void>(try_grid<kRest>(type, run, grid));
      grid.src += panel.box_linear_bytes;
      grid.dst += panel.box_tile_bytes;
    }
  }

  /// In blocks that are few enough to write them again.
  template <class From, Rest kRest>
  [[gnu::always_inline]] static inline void try_blocks(From& type, const WideRun& run,
                                                       const WideGrid& grid) noexcept {
    constexpr std::int64_t kMostPixels = 32;
    const std::int64_t pixels = grid.pixels < kMostPixels ? grid.pixels : kMostPixels;
    const std::int64_t rows = kMostPixels / pixels;
    WideGrid block = grid;
    for (std::int64_t row = 0; row < grid.rows; row += rows) {
      block.rows = grid.rows - row < rows ? grid.rows - row : rows;
      for (std::int64_t pixel = 0; pixel < grid.pixels; pixel += pixels) {
        block.pixels = grid.pixels - pixel < pixels ? grid.pixels - pixel : pixels;
        block.src = grid.src + row * grid.row_linear_bytes + pixel * grid.pixel_linear_bytes;
        block.dst = grid.dst + row * grid.row_tile_bytes + pixel * grid.pixel_tile_bytes;
        if (PanelRows<Isa>::is_wary(type) || !try_grid<kRest>(type, run, block))
          write_other_grid<typename From::Other, kRest>(run, block);
      }
    }
  }

  template <class From> static void write_wide_runs(const TilePanel& panel) noexcept {
    const std::int64_t rest = panel.row.channels % 32;
    if (panel.row.channels == 32 && panel.row.stored_channels == 32)
      write_wide_runs<From, Rest::Line>(panel);
    else if (rest == 0)
      write_wide_runs<From, Rest::None>(panel);
    else if (rest <= 16 && panel.row.stored_channels == 80)
      write_wide_runs<From, Rest::Eighty>(panel);
    else if (panel.row.stored_channels == panel.row.channels)
      write_wide_runs<From, Rest::Overlap>(panel);
    else if (rest <= 16)
      write_wide_runs<From, Rest::Half>(panel);
    else
      write_wide_runs<From, Rest::Whole>(panel);
  }

  /// Runs of 17 channels or more, with padding to a multiple of 16 or, from 32 on, without.
  template <class From> static void write_wide(const TilePanel& panel) noexcept {
    Isa::for_equal_runs(panel, panel.row.channels * From::kBytes, panel.run_tile_bytes,
                        [](const TilePanel& part) { write_wide_runs<From>(part); });
  }
};

} // namespace simaai::kernels::a65::detail
