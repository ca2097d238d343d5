// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaivideototensor: values of every form, view or not, against the reference.
#include <gtest/gtest.h>

#include "frames.h"
#include "harness.h"
#include "pixel_reference.h"

namespace {

using namespace simaai;
using namespace simaai::test;

struct Mapped {
  explicit Mapped(GstBuffer* from) : buffer(from) {
    EXPECT_TRUE(gst_buffer_map(buffer, &info, GST_MAP_READ));
  }
  ~Mapped() { gst_buffer_unmap(buffer, &info); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  GstBuffer* buffer;
  GstMapInfo info{};
};

void expect_tensor_of(const Frame& frame, const TensorCaps& caps, GstBuffer* tensor, bool hwc,
                      const reference::Params& params) {
  const std::vector<int> shape =
      hwc ? std::vector{1, frame.height, frame.width, frame.format->channels}
          : std::vector{1, frame.format->channels, frame.height, frame.width};
  ASSERT_EQ(caps.shape, shape);
  const Mapped map(tensor);
  std::int64_t last = static_cast<std::int64_t>(caps.width);
  for (std::size_t axis = 0; axis < 4; ++axis)
    last += (shape[axis] - 1) * caps.strides[axis];
  ASSERT_GE(static_cast<std::int64_t>(map.info.size), last);
  for (int h = 0; h < frame.height; ++h)
    for (int w = 0; w < frame.width; ++w)
      for (int c = 0; c < frame.format->channels; ++c)
        ASSERT_EQ(element(caps, map.info.data, hwc, h, w, c),
                  reference::element_of(frame.sample(h, w, c), caps.type,
                                        static_cast<std::size_t>(c), params))
            << frame.format->name << " " << caps.dtype << " at " << h << "," << w << "," << c;
}

class EveryForm : public ::testing::TestWithParam<std::tuple<Format, const char*>> {};

TEST_P(EveryForm, WidthsPitchesAndAxisOrders) {
  const auto& [format, dtype] = GetParam();
  std::mt19937 random(30);
  for (const int width : {641, 642, 643, 644})
    for (const int extra : {0, 4, 52})
      for (const bool hwc : {true, false}) {
        SCOPED_TRACE(std::to_string(width) + " extra " + std::to_string(extra) +
                     (hwc ? " hwc" : " chw"));
        const Frame frame = make_frame(format, width, 5, extra, 0, random);
        ElementHarness harness("simaaivideototensor", {{"axis-order", hwc ? "hwc" : "chw"}});
        harness.accept(std::string("application/vnd.simaai.tensor,dtype=") + dtype);
        ASSERT_TRUE(harness.push_caps(video_caps(format, width, 5)));
        GstPtr<GstBuffer> input = frame.buffer(true);
        GstMemory* memory = gst_buffer_peek_memory(input.get(), 0);
        ASSERT_EQ(harness.push(std::move(input)), GST_FLOW_OK) << harness.error();
        const GstPtr<GstBuffer> output = harness.pull();
        ASSERT_NE(output, nullptr);
        const TensorCaps caps = read_tensor_caps(harness.caps().get());
        EXPECT_EQ(caps.dtype, dtype);
        const bool view = caps.dtype == "uint8";
        EXPECT_EQ(gst_buffer_peek_memory(output.get(), 0) == memory, view);
        EXPECT_EQ(harness.stat("copies"), 0U);
        EXPECT_EQ(harness.stat("frames"), 1U);
        expect_tensor_of(frame, caps, output.get(), hwc, {});
      }
}

INSTANTIATE_TEST_SUITE_P(Forms, EveryForm,
                         ::testing::Combine(::testing::ValuesIn(kFormats),
                                            ::testing::ValuesIn(kDTypeNames)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" +
                                  std::get<1>(test.param);
                         });

TEST(Forward, MeanScaleAndQuantisationAreUsedAndWritten) {
  std::mt19937 random(31);
  const Format& format = format_named("RGB");
  const Frame frame = make_frame(format, 33, 7, 0, 0, random);
  reference::Params params;
  params.mean = {123.675F, 116.28F, 103.53F, 0};
  params.scale = {0.01712475F, 0.017507F, 0.01742919F, 1};
  params.quant_scale = 0.02F;
  params.zero_point = 5;
  for (const char* dtype : {"int8", "float16", "bfloat16", "float32"}) {
    ElementHarness harness("simaaivideototensor", {{"mean", "<123.675,116.28,103.53>"},
                                                   {"scale", "<0.01712475,0.017507,0.01742919>"},
                                                   {"quant-scale", "0.02"},
                                                   {"quant-zero-point", "5"}});
    harness.accept(std::string("application/vnd.simaai.tensor,dtype=") + dtype);
    ASSERT_TRUE(harness.push_caps(video_caps(format, 33, 7)));
    ASSERT_EQ(harness.push(frame.buffer(false)), GST_FLOW_OK);
    const GstPtr<GstBuffer> output = harness.pull();
    const GstPtr<GstCaps> caps = harness.caps();
    expect_tensor_of(frame, read_tensor_caps(caps.get()), output.get(), true, params);
    const GstStructure* fields = gst_caps_get_structure(caps.get(), 0);
    double scale = 0;
    int zero_point = 0;
    const bool quantised = std::string(dtype) == "int8";
    EXPECT_EQ(gst_structure_get_double(fields, "quant-scale", &scale) != FALSE, quantised);
    EXPECT_EQ(gst_structure_get_int(fields, "quant-zero-point", &zero_point) != FALSE, quantised);
    if (quantised) {
      EXPECT_EQ(scale, 0.02);
      EXPECT_EQ(zero_point, 5);
    }
  }
}

TEST(Forward, OneNumberServesAllChannelsAndIntegersAreNumbers) {
  std::mt19937 random(32);
  const Frame frame = make_frame(format_named("BGRA"), 10, 4, 0, 0, random);
  reference::Params params;
  params.mean.fill(128);
  params.scale.fill(0.0078125F);
  ElementHarness harness("simaaivideototensor", {{"mean", "<128>"}, {"scale", "<0.0078125>"}});
  ASSERT_TRUE(harness.push_caps(video_caps(*frame.format, 10, 4)));
  ASSERT_EQ(harness.push(frame.buffer(false)), GST_FLOW_OK);
  const GstPtr<GstBuffer> output = harness.pull();
  expect_tensor_of(frame, read_tensor_caps(harness.caps().get()), output.get(), true, params);
}

TEST(Forward, NoPreferenceGivesContiguousFloat32InTheOrderOfTheSamples) {
  for (const auto& format : kFormats) {
    ElementHarness harness("simaaivideototensor");
    ASSERT_TRUE(harness.push_caps(video_caps(format, 20, 10)));
    const TensorCaps caps = read_tensor_caps(harness.caps().get());
    EXPECT_EQ(caps.dtype, "float32");
    EXPECT_EQ(caps.layout, "contiguous");
    EXPECT_EQ(caps.shape, format.planar ? (std::vector{1, 3, 10, 20})
                                        : (std::vector{1, 10, 20, format.channels}));
  }
}

TEST(Forward, DownstreamChoosesDtypeAndAxisOrder) {
  ElementHarness harness("simaaivideototensor");
  harness.accept("application/vnd.simaai.tensor,dtype={bfloat16,int8},shape=<1,3,10,20>");
  ASSERT_TRUE(harness.push_caps(video_caps(format_named("RGB"), 20, 10)));
  const TensorCaps caps = read_tensor_caps(harness.caps().get());
  EXPECT_EQ(caps.dtype, "bfloat16");
  EXPECT_EQ(caps.shape, (std::vector{1, 3, 10, 20}));
}

TEST(Forward, CapsCarryTheHints) {
  ElementHarness harness("simaaivideototensor");
  ASSERT_TRUE(harness.push_caps(
      video_caps(format_named("BGRx"), 20, 10, "pixel-aspect-ratio=4/3,colorimetry=bt709")));
  const GstPtr<GstCaps> caps = harness.caps();
  const GstPtr<GstCaps> wanted(gst_caps_from_string(
      "application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<1,10,20,3>,"
      "framerate=25/1,video-format=BGRx,pixel-aspect-ratio=4/3,colorimetry=bt709"));
  EXPECT_TRUE(gst_caps_is_equal(caps.get(), wanted.get())) << gst_caps_to_string(caps.get());
}

TEST(Forward, ShapeOfDownstreamLimitsTheVideo) {
  ElementHarness harness("simaaivideototensor");
  harness.accept("application/vnd.simaai.tensor,dtype=float32,shape=<1,224,320,3>");
  const GstPtr<GstCaps> caps(gst_pad_peer_query_caps(harness.get()->srcpad, nullptr));
  const GstPtr<GstCaps> right(
      gst_caps_from_string("video/x-raw,format=RGB,width=320,height=224,framerate=25/1"));
  const GstPtr<GstCaps> wrong(
      gst_caps_from_string("video/x-raw,format=RGB,width=321,height=224,framerate=25/1"));
  const GstPtr<GstCaps> alpha(
      gst_caps_from_string("video/x-raw,format=RGBA,width=320,height=224,framerate=25/1"));
  EXPECT_TRUE(gst_caps_can_intersect(caps.get(), right.get())) << gst_caps_to_string(caps.get());
  EXPECT_FALSE(gst_caps_can_intersect(caps.get(), wrong.get()));
  EXPECT_FALSE(gst_caps_can_intersect(caps.get(), alpha.get()));
}

struct Refusal {
  std::vector<Setting> settings;
  const char* accepted;
  std::vector<const char*> words;
};

TEST(Forward, RefusalsNameTheirReason) {
  const std::vector<Refusal> refusals{
      {{{"mean", "<1.0,2.0>"}}, "ANY", {"mean", "1 value or 3", "found 2"}},
      {{{"scale", "<1.0,2.0,3.0,4.0>"}}, "ANY", {"scale", "1 value or 3", "found 4"}},
      {{{"mean", "<1e39>"}}, "ANY", {"mean", "binary32"}},
      {{{"mean", "<1.0>"}},
       "application/vnd.simaai.tensor,dtype=uint8",
       {"uint8 is not offered", "downstream"}},
      {{}, "application/vnd.simaai.tensor,dtype=int32", {"downstream", "int32"}},
      {{{"axis-order", "hwc"}},
       "application/vnd.simaai.tensor,shape=<1,3,10,20>",
       {"downstream", "< 1, 3, 10, 20 >"}},
  };
  for (const auto& refusal : refusals) {
    ElementHarness harness("simaaivideototensor", refusal.settings);
    harness.accept(refusal.accepted);
    EXPECT_FALSE(harness.push_caps(video_caps(format_named("RGB"), 20, 10)));
    const std::string text = harness.error();
    for (const char* word : refusal.words)
      EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
    EXPECT_EQ(harness.error(), "") << "one error a refusal";
  }
}

TEST(Forward, ShortBufferAndContradictingMetasAreRefused) {
  std::mt19937 random(33);
  const Format& format = format_named("RGB");
  Frame frame = make_frame(format, 20, 10, 0, 0, random);
  const auto refused = [&](GstPtr<GstBuffer> buffer, const char* word) {
    for (const char* dtype : {"uint8", "float32"}) {
      ElementHarness harness("simaaivideototensor");
      harness.accept(std::string("application/vnd.simaai.tensor,dtype=") + dtype);
      ASSERT_TRUE(harness.push_caps(video_caps(format, 20, 10)));
      EXPECT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(buffer.get()))), GST_FLOW_ERROR);
      EXPECT_EQ(harness.pull(), nullptr);
      const std::string text = harness.error();
      EXPECT_NE(text.find(word), std::string::npos) << text;
    }
  };
  GstPtr<GstBuffer> cut = frame.buffer(false);
  gst_buffer_set_size(cut.get(), 599);
  refused(std::move(cut), "needs 600 bytes at offset 0, found 599");
  GstPtr<GstBuffer> cropped = frame.buffer(true);
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(cropped.get());
  crop->x = crop->y = 0;
  crop->width = 19;
  crop->height = 10;
  refused(std::move(cropped), "19 x 10");
  frame.width = 19;
  refused(frame.buffer(true), "19 x 10");
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
