// SPDX-License-Identifier: LGPL-2.1-or-later
// The plain loops themselves. No intrinsics, no blocking: loops in storage order, one statement of
// each rule, pointers without aliasing, unit channel strides known to the compiler.
#include <algorithm>
#include <bit>
#include <cstdint>

#include "plain.h"

namespace simaai::bench {

using kernels::DType;

namespace {

struct FromF32 {
  using Scalar = std::uint32_t;
  static std::uint16_t convert(Scalar bits) {
    return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
  }
};

struct FromBf16 {
  using Scalar = std::uint16_t;
  static std::uint16_t convert(Scalar bits) { return bits; }
};

/// By way of Float32, where the compiler has the machine's conversion; exact, so nothing is rounded
/// twice. Random data hold no NaN, which this would treat otherwise than the contract does.
struct FromF16 {
  using Scalar = std::uint16_t;
#if defined(__GNUC__) && !defined(__clang__) && defined(__FLT16_MANT_DIG__)
  static std::uint16_t convert(Scalar bits) {
    return FromF32::convert(
        std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<_Float16>(bits))));
  }
#else
  static std::uint16_t convert(Scalar bits) {
    const std::uint32_t sign = (bits & 0x8000U) << 16;
    const std::uint32_t magnitude = bits & 0x7fffU;
    const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
    return FromF32::convert(sign | std::bit_cast<std::uint32_t>(value));
  }
#endif
};

struct ToF32 {
  using Scalar = std::uint32_t;
  static Scalar convert(std::uint16_t bits) { return static_cast<Scalar>(bits) << 16; }
};

struct ToBf16 {
  using Scalar = std::uint16_t;
  static Scalar convert(std::uint16_t bits) { return bits; }
};

/// A tile's place and actual extents. Channels stored in blocks are planes of their own.
struct TileBox {
  std::int64_t first[4];
  std::int64_t extent[4];
};

template <class Visit> void for_each_tile(const PlainTiles& t, const Visit& visit) {
  const auto& n = t.extent;
  const auto& s = t.tile;
  TileBox box{};
  for (std::int64_t c = 0; c < n[3]; c += s[3])
    for (std::int64_t d = 0; d < n[0]; d += s[0])
      for (std::int64_t h = 0; h < n[1]; h += s[1])
        for (std::int64_t w = 0; w < n[2]; w += s[2]) {
          box = {{d, h, w, c},
                 {std::min(s[0], n[0] - d), std::min(s[1], n[1] - h), std::min(s[2], n[2] - w),
                  std::min(s[3], n[3] - c)}};
          visit(box);
        }
}

/// Element offset of the first channel of a pixel of a tile.
std::int64_t pixel_offset(const PlainTiles& t, const TileBox& box, std::int64_t d, std::int64_t h,
                          std::int64_t w) {
  return (box.first[0] + d) * t.stride[0] + (box.first[1] + h) * t.stride[1] +
         (box.first[2] + w) * t.stride[2] + box.first[3] * t.stride[3];
}

std::int64_t stored_channels(const PlainTiles& t, std::int64_t channels) {
  return t.pad16 || t.blocked ? (channels + 15) / 16 * 16 : channels;
}

/// Number of zero bytes that end a tile.
std::int64_t gap_bytes(std::int64_t bytes) { return (16 - bytes % 16) % 16; }

template <class From, bool kUnit>
void write_planes(const PlainTiles& t, const void* src, void* dst) {
  const auto* slice = static_cast<const typename From::Scalar*>(src);
  const std::int64_t stride = kUnit ? 1 : t.stride[3];
  auto* __restrict to = static_cast<std::uint8_t*>(dst);
  for (std::int64_t o = 0; o < t.slices; ++o, slice += t.slice_stride)
    for_each_tile(t, [&](const TileBox& box) {
      const std::int64_t channels = box.extent[3];
      const std::int64_t stored = stored_channels(t, channels);
      const std::uint8_t* const begin = to;
      for (std::int64_t d = 0; d < box.extent[0]; ++d)
        for (std::int64_t h = 0; h < box.extent[1]; ++h)
          for (std::int64_t w = 0; w < box.extent[2]; ++w) {
            const auto* __restrict from = slice + pixel_offset(t, box, d, h, w);
            for (std::int64_t c = 0; c < channels; ++c) {
              const std::uint16_t value = From::convert(from[c * stride]);
              to[c] = static_cast<std::uint8_t>(value);
              to[stored + c] = static_cast<std::uint8_t>(value >> 8);
            }
            for (std::int64_t c = channels; c < stored; ++c) {
              to[c] = 0;
              to[stored + c] = 0;
            }
            to += 2 * stored;
          }
      to = std::fill_n(to, gap_bytes(to - begin), std::uint8_t{0});
    });
}

template <bool kUnit> void write_bytes(const PlainTiles& t, const void* src, void* dst) {
  const auto* slice = static_cast<const std::uint8_t*>(src);
  const std::int64_t stride = kUnit ? 1 : t.stride[3];
  auto* __restrict to = static_cast<std::uint8_t*>(dst);
  for (std::int64_t o = 0; o < t.slices; ++o, slice += t.slice_stride)
    for_each_tile(t, [&](const TileBox& box) {
      const std::int64_t channels = box.extent[3];
      const std::int64_t stored = stored_channels(t, channels);
      const std::uint8_t* const begin = to;
      for (std::int64_t d = 0; d < box.extent[0]; ++d)
        for (std::int64_t h = 0; h < box.extent[1]; ++h)
          for (std::int64_t w = 0; w < box.extent[2]; ++w) {
            const std::uint8_t* __restrict from = slice + pixel_offset(t, box, d, h, w);
            for (std::int64_t c = 0; c < channels; ++c)
              to[c] = from[c * stride];
            for (std::int64_t c = channels; c < stored; ++c)
              to[c] = t.fill;
            to += stored;
          }
      to = std::fill_n(to, gap_bytes(to - begin), std::uint8_t{0});
    });
}

