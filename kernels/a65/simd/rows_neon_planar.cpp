// SPDX-License-Identifier: LGPL-2.1-or-later
// Panels whose pixels are neighbours in each channel on the linear side (channels first), for Advanced
// SIMD: sixteen channels of eight pixels are transposed in registers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "a65/simd/lanes_neon.h"
#include "a65/simd/rows_neon.h"
#include "a65/simd/transpose_neon.h"

namespace simaai::kernels::a65::detail {

using neon::BF16;
using neon::bytes_at;
using neon::F16;
using neon::F32;
using neon::kNone;
using neon::Rows;
using neon::unzip;
using neon::zip;
using neon::zip_lower;

namespace {

constexpr std::int64_t kPixels = 8;    ///< of a block
constexpr std::int64_t kChannels = 16; ///< of a block, at most
constexpr std::int64_t kFew = 4;       ///< channels of a narrower block

/// Eight pixels of some channels on the linear side. `channels` of them are there.
struct Planes {
  std::int64_t stride;
  std::int64_t channels;
  std::uint8_t fill; ///< INT8: of those that are not
};

/// Where eight pixels lie in the tile.
struct Places {
  std::int64_t of[kPixels];
  std::int64_t plane_bytes;
  [[nodiscard]] std::int64_t at(std::size_t pixel) const noexcept { return of[pixel]; }
};
/// The same of neighbours in sixteen stored channels.
template <std::int64_t kPlanes> struct Neighbours {
  static constexpr std::int64_t plane_bytes = kChannels;
  [[nodiscard]] static constexpr std::int64_t at(std::size_t pixel) noexcept {
    return static_cast<std::int64_t>(pixel) * kPlanes * kChannels;
  }
};

/// Scalars of two stored bytes.
template <class Type> struct Wide {
  static constexpr std::int64_t kBytes = Type::kBytes;
  static constexpr std::int64_t kPlanes = 2;

  template <std::size_t kRows>
  [[gnu::always_inline]] static inline Rows<uint16x8_t, kRows> load(const Planes& planes,
                                                                    const std::byte* src) noexcept {
    Rows<uint16x8_t, kRows> rows;
    if (planes.channels == static_cast<std::int64_t>(kRows)) {
#pragma GCC unroll 16
      for (std::size_t row = 0; row < kRows; ++row, src += planes.stride) {
        const std::byte* from = src;
        rows.of[row] = Type::load_8(&from);
      }
      return rows;
    }
#pragma GCC unroll 16
    for (std::size_t row = 0; row < kRows; ++row) {
      const auto channel = static_cast<std::int64_t>(row);
      const std::byte* from = src + channel * planes.stride;
      rows.of[row] = channel < planes.channels ? Type::load_8(&from) : vdupq_n_u16(0);
    }
    return rows;
  }
  template <std::size_t kRows>
  [[gnu::always_inline]] static inline void store(const Planes& planes, std::byte* dst,
                                                  const Rows<uint16x8_t, kRows>& rows) noexcept {
    if (planes.channels == static_cast<std::int64_t>(kRows)) {
#pragma GCC unroll 16
      for (std::size_t row = 0; row < kRows; ++row, dst += planes.stride)
        Type::store_8(dst, rows.of[row]);
      return;
    }
#pragma GCC unroll 16
    for (std::size_t row = 0; row < kRows; ++row)
      if (const auto channel = static_cast<std::int64_t>(row); channel < planes.channels)
        Type::store_8(dst + channel * planes.stride, rows.of[row]);
  }

  /// Row p of the pixels has the even channels of pixel p, row 8 + p the odd ones.
  static void write(const Planes& planes, const std::byte* src, std::byte* to,
                    const Places& places) noexcept {
    const auto rows = zip(zip(zip(load<kChannels>(planes, src))));
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kPixels; ++p) {
      const uint8x16_t even = vreinterpretq_u8_u16(rows.of[p]);
      const uint8x16_t odd = vreinterpretq_u8_u16(rows.of[p + kPixels]);
      std::byte* pixel = to + places.at(p);
      vst1q_u8(bytes_at(pixel), vtrn1q_u8(even, odd));
      vst1q_u8(bytes_at(pixel + places.plane_bytes), vtrn2q_u8(even, odd));
    }
  }
  static void read(const Planes& planes, const std::byte* from, const Places& places,
                   std::byte* dst) noexcept {
    Rows<uint16x8_t, kChannels> rows;
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kPixels; ++p) {
      const std::byte* pixel = from + places.at(p);
      const uint8x16_t low = vld1q_u8(bytes_at(pixel));
      const uint8x16_t high = vld1q_u8(bytes_at(pixel + places.plane_bytes));
      rows.of[p] = vreinterpretq_u16_u8(vtrn1q_u8(low, high));
      rows.of[p + kPixels] = vreinterpretq_u16_u8(vtrn2q_u8(low, high));
    }
    store(planes, dst, unzip(unzip(unzip(rows))));
  }

