// SPDX-License-Identifier: LGPL-2.1-or-later
// What PanelRows needs of AVX2, and pixels of any number of channels from tile to linear storage.
// Include it in files built with -mavx2 only, like lanes_avx2.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "a65/simd/lanes_avx2.h"

namespace simaai::kernels::a65::detail::avx2 {

[[nodiscard]] inline __m128i load_32(const std::byte* from) noexcept {
  return _mm_cvtsi32_si128(load_word<std::int32_t>(from));
}

template <class To>
void read_16(const std::byte* src, std::byte* dst, std::int64_t stored, std::int64_t c) noexcept {
  const __m128i low = load_128(src + c);
  const __m128i high = load_128(src + stored + c);
  To::store_16(dst + c * To::kBytes, _mm_unpacklo_epi8(low, high), _mm_unpackhi_epi8(low, high));
}

template <class To>
void read_8(const std::byte* src, std::byte* dst, std::int64_t stored, std::int64_t c) noexcept {
  To::store_8(dst + c * To::kBytes, _mm_unpacklo_epi8(load_64(src + c), load_64(src + stored + c)));
}

template <class To>
void read_4(const std::byte* src, std::byte* dst, std::int64_t stored, std::int64_t c) noexcept {
  To::store_4(dst + c * To::kBytes, _mm_unpacklo_epi8(load_32(src + c), load_32(src + stored + c)));
}

/// Fewer than four channels.
template <class To>
void read_few(const std::byte* src, std::byte* dst, std::int64_t channels,
              std::int64_t stored) noexcept {
  for (std::int64_t c = 0; c < channels; ++c)
    To::store_1(dst + c * To::kBytes, src[c], src[stored + c]);
}

/// One pixel of 4 channels or more; the last group overlaps the one before.
template <class To>
void read_pixel(const std::byte* src, std::byte* dst, std::int64_t channels,
                std::int64_t stored) noexcept {
  if (channels >= 16) {
    std::int64_t c = 0;
    for (; c + 16 <= channels; c += 16)
      read_16<To>(src, dst, stored, c);
    if (c < channels)
      read_16<To>(src, dst, stored, channels - 16);
  } else if (channels >= 8) {
    read_8<To>(src, dst, stored, 0);
    read_8<To>(src, dst, stored, channels - 8);
  } else {
    read_4<To>(src, dst, stored, 0);
    read_4<To>(src, dst, stored, channels - 4);
  }
}

/// One pixel of any number of channels.
template <class To>
void read_channels(const std::byte* src, std::byte* dst, std::int64_t channels,
                   std::int64_t stored) noexcept {
  if (channels < 4)
    read_few<To>(src, dst, channels, stored);
  else
    read_pixel<To>(src, dst, channels, stored);
}

/// INT8. Its panels have whole groups of 16 channels only, so the members for others do nothing.
struct I8 {
  static constexpr std::int64_t kBytes = 1;
  static constexpr std::int64_t kStoredBytes = 16;
};

struct Avx2 {
  static constexpr std::uintptr_t kStreamAlignment = 32;
  static constexpr std::int64_t kLinesAtOnce = 1;

  template <bool kStream, class From>
  static void write_4(From /*type*/, const std::byte* src, std::int64_t stride,
                      std::byte* dst) noexcept {
    const FourPlanes planes = From::planes_4x16(src, stride);
    put_256<kStream>(dst, planes.pixel0);
    put_256<kStream>(dst + 32, planes.pixel1);
    put_256<kStream>(dst + 64, planes.pixel2);
    put_256<kStream>(dst + 96, planes.pixel3);
  }
  template <bool kStream>
  static void write_4(I8 /*type*/, const std::byte* src, std::int64_t stride,
                      std::byte* dst) noexcept {
    put_256<kStream>(dst, _mm256_set_m128i(load_128(src + stride), load_128(src)));
    put_256<kStream>(dst + 32,
                     _mm256_set_m128i(load_128(src + 3 * stride), load_128(src + 2 * stride)));
  }
  template <bool kStream>
  static void write_1(I8 /*type*/, const std::byte* src, std::byte* dst) noexcept {
    read_1<kStream>(I8{}, src, dst);
  }
  static void write_some(I8 /*type*/, const std::byte* /*src*/, std::int64_t /*channels*/,
                         std::byte* /*dst*/) noexcept {}
  static void write_rest(I8 /*type*/, const std::byte* /*src*/, std::int64_t /*channels*/,
                         std::byte* /*dst*/) noexcept {}
  template <bool kStream, class From>
  static void write_1(From /*type*/, const std::byte* src, std::byte* dst) noexcept {
    put_256<kStream>(dst, From::planes_16(src));
  }
  template <class From>
  static void write_some(From /*type*/, const std::byte* src, std::int64_t channels,
                         std::byte* dst) noexcept {
    store_256(dst, From::planes_some(src, channels));
  }
  /// The last 16 channels, shifted to their places.
  template <class From>
  static void write_rest(From /*type*/, const std::byte* src, std::int64_t channels,
                         std::byte* dst) noexcept {
    const std::int64_t before = 16 - channels;
    const __m256i shift = _mm256_broadcastsi128_si256(shift_control(before));
    store_256(dst, _mm256_shuffle_epi8(From::planes_16(src - before * From::kBytes), shift));
  }
  template <bool kStream, class To>
  static void read_line(To /*type*/, const std::byte* src, std::byte* dst,
                        std::int64_t stride) noexcept {
    To::template put_planes<kStream>(dst, load_256(src));
    To::template put_planes<kStream>(dst + stride, load_256(src + 32));
  }
  template <bool kStream>
  static void read_line(I8 /*type*/, const std::byte* src, std::byte* dst,
                        std::int64_t stride) noexcept {
    read_1<kStream>(I8{}, src, dst);
    read_1<kStream>(I8{}, src + 16, dst + stride);
    read_1<kStream>(I8{}, src + 32, dst + 2 * stride);
    read_1<kStream>(I8{}, src + 48, dst + 3 * stride);
  }
  template <bool kStream>
  static void read_1(I8 /*type*/, const std::byte* src, std::byte* dst) noexcept {
    if constexpr (kStream)
      stream_128(dst, load_128(src));
    else
      store_128(dst, load_128(src));
  }
  template <bool kStream, class To>
  static void read_1(To /*type*/, const std::byte* src, std::byte* dst) noexcept {
    To::template put_planes<kStream>(dst, load_256(src));
  }
  static void read_some(I8 /*type*/, const std::byte* /*src*/, std::int64_t /*channels*/,
                        std::byte* /*dst*/) noexcept {}
  template <class To>
  static void read_some(To /*type*/, const std::byte* src, std::int64_t channels,
                        std::byte* dst) noexcept {
    read_channels<To>(src, dst, channels, 16);
  }
};

/// The last `row.pixels - done` pixels of `src_bytes` and `dst_bytes` each.
inline void finish_pixels(const TileRow& row, std::int64_t done, std::int64_t src_bytes,
                          std::int64_t dst_bytes, TileRowFn scalar) noexcept {
  if (done == row.pixels)
    return;
  TileRow rest = row;
  rest.src += done * src_bytes;
  rest.dst += done * dst_bytes;
  rest.pixels -= done;
  scalar(rest);
}

} // namespace simaai::kernels::a65::detail::avx2
