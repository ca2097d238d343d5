// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensor caps: hand-written goldens both ways, and each refusal by name.
#include <gtest/gtest.h>

#include "common/caps_spec.h"
#include "common/gst_ptr.h"
#include "common/linear_size.h"

namespace {

using namespace simaai::kernels;
using simaai::gst::CapsError;
using simaai::gst::GstPtr;
using simaai::gst::TensorInfo;

struct Golden {
  const char* name;
  const char* caps;
  TensorSpec spec;
};

const Golden kGoldens[] = {
    {"Contiguous",
     "application/vnd.simaai.tensor, dtype=(string)float32, shape=(int)< 1, 640, 640, 3 >, "
     "layout=(string)contiguous",
     {{1, 640, 640, 3}, DType::Float32, Contiguous{}}},
    {"RankZero",
     "application/vnd.simaai.tensor, dtype=(string)bfloat16, shape=(int)<  >, "
     "layout=(string)contiguous",
     {{}, DType::BFloat16, Contiguous{}}},
    {"Empty",
     "application/vnd.simaai.tensor, dtype=(string)uint8, shape=(int)< 4, 0 >, "
     "layout=(string)contiguous",
     {{4, 0}, DType::UInt8, Contiguous{}}},
    {"Strided",
     "application/vnd.simaai.tensor, dtype=(string)float16, shape=(int)< 2, 3 >, "
     "layout=(string)strided, strides=(gint64)< 32, 8 >",
     {{2, 3}, DType::Float16, Strided{{32, 8}}}},
    {"StridedBeyondInt",
     "application/vnd.simaai.tensor, dtype=(string)int32, shape=(int)< 2, 3 >, "
     "layout=(string)strided, strides=(gint64)< 8589934592, 4 >",
     {{2, 3}, DType::Int32, Strided{{8589934592, 4}}}},
    {"Tiled",
     "application/vnd.simaai.tensor, dtype=(string)int8, shape=(int)< 2, 17 >, "
     "layout=(string)mla-tiled, tile-axes=(int)< -1, -1, 0, 1 >, tile-shape=(int)< 1, 1, 2, 16 >, "
     "channel-storage=(string)compact",
     {{2, 17}, DType::Int8, MlaTiled{{-1, -1, 0, 1}, {1, 1, 2, 16}, ChannelStorage::Compact}}},
    {"TiledPad16",
     "application/vnd.simaai.tensor, dtype=(string)bfloat16, shape=(int)< 17 >, "
     "layout=(string)mla-tiled, tile-axes=(int)< -1, -1, -1, 0 >, tile-shape=(int)< 1, 1, 1, 16 >, "
     "channel-storage=(string)pad16",
     {{17}, DType::BFloat16, MlaTiled{{-1, -1, -1, 0}, {1, 1, 1, 16}, ChannelStorage::PadTo16}}},
    {"CBlocked",
     "application/vnd.simaai.tensor, dtype=(string)bfloat16, shape=(int)< 1, 80, 80, 64 >, "
     "layout=(string)mla-cblocked, tile-shape=(int)< 1, 16, 16, 16 >",
     {{1, 80, 80, 64}, DType::BFloat16, MlaCBlocked{{1, 16, 16, 16}}}},
};

class CapsGolden : public testing::TestWithParam<Golden> {};

TEST_P(CapsGolden, ReadsTheText) {
  const GstPtr<GstCaps> caps(gst_caps_from_string(GetParam().caps));
  ASSERT_NE(caps, nullptr);
  const auto parsed = simaai::gst::parse_tensor(*caps);
  const auto* info = std::get_if<TensorInfo>(&parsed);
  ASSERT_NE(info, nullptr) << std::get<CapsError>(parsed).reason;
  EXPECT_EQ(info->spec, GetParam().spec);
}

TEST_P(CapsGolden, WritesTheText) {
  TensorInfo info;
  info.spec = GetParam().spec;
  const GstPtr<GstCaps> caps(simaai::gst::to_caps(info));
  const simaai::gst::GTextPtr text(gst_caps_to_string(caps.get()));
  EXPECT_STREQ(text.get(), GetParam().caps);
}

INSTANTIATE_TEST_SUITE_P(CapsSpec, CapsGolden, testing::ValuesIn(kGoldens),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CapsSpec, ReadsStridesWrittenAsInt) {
  const GstPtr<GstCaps> caps(gst_caps_from_string(
      "application/vnd.simaai.tensor,dtype=float32,shape=<2,3>,layout=strided,strides=<32,8>"));
  const auto parsed = simaai::gst::parse_tensor(*caps);
  EXPECT_EQ(std::get<TensorInfo>(parsed).spec.layout, Layout(Strided{{32, 8}}));
}

TEST(CapsSpec, SingletonStridesAreWrittenRowMajor) {
  TensorInfo info;
  info.spec = {{1, 2, 1, 3}, DType::Float32, Strided{{0, 64, 7, 4}}};
  const GstPtr<GstCaps> caps(simaai::gst::to_caps(info));
  const auto parsed = simaai::gst::parse_tensor(*caps);
  EXPECT_EQ(std::get<TensorInfo>(parsed).spec.layout, Layout(Strided{{24, 64, 12, 4}}));
}

TEST(CapsSpec, OptionalFieldsSurvive) {
  const char* text =
      "application/vnd.simaai.tensor, dtype=(string)int8, shape=(int)< 2 >, "
      "layout=(string)contiguous, quant-scale=(double)0.5, quant-zero-point=(int)-7, "
      "tensor-id=(string)head, framerate=(fraction)30000/1001, video-format=(string)RGB, "
      "pixel-aspect-ratio=(fraction)4/3, colorimetry=(string)bt709";
  const GstPtr<GstCaps> caps(gst_caps_from_string(text));
  const auto parsed = simaai::gst::parse_tensor(*caps);
  const auto& info = std::get<TensorInfo>(parsed);
  EXPECT_EQ(info.quant_scale, 0.5);
  EXPECT_EQ(info.quant_zero_point, -7);
  EXPECT_EQ(info.tensor_id, "head");
  EXPECT_EQ(info.framerate, std::pair(30000, 1001));
  EXPECT_EQ(info.video_format, "RGB");
  EXPECT_EQ(info.pixel_aspect_ratio, std::pair(4, 3));
  EXPECT_EQ(info.colorimetry, "bt709");
  const GstPtr<GstCaps> again(simaai::gst::to_caps(info));
  EXPECT_TRUE(gst_caps_is_equal(caps.get(), again.get()));
}

struct Refusal {
  const char* name;
  const char* fields;
  std::vector<const char*> mentions;
};

const Refusal kRefusals[] = {
    {"NoDtype", "shape=<2>,layout=contiguous", {"'dtype'", "missing", "bfloat16"}},
    {"UnknownDtype", "dtype=float64,shape=<2>,layout=contiguous", {"'dtype'", "'float64'"}},
    {"DtypeNoString", "dtype=(int)5,shape=<2>,layout=contiguous", {"'dtype'", "gint"}},
    {"NoShape", "dtype=int8,layout=contiguous", {"'shape'", "missing"}},
    {"ShapeNoArray", "dtype=int8,shape=(int)5,layout=contiguous", {"'shape'", "5", "array"}},
    {"ShapeOfDoubles", "dtype=int8,shape=<2.0,3.0>,layout=contiguous", {"'shape'", "entry 0"}},
    {"ShapeOfStrings", "dtype=int8,shape=<a,b>,layout=contiguous", {"'shape'", "gchararray"}},
    {"ShapeTooLong",
     "dtype=int8,shape=<1,1,1,1,1,1,1>,layout=contiguous",
     {"'shape'", "7 entries", "at most 6"}},
    {"ExtentBeyondInt",
     "dtype=int8,shape=(gint64)<2147483648>,layout=contiguous",
     {"'shape'", "entry 0", "2147483648", "2147483647"}},
    {"ExtentNegative",
     "dtype=int8,shape=<2,-3>,layout=contiguous",
     {"'shape'", "entry 1", "-3", "expected 0"}},
    {"NoLayout", "dtype=int8,shape=<2>", {"'layout'", "missing"}},
    {"UnknownLayout", "dtype=int8,shape=<2>,layout=tiled", {"'layout'", "'tiled'", "mla-tiled"}},
    {"NoStrides", "dtype=int8,shape=<2>,layout=strided", {"'strides'", "missing"}},
    {"StridesCount",
     "dtype=int8,shape=<2,3>,layout=strided,strides=(gint64)<1>",
     {"'strides'", "1 entries", "expected 2"}},
    {"StridesDoubles",
     "dtype=int8,shape=<2>,layout=strided,strides=(double)<1.5>",
     {"'strides'", "entry 0", "1.5", "(gint64)"}},
    {"NoTileAxes",
     "dtype=int8,shape=<2>,layout=mla-tiled,tile-shape=<1,1,1,2>,channel-storage=compact",
     {"'tile-axes'", "missing"}},
    {"TileAxesCount",
     "dtype=int8,shape=<2>,layout=mla-tiled,tile-axes=<0>,tile-shape=<1,1,1,2>,"
     "channel-storage=compact",
     {"'tile-axes'", "1 entries", "expected 4", "D, H, W, C"}},
    {"TileShapeCount",
     "dtype=int8,shape=<2>,layout=mla-tiled,tile-axes=<-1,-1,-1,0>,tile-shape=<1,1,1,2,2>,"
     "channel-storage=compact",
     {"'tile-shape'", "5 entries", "expected 4"}},
    {"NoStorage",
     "dtype=int8,shape=<2>,layout=mla-tiled,tile-axes=<-1,-1,-1,0>,tile-shape=<1,1,1,2>",
     {"'channel-storage'", "missing", "pad16"}},
    {"UnknownStorage",
     "dtype=int8,shape=<2>,layout=mla-tiled,tile-axes=<-1,-1,-1,0>,tile-shape=<1,1,1,2>,"
     "channel-storage=pad32",
     {"'channel-storage'", "'pad32'"}},
    {"NoBlockedTile", "dtype=int8,shape=<1,1,2>,layout=mla-cblocked", {"'tile-shape'", "missing"}},
    {"QuantScale",
     "dtype=int8,shape=<2>,layout=contiguous,quant-scale=(string)x",
     {"'quant-scale'", "double"}},
    {"QuantScaleZero",
     "dtype=int8,shape=<2>,layout=contiguous,quant-scale=0.0",
     {"'quant-scale' is 0;", "finite number above 0"}},
    {"QuantScaleNegative",
     "dtype=float32,shape=<2>,layout=contiguous,quant-scale=-0.5",
     {"'quant-scale' is -0.5;", "finite number above 0"}},
    {"QuantZeroPointRange",
     "dtype=int8,shape=<2>,layout=contiguous,quant-zero-point=-129",
     {"'quant-zero-point' is -129;", "-128 to 127"}},
    {"FramerateNegative",
     "dtype=int8,shape=<2>,layout=contiguous,framerate=-30/1",
     {"'framerate' is -30/1;", "0/1"}},
    {"QuantZeroPoint",
     "dtype=int8,shape=<2>,layout=contiguous,quant-zero-point=(double)0.5",
     {"'quant-zero-point'", "int"}},
    {"TensorId", "dtype=int8,shape=<2>,layout=contiguous,tensor-id=(int)5", {"'tensor-id'"}},
    {"Framerate",
     "dtype=int8,shape=<2>,layout=contiguous,framerate=(int)30",
     {"'framerate'", "fraction"}},
};

class CapsRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(CapsRefusal, NamesTheField) {
  const std::string text = std::string("application/vnd.simaai.tensor,") + GetParam().fields;
  const GstPtr<GstCaps> caps(gst_caps_from_string(text.c_str()));
  ASSERT_NE(caps, nullptr);
  const auto parsed = simaai::gst::parse_tensor(*caps);
  const auto* error = std::get_if<CapsError>(&parsed);
  ASSERT_NE(error, nullptr);
  for (const char* part : GetParam().mentions)
    EXPECT_NE(error->reason.find(part), std::string::npos) << part << " in: " << error->reason;
}

INSTANTIATE_TEST_SUITE_P(CapsSpec, CapsRefusal, testing::ValuesIn(kRefusals),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CapsSpec, OtherMediaTypesAreRefused) {
  const GstPtr<GstCaps> video(gst_caps_from_string("video/x-raw"));
  EXPECT_NE(std::get<CapsError>(simaai::gst::parse_tensor(*video)).reason.find("video/x-raw"),
            std::string::npos);
  const GstPtr<GstCaps> any(gst_caps_new_any());
  EXPECT_NE(std::get<CapsError>(simaai::gst::parse_tensor(*any)).reason.find("ANY"),
            std::string::npos);
}

TEST(LinearSize, SpanFollowsTheStrides) {
  using simaai::gst::linear_span_bytes;
  EXPECT_EQ(linear_span_bytes({{2, 3}, DType::Float32, Strided{{32, 8}}}), 52u);
  EXPECT_EQ(linear_span_bytes({{2, 3}, DType::Float32, Contiguous{}}), 24u);
  EXPECT_EQ(linear_span_bytes({{}, DType::Float16, Contiguous{}}), 2u);
  EXPECT_EQ(linear_span_bytes({{2, 0}, DType::Float32, Contiguous{}}), 0u);
  EXPECT_EQ(linear_span_bytes({{2, 3}, DType::Float32, MlaCBlocked{}}), std::nullopt);
  const std::int64_t huge = 2147483647;
  EXPECT_EQ(linear_span_bytes({{huge, huge, huge}, DType::Float32, Contiguous{}}), std::nullopt);
}

TEST(LinearSize, SingletonStridesDoNotMatter) {
  const TensorSpec a{{1, 2, 3}, DType::Float32, Strided{{7, 12, 4}}};
  const TensorSpec b{{1, 2, 3}, DType::Float32, Strided{{24, 12, 4}}};
  const TensorSpec pitched{{1, 2, 3}, DType::Float32, Strided{{24, 16, 4}}};
  EXPECT_TRUE(simaai::gst::equivalent(a, b));
  EXPECT_FALSE(simaai::gst::equivalent(a, pitched));
  EXPECT_TRUE(simaai::gst::is_dense(a));
  EXPECT_FALSE(simaai::gst::is_dense(pitched));
}

} // namespace
