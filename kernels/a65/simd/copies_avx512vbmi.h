// SPDX-License-Identifier: LGPL-2.1-or-later
// INT8 panels of pixels that keep their channels, or gain padding to a multiple of 16, for AVX-512 with
// VBMI: nothing is converted, so they are copies. Everything is a member of a class of this level.
// Include it in files built for the instruction set only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "a65/simd/isa_avx512.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiCopies {
  using Isa = Avx512<true>;
  using Bytes = Isa::Bytes;

  static constexpr std::uint64_t first_bits(std::int64_t count) noexcept {
    return Isa::first_bits(count);
  }

  static void copy_16(std::byte* dst, const std::byte* src) noexcept {
    Isa::store_128(dst, Isa::load_128(src));
  }
  static void copy_32(std::byte* dst, const std::byte* src) noexcept {
    Isa::store_256(dst, Isa::load_256(src));
  }
  static void copy_64(std::byte* dst, const std::byte* src) noexcept {
    _mm512_storeu_si512(dst, Isa::load_512(src));
  }

  /// How the bytes of a pixel behind its whole lines are copied: the last copy ends with the last
  /// byte and overlaps the one before.
  enum class Rest : std::uint8_t { None, Last16, Last32, Last64, Two16, Two32, Masked };

  static constexpr Rest rest_of(std::int64_t bytes) noexcept {
    const std::int64_t rest = bytes % 64;
    if (rest == 0)
      return Rest::None;
    if (bytes < 16)
      return Rest::Masked;
    if (rest <= 16)
      return Rest::Last16;
    if (bytes < 32)
      return Rest::Two16;
    if (rest <= 32)
      return Rest::Last32;
    return bytes < 64 ? Rest::Two32 : Rest::Last64;
  }

  /// Number of whole lines: loops over one or none would take as long as the copy.
  enum class Lines : std::uint8_t { None, One, Any };

  template <Lines kLines, Rest kRest>
  [[gnu::always_inline]] static inline void copy(std::byte* dst, const std::byte* src,
                                                 std::int64_t bytes) noexcept {
    if constexpr (kLines == Lines::One)
      copy_64(dst, src);
    if constexpr (kLines == Lines::Any)
      for (std::int64_t at = 0; at + 64 <= bytes; at += 64)
        copy_64(dst + at, src + at);
    if constexpr (kRest == Rest::Two16)
      copy_16(dst, src);
    if constexpr (kRest == Rest::Two32)
      copy_32(dst, src);
    if constexpr (kRest == Rest::Last16 || kRest == Rest::Two16)
      copy_16(dst + bytes - 16, src + bytes - 16);
    if constexpr (kRest == Rest::Last32 || kRest == Rest::Two32)
      copy_32(dst + bytes - 32, src + bytes - 32);
    if constexpr (kRest == Rest::Last64)
      copy_64(dst + bytes - 64, src + bytes - 64);
    if constexpr (kRest == Rest::Masked) {
      const std::uint64_t mask = first_bits(bytes);
      _mm512_mask_storeu_epi8(dst, mask, _mm512_maskz_loadu_epi8(mask, src));
    }
  }

  /// Boxes, each a grid of byte rows of equal length.
  struct Copies {
    const std::byte* src;
    std::byte* dst;
    std::int64_t bytes;
    std::int64_t segments;
    std::int64_t segment_src_bytes;
    std::int64_t segment_dst_bytes;
    std::int64_t pixels;
    std::int64_t pixel_src_bytes;
    std::int64_t pixel_dst_bytes;
    std::int64_t runs;
    std::int64_t run_src_bytes;
    std::int64_t run_dst_bytes;
    std::uint8_t fill;
    std::int64_t boxes;
    std::int64_t box_src_bytes;
    std::int64_t box_dst_bytes;
    std::int64_t ahead; ///< where memory of dst is asked for; 0: nowhere
  };

  /// kPadded: `bytes` is rounded up to 16 with fill.
  template <Lines kLines, Rest kRest, bool kPadded>
  static void copy_all(const Copies& copies) noexcept {
    const Copies all = copies;
    const std::int64_t bytes = kPadded ? all.bytes / 16 * 16 : all.bytes;
    const auto mask = static_cast<__mmask16>(first_bits(all.bytes - bytes));
    const __m128i fill = _mm_set1_epi8(static_cast<char>(all.fill));
    const std::int64_t ahead = all.ahead;
    const auto copy_one = [=](std::byte* dst, const std::byte* src) {
      if constexpr (kLines == Lines::One) {
        __builtin_prefetch(dst + ahead, 1);
        if constexpr (kRest != Rest::None)
          __builtin_prefetch(dst + ahead + 64, 1);
      }
      copy<kLines, kRest>(dst, src, bytes);
      if constexpr (kPadded) {
        auto* const to = static_cast<__m128i*>(static_cast<void*>(dst + bytes));
        _mm_storeu_si128(to, _mm_mask_loadu_epi8(fill, mask, src + bytes));
      }
    };
    const std::byte* box_src = all.src;
    std::byte* box_dst = all.dst;
    for (std::int64_t boxes = all.boxes; boxes != 0; --boxes) {
      const std::byte* segment_src = box_src;
      std::byte* segment_dst = box_dst;
      for (std::int64_t segments = all.segments; segments != 0; --segments) {
        const std::byte* src = segment_src;
        std::byte* dst = segment_dst;
        for (std::int64_t pixels = all.pixels; pixels != 0; --pixels) {
          copy_one(dst, src);
          if (all.runs != 1)
            for (std::int64_t run = 1; run < all.runs; ++run)
              copy_one(dst + run * all.run_dst_bytes, src + run * all.run_src_bytes);
          src += all.pixel_src_bytes;
          dst += all.pixel_dst_bytes;
        }
        segment_src += all.segment_src_bytes;
        segment_dst += all.segment_dst_bytes;
      }
      box_src += all.box_src_bytes;
      box_dst += all.box_dst_bytes;
    }
  }

  template <Rest kRest, bool kPadded> static void copy_all(const Copies& copies) noexcept {
    if (copies.bytes >= 128)
      copy_all<Lines::Any, kRest, kPadded>(copies);
    else if (copies.bytes >= 64)
      copy_all<Lines::One, kRest, kPadded>(copies);
    else
      copy_all<Lines::None, kRest, kPadded>(copies);
  }

  template <bool kPadded> static void copy_all(const Copies& copies) noexcept {
    switch (rest_of(kPadded ? copies.bytes / 16 * 16 : copies.bytes)) {
    case Rest::None:
      return copy_all<Rest::None, kPadded>(copies);
    case Rest::Last16:
      return copy_all<Rest::Last16, kPadded>(copies);
    case Rest::Last32:
      return copy_all<Rest::Last32, kPadded>(copies);
    case Rest::Last64:
      return copy_all<Rest::Last64, kPadded>(copies);
    case Rest::Two16:
      return copy_all<Rest::Two16, kPadded>(copies);
    case Rest::Two32:
      return copy_all<Rest::Two32, kPadded>(copies);
    case Rest::Masked:
      return copy_all<Rest::Masked, kPadded>(copies);
    }
  }

  /// Pixels that follow each other on both sides are one.
  static void join_pixels(Copies* copies) noexcept {
    if (copies->runs != 1 || copies->pixel_src_bytes != copies->bytes ||
        copies->pixel_dst_bytes != copies->bytes)
      return;
    copies->bytes *= copies->pixels;
    copies->pixels = 1;
  }

  static void order_loops(Copies* copies) noexcept {
    if (!walks_columns(copies->pixels, copies->segments))
      return;
    std::swap(copies->pixels, copies->segments);
    std::swap(copies->pixel_src_bytes, copies->segment_src_bytes);
    std::swap(copies->pixel_dst_bytes, copies->segment_dst_bytes);
  }

  /// Whether tiles are read a line of pixels of all of them at a time, so that lines are written from
  /// front to back. Where pieces of tiles are no whole cache lines, the first cache has to keep them.
  static bool reads_along_lines(const TilePanel& panel) noexcept {
    constexpr std::int64_t kMostBytes = std::int64_t{32} << 10;
    return panel.boxes > 1 && panel.segments > 1 &&
           (is_whole_of_16(panel) || panel.boxes * panel.box_tile_bytes <= kMostBytes);
  }
  static void read_along_lines(Copies* copies) noexcept {
    std::swap(copies->boxes, copies->segments);
    std::swap(copies->box_src_bytes, copies->segment_src_bytes);
    std::swap(copies->box_dst_bytes, copies->segment_dst_bytes);
    copies->ahead = 256;
  }

  // Several whole groups of 16 channels a pixel: lines of four pixels of a group on one side, lines of
  // four groups of a pixel on the other.

  static bool is_whole_of_16(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    return row.stored_channels == 16 && row.channels == 16 && row.pixel_stride_bytes != 16;
  }

  /// Four lines of four blocks of 16 bytes become four lines of the first, second and so on of each.
  [[gnu::always_inline]] static inline void transpose_4(const std::byte* src, std::int64_t src_step,
                                                        std::byte* dst, std::int64_t dst_step,
                                                        std::int64_t ahead) noexcept {
    __builtin_prefetch(dst + ahead, 1);
    __builtin_prefetch(dst + dst_step + ahead, 1);
    __builtin_prefetch(dst + 2 * dst_step + ahead, 1);
    __builtin_prefetch(dst + 3 * dst_step + ahead, 1);
    // Halves are put together by loads: half the shuffles of whole lines.
    const __m512i ab_first = Isa::load_pair(src, src + src_step);
    const __m512i cd_first = Isa::load_pair(src + 2 * src_step, src + 3 * src_step);
    const __m512i ab_last = Isa::load_pair(src + 32, src + src_step + 32);
    const __m512i cd_last = Isa::load_pair(src + 2 * src_step + 32, src + 3 * src_step + 32);
    _mm512_storeu_si512(dst, _mm512_shuffle_i64x2(ab_first, cd_first, 0x88));
    _mm512_storeu_si512(dst + dst_step, _mm512_shuffle_i64x2(ab_first, cd_first, 0xdd));
    _mm512_storeu_si512(dst + 2 * dst_step, _mm512_shuffle_i64x2(ab_last, cd_last, 0x88));
    _mm512_storeu_si512(dst + 3 * dst_step, _mm512_shuffle_i64x2(ab_last, cd_last, 0xdd));
  }

  /// All groups of some pixels; src and dst are a group further each at the given distances.
  struct Groups {
    std::int64_t pixels;
    std::int64_t groups;
    std::int64_t src_pixel;
    std::int64_t dst_pixel;
    std::int64_t src_group;
    std::int64_t dst_group;
    std::int64_t ahead; ///< where memory of dst is asked for; 0: nowhere
  };

  template <bool kWrite>
  [[gnu::always_inline]] static inline void copy_groups(const Groups& all, const std::byte* src,
                                                        std::byte* dst) noexcept {
    const std::int64_t src_step = kWrite ? all.src_pixel : all.src_group;
    const std::int64_t dst_step = kWrite ? all.dst_group : all.dst_pixel;
    std::int64_t pixel = 0;
    for (; pixel + 4 <= all.pixels; pixel += 4) {
      const std::byte* from = src;
      std::byte* to = dst;
      std::int64_t group = 0;
      for (; group + 4 <= all.groups; group += 4) {
        transpose_4(from, src_step, to, dst_step, all.ahead);
        from += 4 * all.src_group;
        to += 4 * all.dst_group;
      }
      for (; group < all.groups; ++group) {
        for (std::int64_t next = 0; next < 4; ++next)
          copy_16(to + next * all.dst_pixel, from + next * all.src_pixel);
        from += all.src_group;
        to += all.dst_group;
      }
      src += 4 * all.src_pixel;
      dst += 4 * all.dst_pixel;
    }
    for (; pixel < all.pixels; ++pixel) {
      for (std::int64_t group = 0; group < all.groups; ++group)
        copy_16(dst + group * all.dst_group, src + group * all.src_group);
      src += all.src_pixel;
      dst += all.dst_pixel;
    }
  }

  template <bool kWrite> static void copy_all_groups(const Copies& copies) noexcept {
    const Groups groups{copies.pixels,
                        copies.runs,
                        copies.pixel_src_bytes,
                        copies.pixel_dst_bytes,
                        copies.run_src_bytes,
                        copies.run_dst_bytes,
                        copies.ahead};
    const std::byte* box_src = copies.src;
    std::byte* box_dst = copies.dst;
    for (std::int64_t boxes = copies.boxes; boxes != 0; --boxes) {
      const std::byte* segment_src = box_src;
      std::byte* segment_dst = box_dst;
      for (std::int64_t segments = copies.segments; segments != 0; --segments) {
        copy_groups<kWrite>(groups, segment_src, segment_dst);
        segment_src += copies.segment_src_bytes;
        segment_dst += copies.segment_dst_bytes;
      }
      box_src += copies.box_src_bytes;
      box_dst += copies.box_dst_bytes;
    }
  }

  /// Any run of channels, without padding or with padding to a multiple of 16.
  static void write_runs(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    Copies copies{row.src,
                  row.dst,
                  row.channels,
                  panel.segments,
                  panel.segment_linear_bytes,
                  panel.segment_tile_bytes,
                  row.pixels,
                  row.pixel_stride_bytes,
                  row.stored_channels,
                  panel.runs,
                  row.channels,
                  panel.run_tile_bytes,
                  row.fill,
                  panel.boxes,
                  panel.box_linear_bytes,
                  panel.box_tile_bytes,
                  panel.boxes > 1 && panel.segments > 1 ? Isa::kAhead : 0};
    if (is_whole_of_16(panel)) {
      copy_all_groups<true>(copies);
    } else if (row.stored_channels == row.channels) {
      join_pixels(&copies);
      order_loops(&copies);
      copy_all<false>(copies);
    } else {
      order_loops(&copies);
      copy_all<true>(copies);
    }
  }

  static void read_runs(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    Copies copies{row.src,
                  row.dst,
                  row.channels,
                  panel.segments,
                  panel.segment_tile_bytes,
                  panel.segment_linear_bytes,
                  row.pixels,
                  row.stored_channels,
                  row.pixel_stride_bytes,
                  panel.runs,
                  panel.run_tile_bytes,
                  row.channels,
                  0,
                  panel.boxes,
                  panel.box_tile_bytes,
                  panel.box_linear_bytes,
                  panel.boxes > 1 && panel.segments > 1 ? Isa::linear_ahead(panel) : 0};
    if (reads_along_lines(panel))
      read_along_lines(&copies);
    if (is_whole_of_16(panel)) {
      copy_all_groups<false>(copies);
      return;
    }
    join_pixels(&copies);
    order_loops(&copies);
    copy_all<false>(copies);
  }
};

} // namespace simaai::kernels::a65::detail
