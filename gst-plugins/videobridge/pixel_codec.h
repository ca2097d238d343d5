// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures of 8-bit samples <-> tensor elements in one pass. Knows no GLib.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::gst {

inline constexpr std::size_t kMaxChannels = 4;

/// Samples of one picture: one base address and row pitch a channel, one pixel pitch for all of
/// them. Pitches are bytes; rows may run upwards. `filler` is the byte of a pixel that is no channel (the x of RGBx).
template <typename Byte> struct Picture {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::size_t channels = 0;
  std::array<Byte*, kMaxChannels> channel{};
  std::array<std::ptrdiff_t, kMaxChannels> row_bytes{};
  std::ptrdiff_t pixel_bytes = 1;
  Byte* filler = nullptr;
};

using SourcePicture = Picture<const std::uint8_t>;
using TargetPicture = Picture<std::uint8_t>;

/// Byte strides of the H, W and C axes of a linear tensor that holds one picture.
struct TensorPitches {
  std::int64_t h = 0;
  std::int64_t w = 0;
  std::int64_t c = 0;
  friend constexpr bool operator==(const TensorPitches&, const TensorPitches&) noexcept = default;
};

/// One mean and scale a channel, and the quantisation of int8. All finite, scales of the inverse
/// and quant_scale not zero.
struct PixelParams {
  std::array<float, kMaxChannels> mean{};
  std::array<float, kMaxChannels> scale{1.0F, 1.0F, 1.0F, 1.0F};
  float quant_scale = 1.0F;
  int quant_zero_point = -128;
};

/// Samples -> elements of one dtype: a sample has 256 values, so everything is a table. Immutable after
/// construction. Reentrant.
class PixelEncoder {
public:
  PixelEncoder() = default;
  /// `dtype` is uint8 (a copy, `params` unused), int8, float16, bfloat16 or float32.
  PixelEncoder(kernels::DType dtype, const PixelParams& params);

  /// Writes every logical element of `dst` and no gap. `dst` has the alignment of the dtype.
  void encode(const SourcePicture& src, std::byte* dst, const TensorPitches& pitches) const;

private:
  template <typename T>
  void encode_as(const SourcePicture&, std::byte*, const TensorPitches&) const;

  kernels::DType dtype_ = kernels::DType::UInt8;
  std::array<std::array<std::uint32_t, 256>, kMaxChannels> table_{};
};

/// Elements of one dtype -> samples. Immutable after construction. Reentrant.
class PixelDecoder {
public:
  PixelDecoder() = default;
  /// The same dtypes as PixelEncoder. uint8 is a copy, `params` unused.
  PixelDecoder(kernels::DType dtype, const PixelParams& params);

  /// Writes every sample of `dst`, and 255 into its filler. `src` needs no alignment.
  void decode(const std::byte* src, const TensorPitches& pitches, const TargetPicture& dst) const;

private:
  template <typename T>
  void decode_table(const std::byte*, const TensorPitches&, const TargetPicture&) const;
  void decode_float(const std::byte*, const TensorPitches&, const TargetPicture&) const;

  kernels::DType dtype_ = kernels::DType::UInt8;
  PixelParams params_;
  /// 256 or 65,536 samples a channel; empty for float32.
  std::array<std::vector<std::uint8_t>, kMaxChannels> table_;
};

/// Copies samples between pictures of equal size and channel count; rows that are dense on both sides go as a whole.
void copy_picture(const SourcePicture& src, const TargetPicture& dst);

} // namespace simaai::gst
