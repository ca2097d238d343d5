// SPDX-License-Identifier: LGPL-2.1-or-later
// Sample arithmetic of the video elements against the reference.
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "gst-plugins/videobridge/pixel_codec.h"
#include "gst-plugins/videobridge/pixel_numerics.h"
#include "pixel_reference.h"

namespace {

using namespace simaai;
using kernels::DType;

constexpr std::array kDTypes{DType::UInt8, DType::Int8, DType::Float16, DType::BFloat16,
                             DType::Float32};

TEST(Numerics, Float16OfEachHalfAndItsNeighbourhood) {
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    const auto half = static_cast<std::uint16_t>(code);
    const double value = reference::code_value(half, 5, 10);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(gst::float16_value(half)));
      continue;
    }
    ASSERT_EQ(static_cast<double>(gst::float16_value(half)), value) << code;
    const auto bits = std::bit_cast<std::uint32_t>(gst::float16_value(half));
    // Exactly, just beside, half-way and just beside half-way to the next one.
    for (const std::uint32_t step : {0U, 1U, 0xfffU, 0x1000U, 0x1001U, 0x1fffU}) {
      const float near = std::bit_cast<float>(bits + step);
      if (std::isnan(near))
        continue;
      ASSERT_EQ(gst::float16_bits(near), reference::nearest_code(near, 5, 10)) << near;
    }
  }
}

TEST(Numerics, SixteenBitTypesOfRandomNumbers) {
  std::mt19937 random(20);
  for (int i = 0; i < 200000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isnan(value))
      continue;
    ASSERT_EQ(gst::float16_bits(value), reference::nearest_code(value, 5, 10)) << value;
    ASSERT_EQ(gst::bfloat16_bits(value), reference::nearest_code(value, 8, 7)) << value;
  }
}

TEST(Numerics, Float16GoldenValues) {
  EXPECT_EQ(gst::float16_bits(1.0F), 0x3c00);
  EXPECT_EQ(gst::float16_bits(-2.0F), 0xc000);
  EXPECT_EQ(gst::float16_bits(65504.0F), 0x7bff);
  EXPECT_EQ(gst::float16_bits(65519.996F), 0x7bff);
  EXPECT_EQ(gst::float16_bits(65520.0F), 0x7c00);
  EXPECT_EQ(gst::float16_bits(0x1p-24F), 0x0001);
  EXPECT_EQ(gst::float16_bits(0x1p-25F), 0x0000); // tie, to even
  EXPECT_EQ(gst::float16_bits(0x1.8p-24F), 0x0002);
  EXPECT_EQ(gst::float16_bits(-0.0F), 0x8000);
}

/// Parameters as pipelines use them, and random ones.
reference::Params params_of(int round, std::mt19937& random) {
  reference::Params params;
  if (round == 0)
    return params;
  if (round == 1) {
    params.mean = {123.675F, 116.28F, 103.53F, 0};
    params.scale = {1 / 58.395F, 1 / 57.12F, 1 / 57.375F, 1};
    params.quant_scale = 0.0186F;
    params.zero_point = 3;
    return params;
  }
  std::uniform_real_distribution<float> mean(-300, 300);
  std::uniform_real_distribution<float> exponent(-12, 12);
  for (std::size_t c = 0; c < 4; ++c) {
    params.mean[c] = mean(random);
    params.scale[c] = std::exp2(exponent(random)) * ((random() & 1U) != 0 ? 1.0F : -1.0F);
  }
  params.quant_scale = std::exp2(exponent(random));
  params.zero_point = static_cast<int>(random() % 256) - 128;
  return params;
}

gst::PixelParams production(const reference::Params& params) {
  return {params.mean, params.scale, params.quant_scale, params.zero_point};
}

/// One row of 256 pixels: every sample in every channel.
TEST(Encoder, EverySampleOfEveryDType) {
  std::mt19937 random(21);
  std::vector<std::uint8_t> samples(256 * 4);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::uint8_t>(i / 4 + 37 * (i % 4));
  gst::SourcePicture picture;
  picture.width = 256;
  picture.height = 1;
  picture.channels = 4;
  picture.pixel_bytes = 4;
  for (std::size_t c = 0; c < 4; ++c) {
    picture.channel[c] = samples.data() + c;
    picture.row_bytes[c] = 1024;
  }
  for (int round = 0; round < 60; ++round) {
    const reference::Params params = params_of(round, random);
    for (const DType dtype : kDTypes) {
      const std::size_t width = kernels::scalar_bytes(dtype);
      const auto pitch = static_cast<std::int64_t>(width);
      std::vector<std::byte> elements(samples.size() * width);
      gst::PixelEncoder(dtype, production(params))
          .encode(picture, elements.data(), {1024 * pitch, 4 * pitch, pitch});
      for (std::size_t i = 0; i < samples.size(); ++i) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, elements.data() + i * width, width);
        ASSERT_EQ(bits, reference::element_of(samples[i], dtype, i % 4, params))
            << "round " << round << " dtype " << static_cast<int>(dtype) << " element " << i;
      }
    }
  }
}

TEST(Decoder, EveryCodeOfEveryDTypeAndRandomFloats) {
  std::mt19937 random(22);
  constexpr std::size_t kCodes = 0x10000;
  for (int round = 0; round < 6; ++round) {
    const reference::Params params = params_of(round, random);
    for (const DType dtype : kDTypes) {
      const std::size_t width = kernels::scalar_bytes(dtype);
      std::vector<std::uint32_t> codes(kCodes);
      std::vector<std::byte> elements(kCodes * width);
      for (std::size_t i = 0; i < kCodes; ++i) {
        codes[i] = static_cast<std::uint32_t>(i);
        if (dtype == DType::Float32) // half of them near the samples, the others anything
          codes[i] =
              (i & 1U) != 0
                  ? std::bit_cast<std::uint32_t>(
                        (static_cast<float>(i % 2600) / 10 - 2 - params.mean[0]) * params.scale[0])
                  : static_cast<std::uint32_t>(random());
        if (width == 1)
          codes[i] &= 0xffU;
        std::memcpy(elements.data() + i * width, &codes[i], width);
      }
      std::vector<std::uint8_t> samples(kCodes);
      gst::TargetPicture picture;
      picture.width = kCodes;
      picture.height = 1;
      picture.channels = 1;
      picture.channel[0] = samples.data();
      picture.row_bytes[0] = kCodes;
      const auto pitch = static_cast<std::int64_t>(width);
      gst::PixelDecoder(dtype, production(params))
          .decode(elements.data(), {static_cast<std::int64_t>(kCodes) * pitch, pitch, pitch},
                  picture);
      for (std::size_t i = 0; i < kCodes; ++i)
        ASSERT_EQ(int{samples[i]}, int{reference::sample_of(codes[i], dtype, 0, params)})
            << "round " << round << " dtype " << static_cast<int>(dtype) << " bits " << codes[i];
    }
  }
}

} // namespace