  /// Up to four channels: a row has two pixels of them.
  template <class At>
  [[gnu::always_inline]] static inline void write_few(const Planes& planes, const std::byte* src,
                                                      std::byte* to, const At& places) noexcept {
    alignas(16) static constexpr std::uint8_t kFirstLow[16] = {
        0,     2,     4,     6,     kNone, kNone, kNone, kNone,
        kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
    const uint8x16_t first_low = vld1q_u8(kFirstLow);
    const uint8x16_t first_high = vorrq_u8(first_low, vdupq_n_u8(1));
    const uint8x16_t second_low = vorrq_u8(first_low, vdupq_n_u8(8));
    const uint8x16_t second_high = vorrq_u8(first_low, vdupq_n_u8(9));
    const auto rows = zip(zip(load<kFew>(planes, src)));
#pragma GCC unroll 4
    for (std::size_t pair = 0; pair < kPixels / 2; ++pair) {
      const uint8x16_t both = vreinterpretq_u8_u16(rows.of[pair]);
      std::byte* first = to + places.at(2 * pair);
      std::byte* second = to + places.at(2 * pair + 1);
      vst1q_u8(bytes_at(first), vqtbl1q_u8(both, first_low));
      vst1q_u8(bytes_at(first + places.plane_bytes), vqtbl1q_u8(both, first_high));
      vst1q_u8(bytes_at(second), vqtbl1q_u8(both, second_low));
      vst1q_u8(bytes_at(second + places.plane_bytes), vqtbl1q_u8(both, second_high));
    }
  }
  template <class At>
  [[gnu::always_inline]] static inline void read_few(const Planes& planes, const std::byte* from,
                                                     const At& places, std::byte* dst) noexcept {
    Rows<uint16x8_t, kPixels> rows;
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kPixels; ++p) {
      const std::byte* pixel = from + places.at(p);
      rows.of[p] = vreinterpretq_u16_u8(
          vzip1q_u8(vld1q_u8(bytes_at(pixel)), vld1q_u8(bytes_at(pixel + places.plane_bytes))));
    }
    store(planes, dst, zip(zip(zip_lower(rows))));
  }
};

/// INT8. On the linear side row r has the channels 2 r and 2 r + 1.
struct Narrow {
  static constexpr std::int64_t kBytes = 1;
  static constexpr std::int64_t kPlanes = 1;

  template <std::size_t kRows>
  [[gnu::always_inline]] static inline Rows<uint8x16_t, kRows> load(const Planes& planes,
                                                                    const std::byte* src) noexcept {
    if (planes.channels == static_cast<std::int64_t>(2 * kRows)) {
      Rows<uint8x16_t, kRows> rows;
#pragma GCC unroll 8
      for (std::size_t row = 0; row < kRows; ++row, src += 2 * planes.stride)
        rows.of[row] = vcombine_u8(vld1_u8(bytes_at(src)), vld1_u8(bytes_at(src + planes.stride)));
      return rows;
    }
    const uint8x8_t fill = vdup_n_u8(planes.fill);
    const auto channel = [&](std::int64_t number) {
      return number < planes.channels ? vld1_u8(bytes_at(src + number * planes.stride)) : fill;
    };
    Rows<uint8x16_t, kRows> rows;
#pragma GCC unroll 8
    for (std::size_t row = 0; row < kRows; ++row) {
      const auto first = static_cast<std::int64_t>(2 * row);
      rows.of[row] = vcombine_u8(channel(first), channel(first + 1));
    }
    return rows;
  }
  template <std::size_t kRows>
  [[gnu::always_inline]] static inline void store(const Planes& planes, std::byte* dst,
                                                  const Rows<uint8x16_t, kRows>& rows) noexcept {
    if (planes.channels == static_cast<std::int64_t>(2 * kRows)) {
#pragma GCC unroll 8
      for (std::size_t row = 0; row < kRows; ++row, dst += 2 * planes.stride) {
        vst1_u8(bytes_at(dst), vget_low_u8(rows.of[row]));
        vst1_u8(bytes_at(dst + planes.stride), vget_high_u8(rows.of[row]));
      }
      return;
    }
#pragma GCC unroll 8
    for (std::size_t row = 0; row < kRows; ++row) {
      const auto first = static_cast<std::int64_t>(2 * row);
      if (first < planes.channels)
        vst1_u8(bytes_at(dst + first * planes.stride), vget_low_u8(rows.of[row]));
      if (first + 1 < planes.channels)
        vst1_u8(bytes_at(dst + (first + 1) * planes.stride), vget_high_u8(rows.of[row]));
    }
  }