/// Channels of one visit: all of the tile, or one block after the other.
std::int64_t run_of(const PlainTiles& t, const TileBox& box) {
  return t.blocked ? std::int64_t{16} : box.extent[3];
}

/// Calls `visit(element offset, channels, stored, tile bytes)` for each run of channels in storage
/// order; `visit` returns the place of the next run.
template <class Visit>
const std::uint8_t* for_each_run(const PlainTiles& t, const std::uint8_t* from,
                                 const Visit& visit) {
  for (std::int64_t o = 0; o < t.slices; ++o)
    for_each_tile(t, [&](const TileBox& box) {
      const std::uint8_t* const begin = from;
      const std::int64_t run = run_of(t, box);
      for (std::int64_t first = 0; first < box.extent[3]; first += run) {
        const std::int64_t channels = std::min(run, box.extent[3] - first);
        const std::int64_t stored = stored_channels(t, channels);
        for (std::int64_t d = 0; d < box.extent[0]; ++d)
          for (std::int64_t h = 0; h < box.extent[1]; ++h)
            for (std::int64_t w = 0; w < box.extent[2]; ++w) {
              const std::int64_t at =
                  o * t.slice_stride + pixel_offset(t, box, d, h, w) + first * t.stride[3];
              from = visit(at, channels, stored, from);
            }
      }
      from += gap_bytes(from - begin);
    });
  return from;
}

template <class To, bool kUnit> void read_planes(const PlainTiles& t, const void* src, void* dst) {
  auto* const base = static_cast<typename To::Scalar*>(dst);
  const std::int64_t stride = kUnit ? 1 : t.stride[3];
  for_each_run(t, static_cast<const std::uint8_t*>(src),
               [&](std::int64_t at, std::int64_t channels, std::int64_t stored,
                   const std::uint8_t* __restrict from) {
                 auto* __restrict to = base + at;
                 for (std::int64_t c = 0; c < channels; ++c)
                   to[c * stride] =
                       To::convert(static_cast<std::uint16_t>(from[c] | from[stored + c] << 8));
                 return from + 2 * stored;
               });
}

template <bool kUnit> void read_bytes(const PlainTiles& t, const void* src, void* dst) {
  auto* const base = static_cast<std::uint8_t*>(dst);
  const std::int64_t stride = kUnit ? 1 : t.stride[3];
  for_each_run(t, static_cast<const std::uint8_t*>(src),
               [&](std::int64_t at, std::int64_t channels, std::int64_t stored,
                   const std::uint8_t* __restrict from) {
                 std::uint8_t* __restrict to = base + at;
                 for (std::int64_t c = 0; c < channels; ++c)
                   to[c * stride] = from[c];
                 return from + stored;
               });
}

template <class From, class To> void linear_loop(const PlainLinear& l, const void* src, void* dst) {
  const auto* from = static_cast<const typename From::Scalar*>(src);
  auto* to = static_cast<typename To::Scalar*>(dst);
  for (std::int64_t a = 0; a < l.extent[0]; ++a)
    for (std::int64_t b = 0; b < l.extent[1]; ++b)
      for (std::int64_t c = 0; c < l.extent[2]; ++c) {
        const auto* __restrict in =
            from + a * l.src_stride[0] + b * l.src_stride[1] + c * l.src_stride[2];
        auto* __restrict out = to + a * l.dst_stride[0] + b * l.dst_stride[1] + c * l.dst_stride[2];
        if (l.src_stride[3] == 1 && l.dst_stride[3] == 1)
          for (std::int64_t d = 0; d < l.extent[3]; ++d)
            out[d] = To::convert(From::convert(in[d]));
        else
          for (std::int64_t d = 0; d < l.extent[3]; ++d)
            out[d * l.dst_stride[3]] = To::convert(From::convert(in[d * l.src_stride[3]]));
      }
}

PlainTilesFn reader_of(DType to, bool unit) {
  if (to == DType::Int8)
    return unit ? read_bytes<true> : read_bytes<false>;
  if (to == DType::Float32)
    return unit ? read_planes<ToF32, true> : read_planes<ToF32, false>;
  return unit ? read_planes<ToBf16, true> : read_planes<ToBf16, false>;
}

PlainTilesFn writer_of(DType from, bool unit) {
  if (from == DType::Int8)
    return unit ? write_bytes<true> : write_bytes<false>;
  if (from == DType::Float32)
    return unit ? write_planes<FromF32, true> : write_planes<FromF32, false>;
  if (from == DType::Float16)
    return unit ? write_planes<FromF16, true> : write_planes<FromF16, false>;
  return unit ? write_planes<FromBf16, true> : write_planes<FromBf16, false>;
}

} // namespace

PlainTilesFn plain_tiles_function(const Case& bench_case, const PlainTiles& tiles) {
  const bool unit = tiles.stride[3] == 1;
  return is_tiled(bench_case.input) ? reader_of(bench_case.output.dtype, unit)
                                    : writer_of(bench_case.input.dtype, unit);
}

PlainLinearFn plain_linear_function(const Case& bench_case) {
  return bench_case.input.dtype == DType::Float32 ? linear_loop<FromF32, ToBf16>
                                                  : linear_loop<FromBf16, ToF32>;
}

} // namespace simaai::bench
