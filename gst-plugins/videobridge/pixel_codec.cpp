// SPDX-License-Identifier: LGPL-2.1-or-later
// Table look-up in both directions, arithmetic for float32 input only.
#include "pixel_codec.h"

#include <bit>
#include <cstring>

#include "pixel_numerics.h"

namespace simaai::gst {
namespace {

using kernels::DType;

std::uint32_t encoded(DType dtype, std::uint8_t x, std::size_t c, const PixelParams& params) {
  const float y = normalize(x, params.mean[c], params.scale[c]);
  switch (dtype) {
  case DType::Int8:
    return static_cast<std::uint8_t>(quantize(y, params.quant_scale, params.quant_zero_point));
  case DType::Float16:
    return float16_bits(y);
  case DType::BFloat16:
    return bfloat16_bits(y);
  case DType::Float32:
    return std::bit_cast<std::uint32_t>(y);
  case DType::UInt8:
  case DType::Int32:
    return x;
  }
  return x;
}

std::uint8_t decoded(DType dtype, std::uint32_t bits, std::size_t c, const PixelParams& params) {
  float y = 0;
  switch (dtype) {
  case DType::Int8:
    y = dequantize(static_cast<std::int8_t>(bits), params.quant_scale, params.quant_zero_point);
    break;
  case DType::Float16:
    y = float16_value(static_cast<std::uint16_t>(bits));
    break;
  case DType::BFloat16:
    y = bfloat16_value(static_cast<std::uint16_t>(bits));
    break;
  case DType::Float32:
    y = std::bit_cast<float>(bits);
    break;
  case DType::UInt8:
  case DType::Int32:
    return static_cast<std::uint8_t>(bits);
  }
  return restore(y, params.mean[c], params.scale[c]);
}

template <typename T> T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T> void store(std::byte* at, T value) { std::memcpy(at, &value, sizeof value); }

/// Interleaved channels in memory order, as in packed formats and in H, W, C tensors.
template <typename T, std::size_t Channels>
void encode_interleaved_row(const std::array<std::array<std::uint32_t, 256>, kMaxChannels>& table,
                            const std::uint8_t* src, std::ptrdiff_t pixel_bytes, std::int64_t width,
                            std::byte* dst) {
  for (std::int64_t w = 0; w < width; ++w, src += pixel_bytes)
    for (std::size_t c = 0; c < Channels; ++c, dst += sizeof(T))
      store(dst, static_cast<T>(table[c][src[c]]));
}

template <typename T>
void encode_channel_row(const std::array<std::uint32_t, 256>& table, const std::uint8_t* src,
                        std::ptrdiff_t pixel_bytes, std::int64_t width, std::byte* dst,
                        std::int64_t dst_pixel_bytes) {
  for (std::int64_t w = 0; w < width; ++w, src += pixel_bytes, dst += dst_pixel_bytes)
    store(dst, static_cast<T>(table[*src]));
}

template <typename Byte> bool channels_adjoin(const Picture<Byte>& picture) {
  for (std::size_t c = 1; c < picture.channels; ++c)
    if (picture.channel[c] != picture.channel[0] + c ||
        picture.row_bytes[c] != picture.row_bytes[0])
      return false;
  return true;
}

void fill_rows(const TargetPicture& dst) {
  if (dst.filler == nullptr)
    return;
  for (std::int64_t h = 0; h < dst.height; ++h) {
    std::uint8_t* at = dst.filler + h * dst.row_bytes[0];
    for (std::int64_t w = 0; w < dst.width; ++w, at += dst.pixel_bytes)
      *at = 255;
  }
}

} // namespace

PixelEncoder::PixelEncoder(DType dtype, const PixelParams& params) : dtype_(dtype) {
  for (std::size_t c = 0; c < kMaxChannels; ++c)
    for (std::size_t x = 0; x < 256; ++x)
      table_[c][x] = encoded(dtype, static_cast<std::uint8_t>(x), c, params);
}

template <typename T>
void PixelEncoder::encode_as(const SourcePicture& src, std::byte* dst,
                             const TensorPitches& pitches) const {
  const auto width = static_cast<std::int64_t>(sizeof(T));
  const bool interleaved = channels_adjoin(src) && (pitches.c == width || src.channels == 1) &&
                           pitches.w == width * static_cast<std::int64_t>(src.channels);
  for (std::int64_t h = 0; h < src.height; ++h, dst += pitches.h) {
    const std::uint8_t* row = src.channel[0] + h * src.row_bytes[0];
    if (interleaved && src.channels == 3) {
      encode_interleaved_row<T, 3>(table_, row, src.pixel_bytes, src.width, dst);
    } else if (interleaved && src.channels == 4) {
      encode_interleaved_row<T, 4>(table_, row, src.pixel_bytes, src.width, dst);
    } else {
      for (std::size_t c = 0; c < src.channels; ++c)
        encode_channel_row<T>(table_[c], src.channel[c] + h * src.row_bytes[c], src.pixel_bytes,
                              src.width, dst + static_cast<std::int64_t>(c) * pitches.c, pitches.w);
    }
  }
}

void PixelEncoder::encode(const SourcePicture& src, std::byte* dst,
                          const TensorPitches& pitches) const {
  switch (dtype_) {
  case DType::Int8:
  case DType::UInt8:
    return encode_as<std::uint8_t>(src, dst, pitches);
  case DType::Float16:
  case DType::BFloat16:
    return encode_as<std::uint16_t>(src, dst, pitches);
  case DType::Int32:
  case DType::Float32:
    return encode_as<std::uint32_t>(src, dst, pitches);
  }
}

PixelDecoder::PixelDecoder(DType dtype, const PixelParams& params)
    : dtype_(dtype), params_(params) {
  if (dtype == DType::Float32)
    return;
  const std::size_t codes = std::size_t{1} << (8 * kernels::scalar_bytes(dtype));
  for (std::size_t c = 0; c < kMaxChannels; ++c) {
    table_[c].resize(codes);
    for (std::size_t code = 0; code < codes; ++code)
      table_[c][code] = decoded(dtype, static_cast<std::uint32_t>(code), c, params);
  }
}

template <typename T>
void PixelDecoder::decode_table(const std::byte* src, const TensorPitches& pitches,
                                const TargetPicture& dst) const {
  for (std::int64_t h = 0; h < dst.height; ++h)
    for (std::size_t c = 0; c < dst.channels; ++c) {
      const std::byte* from = src + h * pitches.h + static_cast<std::int64_t>(c) * pitches.c;
      std::uint8_t* to = dst.channel[c] + h * dst.row_bytes[c];
      const std::uint8_t* table = table_[c].data();
      for (std::int64_t w = 0; w < dst.width; ++w, from += pitches.w, to += dst.pixel_bytes)
        *to = table[load<T>(from)];
    }
}

void PixelDecoder::decode_float(const std::byte* src, const TensorPitches& pitches,
                                const TargetPicture& dst) const {
  for (std::int64_t h = 0; h < dst.height; ++h)
    for (std::size_t c = 0; c < dst.channels; ++c) {
      const std::byte* from = src + h * pitches.h + static_cast<std::int64_t>(c) * pitches.c;
      std::uint8_t* to = dst.channel[c] + h * dst.row_bytes[c];
      const float mean = params_.mean[c];
      const float scale = params_.scale[c];
      for (std::int64_t w = 0; w < dst.width; ++w, from += pitches.w, to += dst.pixel_bytes)
        *to = restore(load<float>(from), mean, scale);
    }
}

void PixelDecoder::decode(const std::byte* src, const TensorPitches& pitches,
                          const TargetPicture& dst) const {
  switch (dtype_) {
  case DType::Int8:
  case DType::UInt8:
    decode_table<std::uint8_t>(src, pitches, dst);
    break;
  case DType::Float16:
  case DType::BFloat16:
    decode_table<std::uint16_t>(src, pitches, dst);
    break;
  case DType::Float32:
    decode_float(src, pitches, dst);
    break;
  case DType::Int32: // the callers admit no such tensor
    return;
  }
  fill_rows(dst);
}

void copy_picture(const SourcePicture& src, const TargetPicture& dst) {
  const bool whole_rows = src.pixel_bytes == dst.pixel_bytes && channels_adjoin(src) &&
                          channels_adjoin(dst) && dst.filler == nullptr;
  // The byte after the last channel of a row belongs to nobody: a row ends with its last channel.
  const auto row_bytes = static_cast<std::size_t>((src.width - 1) * src.pixel_bytes) + src.channels;
  for (std::int64_t h = 0; h < src.height; ++h) {
    if (whole_rows) {
      std::memcpy(dst.channel[0] + h * dst.row_bytes[0], src.channel[0] + h * src.row_bytes[0],
                  row_bytes);
      continue;
    }
    for (std::size_t c = 0; c < src.channels; ++c) {
      const std::uint8_t* from = src.channel[c] + h * src.row_bytes[c];
      std::uint8_t* to = dst.channel[c] + h * dst.row_bytes[c];
      if (src.pixel_bytes == 1 && dst.pixel_bytes == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(src.width));
        continue;
      }
      for (std::int64_t w = 0; w < src.width; ++w, from += src.pixel_bytes, to += dst.pixel_bytes)
        *to = *from;
    }
  }
  fill_rows(dst);
}

} // namespace simaai::gst