  static void write(const Planes& planes, const std::byte* src, std::byte* to,
                    const Places& places) noexcept {
    const auto rows = zip(zip(zip(zip(load<kChannels / 2>(planes, src)))));
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kPixels; ++p)
      vst1q_u8(bytes_at(to + places.at(p)), rows.of[p]);
  }
  static void read(const Planes& planes, const std::byte* from, const Places& places,
                   std::byte* dst) noexcept {
    Rows<uint8x16_t, kPixels> rows;
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kPixels; ++p)
      rows.of[p] = vld1q_u8(bytes_at(from + places.at(p)));
    store(planes, dst, unzip(unzip(unzip(unzip(rows)))));
  }

  /// Up to four channels: a row has four pixels of them.
  template <class At>
  [[gnu::always_inline]] static inline void write_few(const Planes& planes, const std::byte* src,
                                                      std::byte* to, const At& places) noexcept {
    alignas(16) static constexpr std::uint8_t kFirst[16] = {
        0,     1,     2,     3,     kNone, kNone, kNone, kNone,
        kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
    const uint8x16_t first = vld1q_u8(kFirst);
    const uint8x16_t fill = vdupq_n_u8(planes.fill);
    const auto rows = zip(zip(load<kFew / 2>(planes, src)));
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kPixels; ++p) {
      const auto lane = static_cast<std::uint8_t>(p % 4 * 4);
      vst1q_u8(bytes_at(to + places.at(p)),
               vqtbx1q_u8(fill, rows.of[p / 4], vorrq_u8(first, vdupq_n_u8(lane))));
    }
  }
  template <class At>
  [[gnu::always_inline]] static inline void read_few(const Planes& planes, const std::byte* from,
                                                     const At& places, std::byte* dst) noexcept {
    Rows<uint8x16_t, kPixels> rows;
#pragma GCC unroll 8
    for (std::size_t p = 0; p < kPixels; ++p)
      rows.of[p] = vld1q_u8(bytes_at(from + places.at(p)));
    store(planes, dst, zip(zip_lower(zip_lower(rows))));
  }
};

/// The pixels of a panel from one on. On the linear side segments follow each other.
class Walk {
public:
  Walk(const TilePanel& panel, std::int64_t pixel) noexcept
      : pixel_bytes_(panel.row.stored_channels * panel.planes), pixels_(panel.row.pixels),
        left_(pixels_ - pixel % pixels_), gap_(panel.segment_tile_bytes - pixels_ * pixel_bytes_),
        at_(pixel / pixels_ * panel.segment_tile_bytes + pixel % pixels_ * pixel_bytes_) {}
  /// The places of the next `count` pixels.
  void take(std::int64_t* at, std::int64_t count) noexcept {
    if (left_ >= count) {
      for (std::int64_t p = 0; p < count; ++p, at_ += pixel_bytes_)
        at[p] = at_;
      skip(count);
      return;
    }
    for (std::int64_t p = 0; p < count; ++p) {
      at[p] = at_;
      at_ += pixel_bytes_;
      skip(1);
    }
  }

private:
  void skip(std::int64_t count) noexcept {
    left_ -= count;
    if (left_ == 0) {
      at_ += gap_;
      left_ = pixels_;
    }
  }

  std::int64_t pixel_bytes_;
  std::int64_t pixels_; ///< of a segment
  std::int64_t left_;
  std::int64_t gap_; ///< from the end of a segment to the next
  std::int64_t at_;
};

/// Calls `visit(planes, linear offset, tile offset)` for every sixteen channels.
template <class Visit>
[[gnu::always_inline]] inline void for_each_planes(const TilePanel& panel, Visit visit) noexcept {
  for_each_sixteen(panel, [&](std::int64_t channels, std::int64_t linear, std::int64_t tile) {
    visit(Planes{panel.row.channel_stride_bytes, channels, panel.row.fill}, linear, tile);
  });
}

/// Calls `visit(places, first pixel)` for each eight pixels; the last ones overlap those before. The
/// panel has eight.
template <class Visit>
[[gnu::always_inline]] inline void for_each_block(const TilePanel& panel, Visit visit) noexcept {
  const std::int64_t pixels = panel.segments * panel.row.pixels;
  Places places;
  places.plane_bytes = panel.row.stored_channels;
  Walk walk(panel, 0);
  for (std::int64_t pixel = 0; pixel < pixels; pixel += kPixels) {
    if (pixels - pixel < kPixels) {
      pixel = pixels - kPixels;
      walk = Walk(panel, pixel);
    }
    walk.take(places.of, kPixels);
    visit(places, pixel);
  }
}

/// Fewer than eight pixels of up to sixteen channels, which are copied to have eight: the others are the
/// first one again, at its place.
struct Staged {
  static constexpr std::int64_t kStride = kPixels * 4;

  Staged(const TilePanel& panel, std::int64_t pixels) noexcept {
    places.plane_bytes = panel.row.stored_channels;
    Walk(panel, 0).take(places.of, pixels);
    std::fill(places.of + pixels, places.of + kPixels, places.of[0]);
  }

  alignas(16) std::byte linear[kChannels * kStride] = {};
  Places places;
};

template <class Type>
[[gnu::noinline]] void write_block(const Planes& planes, const std::byte* src, std::byte* to,
                                   const Places& places) noexcept {
  if (planes.channels <= kFew)
    Type::write_few(planes, src, to, places);
  else
    Type::write(planes, src, to, places);
}

template <class Type>
[[gnu::noinline]] void read_block(const Planes& planes, const std::byte* from, const Places& places,
                                  std::byte* dst) noexcept {
  if (planes.channels <= kFew)
    Type::read_few(planes, from, places, dst);
  else
    Type::read(planes, from, places, dst);
}

/// Whether each segment has a block of its own, of up to four channels in sixteen stored ones: then all
/// distances are constant.
[[nodiscard]] bool has_few_channels(const TilePanel& panel) noexcept {
  return panel.runs == 1 && panel.last_channels <= kFew && panel.row.pixels >= kPixels &&
         panel.row.stored_channels == kChannels;
}

/// Calls `visit(linear offset, tile offset)` for each block; the last of a segment overlaps.
template <class Type, class Visit>
[[gnu::always_inline]] inline void for_each_few(const TilePanel& panel, Visit visit) noexcept {
  const std::int64_t last = panel.row.pixels - kPixels;
  for (std::int64_t segment = 0; segment < panel.segments; ++segment)
    for (std::int64_t pixel = 0; pixel < panel.row.pixels; pixel += kPixels) {
      const std::int64_t first = std::min(pixel, last);
      visit(segment * panel.segment_linear_bytes + first * Type::kBytes,
            segment * panel.segment_tile_bytes + first * Type::kPlanes * kChannels);
    }
}

template <class Type, std::int64_t kCount>
void write_few_channels(const TilePanel& panel) noexcept {
  const TileRow row = panel.row;
  for_each_few<Type>(panel, [&](std::int64_t linear, std::int64_t tile) {
    Type::write_few(Planes{row.channel_stride_bytes, kCount, row.fill}, row.src + linear,
                    row.dst + tile, Neighbours<Type::kPlanes>{});
  });
}

template <class Type, std::int64_t kCount> void read_few_channels(const TilePanel& panel) noexcept {
  const TileRow row = panel.row;
  for_each_few<Type>(panel, [&](std::int64_t linear, std::int64_t tile) {
    Type::read_few(Planes{row.channel_stride_bytes, kCount, 0}, row.src + tile,
                   Neighbours<Type::kPlanes>{}, row.dst + linear);
  });
}

template <class Type>
constexpr TilePanelFn kWriteFew[] = {write_few_channels<Type, 1>, write_few_channels<Type, 2>,
                                     write_few_channels<Type, 3>, write_few_channels<Type, 4>};
template <class Type>
constexpr TilePanelFn kReadFew[] = {read_few_channels<Type, 1>, read_few_channels<Type, 2>,
                                    read_few_channels<Type, 3>, read_few_channels<Type, 4>};

template <class Type>
[[gnu::noinline]] void write_few_pixels(const TilePanel& panel, std::int64_t pixels) noexcept {
  Staged staged(panel, pixels);
  for_each_planes(panel, [&](Planes planes, std::int64_t linear, std::int64_t stored) {
    for (std::int64_t channel = 0; channel < planes.channels; ++channel) {
      std::byte* to = staged.linear + channel * Staged::kStride;
      std::memcpy(to, panel.row.src + linear + channel * planes.stride,
                  static_cast<std::size_t>(pixels * Type::kBytes));
      for (std::int64_t p = pixels; p < kPixels; ++p)
        std::memcpy(to + p * Type::kBytes, to, static_cast<std::size_t>(Type::kBytes));
    }
    planes.stride = Staged::kStride;
    write_block<Type>(planes, staged.linear, panel.row.dst + stored, staged.places);
  });
}

template <class Type>
[[gnu::noinline]] void read_few_pixels(const TilePanel& panel, std::int64_t pixels) noexcept {
  Staged staged(panel, pixels);
  for_each_planes(panel, [&](Planes planes, std::int64_t linear, std::int64_t stored) {
    const std::int64_t stride = planes.stride;
    planes.stride = Staged::kStride;
    read_block<Type>(planes, panel.row.src + stored, staged.places, staged.linear);
    std::byte* dst = panel.row.dst + linear;
    for (std::int64_t channel = 0; channel < planes.channels; ++channel)
      std::memcpy(dst + channel * stride, staged.linear + channel * Staged::kStride,
                  static_cast<std::size_t>(pixels * Type::kBytes));
  });
}

template <class Type> void write_planes(const TilePanel& panel) noexcept {
  if (has_few_channels(panel))
    return kWriteFew<Type>[panel.last_channels - 1](panel);
  const std::int64_t pixels = panel.segments * panel.row.pixels;
  if (pixels < kPixels)
    return write_few_pixels<Type>(panel, pixels);
  for_each_block(panel, [&](const Places& places, std::int64_t pixel) {
    for_each_planes(panel, [&](const Planes& planes, std::int64_t linear, std::int64_t stored) {
      write_block<Type>(planes, panel.row.src + pixel * Type::kBytes + linear,
                        panel.row.dst + stored, places);
    });
  });
}

template <class Type> void read_planes(const TilePanel& panel) noexcept {
  if (has_few_channels(panel))
    return kReadFew<Type>[panel.last_channels - 1](panel);
  const std::int64_t pixels = panel.segments * panel.row.pixels;
  if (pixels < kPixels)
    return read_few_pixels<Type>(panel, pixels);
  for_each_block(panel, [&](const Places& places, std::int64_t pixel) {
    for_each_planes(panel, [&](const Planes& planes, std::int64_t linear, std::int64_t stored) {
      read_block<Type>(planes, panel.row.src + stored, places,
                       panel.row.dst + pixel * Type::kBytes + linear);
    });
  });
}

} // namespace

void f32_bf16_planar_panel__neon(const TilePanel& panel) noexcept {
  write_planes<Wide<F32>>(panel);
}
void f16_bf16_planar_panel__neon(const TilePanel& panel) noexcept {
  write_planes<Wide<F16>>(panel);
}
void bf16_bf16_planar_panel__neon(const TilePanel& panel) noexcept {
  write_planes<Wide<BF16>>(panel);
}
void i8_i8_planar_panel__neon(const TilePanel& panel) noexcept { write_planes<Narrow>(panel); }
void bf16_f32_unplanar_panel__neon(const TilePanel& panel) noexcept {
  read_planes<Wide<F32>>(panel);
}
void bf16_bf16_unplanar_panel__neon(const TilePanel& panel) noexcept {
  read_planes<Wide<BF16>>(panel);
}
void i8_i8_unplanar_panel__neon(const TilePanel& panel) noexcept { read_planes<Narrow>(panel); }

} // namespace simaai::kernels::a65::detail
