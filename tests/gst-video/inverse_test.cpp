// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensortovideo: values, layouts, caps and refusals; and the way there and back.
#include <array>
#include <bit>
#include <cstring>

#include <gtest/gtest.h>

#include "frames.h"
#include "harness.h"
#include "pixel_reference.h"

namespace {

using namespace simaai;
using namespace simaai::test;
using kernels::DType;

/// A tensor of random element bits in the storage that its caps describe; gaps are random too.
struct RandomTensor {
  TensorCaps caps;
  std::string text;
  std::vector<std::uint8_t> bytes;

  GstPtr<GstBuffer> buffer() const {
    GstPtr<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, bytes.size(), nullptr));
    gst_buffer_fill(buffer.get(), 0, bytes.data(), bytes.size());
    return buffer;
  }
};

RandomTensor make_tensor(const std::string& text, std::size_t extra, std::mt19937& random) {
  RandomTensor tensor;
  tensor.text = "application/vnd.simaai.tensor," + text;
  const GstPtr<GstCaps> caps(gst_caps_from_string(tensor.text.c_str()));
  tensor.caps = read_tensor_caps(caps.get());
  std::size_t bytes = tensor.caps.width;
  for (std::size_t axis = 0; axis < tensor.caps.shape.size(); ++axis)
    bytes += static_cast<std::size_t>((tensor.caps.shape[axis] - 1) * tensor.caps.strides[axis]);
  tensor.bytes.resize(bytes + extra);
  for (auto& byte : tensor.bytes)
    byte = static_cast<std::uint8_t>(random());
  return tensor;
}

/// Every sample of `video` against the reference for the element that it stands for.
void expect_picture_of(const RandomTensor& tensor, bool hwc, const Format& format,
                       const GstCaps* caps, GstBuffer* video, const reference::Params& params) {
  GstVideoInfo info;
  ASSERT_TRUE(gst_video_info_from_caps(&info, caps));
  EXPECT_EQ(GST_VIDEO_INFO_FORMAT(&info), format.id);
  GstVideoFrame frame;
  ASSERT_TRUE(gst_video_frame_map(&frame, &info, video, GST_MAP_READ));
  std::size_t different = 0;
  for (int h = 0; h < GST_VIDEO_INFO_HEIGHT(&info); ++h)
    for (int w = 0; w < GST_VIDEO_INFO_WIDTH(&info); ++w)
      for (int c = 0; c < format.channels; ++c) {
        const std::size_t plane = format.planar ? static_cast<std::size_t>(c) : 0;
        const std::uint8_t found =
            *(static_cast<const std::uint8_t*>(frame.data[plane]) + h * frame.info.stride[plane] +
              w * format.pixel_bytes + (format.planar ? 0 : c));
        different +=
            found != reference::sample_of(element(tensor.caps, tensor.bytes.data(), hwc, h, w, c),
                                          tensor.caps.type, static_cast<std::size_t>(c), params);
      }
  EXPECT_EQ(different, 0U) << tensor.text << " to " << format.name;
  if (format.pixel_bytes > format.channels && !format.planar) {
    EXPECT_EQ(*(static_cast<const std::uint8_t*>(frame.data[0]) + format.channels), 255);
  }
  gst_video_frame_unmap(&frame);
}

std::string shape_text(bool hwc, int height, int width, int channels) {
  const std::string h = std::to_string(height);
  const std::string w = std::to_string(width);
  const std::string c = std::to_string(channels);
  return hwc ? "shape=<1," + h + "," + w + "," + c + ">"
             : "shape=<1," + c + "," + h + "," + w + ">";
}

class EveryElement : public ::testing::TestWithParam<std::tuple<Format, const char*>> {};

TEST_P(EveryElement, ContiguousAndStridedInBothOrders) {
  const auto& [format, dtype] = GetParam();
  std::mt19937 random(60);
  reference::Params params;
  params.quant_scale = 1.25F;
  params.zero_point = -100;
  for (const int width : {641, 644})
    for (const bool hwc : {true, false})
      for (const bool strided : {false, true}) {
        const int c = format.channels;
        std::string text = std::string("dtype=") + dtype + "," + shape_text(hwc, 5, width, c) +
                           ",layout=" + (strided ? "strided" : "contiguous");
        const auto bytes = static_cast<std::int64_t>(kernels::scalar_bytes(
            std::string(dtype) == "float32"                      ? DType::Float32
            : std::string(dtype).find("16") != std::string::npos ? DType::Float16
                                                                 : DType::Int8));
        if (strided) { // a row of 700 pixels, pixels of 4 + 1 elements
          const std::int64_t pixel = 5 * bytes;
          text += hwc ? ",strides=(gint64)<" + std::to_string(bytes) + "," +
                            std::to_string(700 * pixel) + "," + std::to_string(pixel) + "," +
                            std::to_string(bytes) + ">"
                      : ",strides=(gint64)<" + std::to_string(bytes) + "," +
                            std::to_string(6 * 700 * bytes) + "," + std::to_string(700 * bytes) +
                            "," + std::to_string(bytes) + ">";
        }
        if (std::string(dtype) == "int8")
          text += ",quant-scale=1.25,quant-zero-point=-100";
        const RandomTensor tensor = make_tensor(text, 3, random);
        ElementHarness harness("simaaitensortovideo", {{"axis-order", hwc ? "hwc" : "chw"}});
        harness.accept(std::string("video/x-raw,format=") + format.name);
        ASSERT_TRUE(harness.push_caps(tensor.text)) << harness.error();
        GstPtr<GstBuffer> input = tensor.buffer();
        const GstMemory* memory = gst_buffer_peek_memory(input.get(), 0);
        ASSERT_EQ(harness.push(std::move(input)), GST_FLOW_OK) << harness.error();
        const GstPtr<GstBuffer> output = harness.pull();
        ASSERT_NE(output, nullptr);
        const GstPtr<GstCaps> caps = harness.caps();
        expect_picture_of(tensor, hwc, format, caps.get(), output.get(), params);
        const bool shared = gst_buffer_peek_memory(output.get(), 0) == memory;
        const bool raw = std::string(dtype) == "uint8";
        EXPECT_EQ(harness.stat("copies"), raw && !shared ? 1U : 0U);
        EXPECT_TRUE(raw || !shared);
      }
}

INSTANTIATE_TEST_SUITE_P(Elements, EveryElement,
                         ::testing::Combine(::testing::ValuesIn(kFormats),
                                            ::testing::ValuesIn(kDTypeNames)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" +
                                  std::get<1>(test.param);
                         });

TEST(Inverse, MeanAndScaleWithClampAndNearestEven) {
  std::mt19937 random(61);
  reference::Params params;
  params.mean = {123.675F, 116.28F, 103.53F, 0};
  params.scale = {0.01712475F, 0.017507F, -0.01742919F, 1};
  RandomTensor tensor = make_tensor("dtype=float32,layout=contiguous,shape=<1,40,50,3>", 0, random);
  // Two thirds near the range of samples, with exact halves; the others are any bit pattern.
  for (std::size_t i = 0; i < tensor.bytes.size() / 4; ++i) {
    const std::size_t c = i % 3;
    if (i % 9 < 6) {
      const float y = (static_cast<float>(i % 530) * 0.5F - 5 - params.mean[c]) * params.scale[c];
      std::memcpy(tensor.bytes.data() + 4 * i, &y, 4);
    }
  }
  ElementHarness harness("simaaitensortovideo", {{"mean", "<123.675,116.28,103.53>"},
                                                 {"scale", "<0.01712475,0.017507,-0.01742919>"}});
  ASSERT_TRUE(harness.push_caps(tensor.text));
  ASSERT_EQ(harness.push(tensor.buffer()), GST_FLOW_OK);
  const GstPtr<GstBuffer> output = harness.pull();
  const GstPtr<GstCaps> caps = harness.caps();
  expect_picture_of(tensor, true, format_named("RGB"), caps.get(), output.get(), params);
}

TEST(Inverse, QuantisationOfThePropertiesServesWhereCapsHaveNone) {
  std::mt19937 random(62);
  reference::Params params;
  params.quant_scale = 0.5F;
  params.zero_point = 7;
  const RandomTensor tensor =
      make_tensor("dtype=int8,layout=contiguous,shape=<1,8,9,1>", 0, random);
  ElementHarness harness("simaaitensortovideo",
                         {{"quant-scale", "0.5"}, {"quant-zero-point", "7"}});
  ASSERT_TRUE(harness.push_caps(tensor.text));
  ASSERT_EQ(harness.push(tensor.buffer()), GST_FLOW_OK);
  const GstPtr<GstBuffer> output = harness.pull();
  const GstPtr<GstCaps> caps = harness.caps();
  expect_picture_of(tensor, true, format_named("GRAY8"), caps.get(), output.get(), params);
}

TEST(Inverse, ImagesWithoutBatchAxisAreAccepted) {
  std::mt19937 random(63);
  const RandomTensor tensor =
      make_tensor("dtype=uint8,layout=contiguous,shape=<8,12,3>", 0, random);
  ElementHarness harness("simaaitensortovideo");
  ASSERT_TRUE(harness.push_caps(tensor.text)) << harness.error();
  const GstPtr<GstCaps> caps = harness.caps();
  const GstPtr<GstCaps> wanted(
      gst_caps_from_string("video/x-raw,format=RGB,width=12,height=8,framerate=0/1"));
  EXPECT_TRUE(gst_caps_is_equal(caps.get(), wanted.get())) << gst_caps_to_string(caps.get());
}

TEST(Inverse, HintsRestoreThePicture) {
  const char* text = "application/vnd.simaai.tensor,dtype=float32,layout=contiguous,"
                     "shape=<1,10,20,3>,framerate=30/1,video-format=BGRx,pixel-aspect-ratio=4/3,"
                     "colorimetry=bt709";
  ElementHarness harness("simaaitensortovideo");
  ASSERT_TRUE(harness.push_caps(text));
  const GstPtr<GstCaps> caps = harness.caps();
  const GstPtr<GstCaps> wanted(gst_caps_from_string(
      "video/x-raw,format=BGRx,width=20,height=10,framerate=30/1,pixel-aspect-ratio=4/3,"
      "colorimetry=bt709"));
  EXPECT_TRUE(gst_caps_is_equal(caps.get(), wanted.get())) << gst_caps_to_string(caps.get());
  // Another storage of the same channels is fine, another meaning is not.
  ElementHarness packed("simaaitensortovideo");
  packed.accept("video/x-raw,format={RGB,BGR}");
  ASSERT_TRUE(packed.push_caps(text));
  const GstPtr<GstCaps> chosen = packed.caps();
  EXPECT_STREQ(gst_structure_get_string(gst_caps_get_structure(chosen.get(), 0), "format"), "BGR");
  ElementHarness swapped("simaaitensortovideo");
  swapped.accept("video/x-raw,format=RGB");
  EXPECT_FALSE(swapped.push_caps(text));
  EXPECT_NE(swapped.error().find("no picture of this tensor"), std::string::npos);
}

TEST(Inverse, StridesChooseTheFormatThatNeedsNoCopy) {
  ElementHarness harness("simaaitensortovideo");
  ASSERT_TRUE(harness.push_caps("application/vnd.simaai.tensor,dtype=uint8,layout=strided,"
                                "shape=<1,10,20,3>,strides=(gint64)<600,80,4,1>"));
  const GstPtr<GstCaps> caps = harness.caps();
  EXPECT_STREQ(gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), "format"), "RGBx");
}

TEST(Inverse, FormatsOfDownstreamReachTheVideoBeforeTheTensor) {
  // What the pads of both elements, linked, leave for the source.
  const GstPtr<GstElement> bin(GST_ELEMENT(gst_object_ref_sink(gst_parse_bin_from_description(
      "simaaivideototensor ! application/vnd.simaai.tensor,dtype=uint8 ! simaaitensortovideo ! "
      "video/x-raw,format={RGB,GRAY8} ! fakesink",
      TRUE, nullptr))));
  gst_element_set_state(bin.get(), GST_STATE_PAUSED);
  const GstPtr<GstPad> pad(gst_element_get_static_pad(bin.get(), "sink"));
  const GstPtr<GstCaps> caps(gst_pad_query_caps(pad.get(), nullptr));
  for (const auto& [name, possible] : {std::pair{"RGB", true},
                                       {"RGBx", true},
                                       {"RGBP", true},
                                       {"GRAY8", true},
                                       {"BGR", false},
                                       {"BGRx", false},
                                       {"RGBA", false},
                                       {"BGRA", false}}) {
    const GstPtr<GstCaps> one(gst_caps_from_string(video_caps(format_named(name), 64, 48).c_str()));
    EXPECT_EQ(gst_caps_can_intersect(caps.get(), one.get()) != FALSE, possible) << name;
  }
  gst_element_set_state(bin.get(), GST_STATE_NULL);
}

struct Refusal {
  std::vector<Setting> settings;
  const char* tensor;
  std::vector<const char*> words;
};

TEST(Inverse, RefusalsNameFieldExpectedAndFound) {
  const std::vector<Refusal> refusals{
      {{},
       "dtype=float32,layout=contiguous,shape=<1,10,20,2>",
       {"shape", "< 1, 10, 20, 2 >", "C of 1, 3 or 4"}},
      {{}, "dtype=float32,layout=contiguous,shape=<2,10,20,3>", {"shape", "<1,H,W,C>"}},
      {{}, "dtype=float32,layout=contiguous,shape=<1,0,20,3>", {"shape", "<1,0,20,3>"}},
      {{},
       "dtype=float32,layout=strided,shape=<1,10,20,3>,strides=(gint64)<1,241,12,4>",
       {"stride"}},
      {{{"mean", "<1.0>"}},
       "dtype=uint8,layout=contiguous,shape=<1,10,20,3>",
       {"uint8", "mean or scale"}},
      {{{"scale", "<0.0>"}},
       "dtype=float32,layout=contiguous,shape=<1,10,20,3>",
       {"scale", "nonzero"}},
      {{{"mean", "<1.0,2.0>"}},
       "dtype=float32,layout=contiguous,shape=<1,10,20,3>",
       {"mean", "found 2"}},
      {{{"axis-order", "chw"}}, "dtype=float32,layout=contiguous,shape=<1,10,20,3>", {"<1,C,H,W>"}},
  };
  for (const auto& refusal : refusals) {
    ElementHarness harness("simaaitensortovideo", refusal.settings);
    EXPECT_FALSE(harness.push_caps(std::string("application/vnd.simaai.tensor,") + refusal.tensor));
    const std::string text = harness.error();
    for (const char* word : refusal.words)
      EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
    EXPECT_EQ(harness.error(), "") << "one error a refusal";
  }
}

TEST(Inverse, ShortBufferIsRefused) {
  ElementHarness harness("simaaitensortovideo");
  ASSERT_TRUE(harness.push_caps(
      "application/vnd.simaai.tensor,dtype=float16,layout=contiguous,shape=<1,10,20,3>"));
  EXPECT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_new_allocate(nullptr, 1199, nullptr))),
            GST_FLOW_ERROR);
  const std::string text = harness.error();
  EXPECT_NE(text.find("needed: 1200 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("found: 1199 bytes"), std::string::npos) << text;
  EXPECT_EQ(harness.pull(), nullptr);
}

TEST(Inverse, DenseTensorBecomesAPictureWithMetaOrIsCopiedForThoseWhoIgnoreIt) {
  std::mt19937 random(64);
  const RandomTensor tensor =
      make_tensor("dtype=uint8,layout=contiguous,shape=<1,5,641,3>", 0, random);
  for (const bool reads_meta : {true, false}) {
    ElementHarness harness("simaaitensortovideo");
    if (reads_meta)
      gst_harness_add_propose_allocation_meta(harness.get(), GST_VIDEO_META_API_TYPE, nullptr);
    ASSERT_TRUE(harness.push_caps(tensor.text));
    GstPtr<GstBuffer> input = tensor.buffer();
    const GstMemory* memory = gst_buffer_peek_memory(input.get(), 0);
    ASSERT_EQ(harness.push(std::move(input)), GST_FLOW_OK);
    const GstPtr<GstBuffer> output = harness.pull();
    EXPECT_EQ(gst_buffer_peek_memory(output.get(), 0) == memory, reads_meta);
    EXPECT_EQ(harness.stat("copies"), reads_meta ? 0U : 1U);
    const GstVideoMeta* meta = gst_buffer_get_video_meta(output.get());
    ASSERT_EQ(meta != nullptr, reads_meta);
    if (reads_meta) {
      EXPECT_EQ(meta->stride[0], 1923);
    }
    const GstPtr<GstCaps> caps = harness.caps();
    expect_picture_of(tensor, true, format_named("RGB"), caps.get(), output.get(), {});
  }
}

TEST(Inverse, RequireZeroCopyFailsWhereMetaIsIgnored) {
  std::mt19937 random(65);
  const RandomTensor tensor =
      make_tensor("dtype=uint8,layout=contiguous,shape=<1,5,641,3>", 0, random);
  ElementHarness harness("simaaitensortovideo", {{"require-zero-copy", "true"}});
  ASSERT_TRUE(harness.push_caps(tensor.text));
  EXPECT_EQ(harness.push(tensor.buffer()), GST_FLOW_ERROR);
  EXPECT_NE(harness.error().find("require-zero-copy"), std::string::npos);
}

class ThereAndBack : public ::testing::TestWithParam<std::tuple<Format, const char*>> {};

TEST_P(ThereAndBack, EverySampleComesBack) {
  const auto& [format, dtype] = GetParam();
  std::mt19937 random(66);
  for (const int width : {641, 642, 643, 644})
    for (const int extra : {0, 36}) {
      const Frame frame = make_frame(format, width, 6, extra, 0, random);
      const std::string video =
          video_caps(format, width, 6, "pixel-aspect-ratio=16/15,colorimetry=bt601");
      ElementHarness there("simaaivideototensor");
      there.accept(std::string("application/vnd.simaai.tensor,dtype=") + dtype);
      ASSERT_TRUE(there.push_caps(video));
      GstPtr<GstBuffer> input = frame.buffer(true);
      // Kept, so that no later memory has its address.
      const GstPtr<GstMemory> memory(gst_buffer_get_memory(input.get(), 0));
      ASSERT_EQ(there.push(std::move(input)), GST_FLOW_OK);
      const GstPtr<GstCaps> tensor_caps = there.caps();
      ElementHarness back("simaaitensortovideo");
      gst_harness_add_propose_allocation_meta(back.get(), GST_VIDEO_META_API_TYPE, nullptr);
      const gst::GTextPtr text(gst_caps_to_string(tensor_caps.get()));
      ASSERT_TRUE(back.push_caps(text.get())) << back.error();
      const GstPtr<GstCaps> caps = back.caps();
      const GstPtr<GstCaps> wanted(gst_caps_from_string(video.c_str()));
      EXPECT_TRUE(gst_caps_is_equal(caps.get(), wanted.get())) << gst_caps_to_string(caps.get());
      ASSERT_EQ(back.push(there.pull()), GST_FLOW_OK) << back.error();
      const GstPtr<GstBuffer> output = back.pull();
      const bool raw = std::string(dtype) == "uint8";
      EXPECT_EQ(gst_buffer_peek_memory(output.get(), 0) == memory.get(), raw);
      EXPECT_EQ(back.stat("copies"), 0U);
      GstVideoInfo info;
      ASSERT_TRUE(gst_video_info_from_caps(&info, caps.get()));
      GstVideoFrame mapped;
      ASSERT_TRUE(gst_video_frame_map(&mapped, &info, output.get(), GST_MAP_READ));
      std::size_t different = 0;
      for (int h = 0; h < 6; ++h)
        for (int w = 0; w < width; ++w)
          for (int c = 0; c < format.channels; ++c) {
            const std::size_t plane = format.planar ? static_cast<std::size_t>(c) : 0;
            different += *(static_cast<const std::uint8_t*>(mapped.data[plane]) +
                           h * mapped.info.stride[plane] + w * format.pixel_bytes +
                           (format.planar ? 0 : c)) != frame.sample(h, w, c);
          }
      gst_video_frame_unmap(&mapped);
      EXPECT_EQ(different, 0U);
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, ThereAndBack,
                         ::testing::Combine(::testing::ValuesIn(kFormats),
                                            ::testing::ValuesIn(kDTypeNames)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" +
                                  std::get<1>(test.param);
                         });

TEST(VideoElements, LateBuffersAreDroppedUnlessQosIsOff) {
  for (const bool back : {false, true})
    for (const char* dtype : {"uint8", "float32"})
      for (const bool off : {false, true}) {
        SCOPED_TRACE(std::string(back ? "back " : "there ") + dtype + (off ? " qos=false" : ""));
        const std::string tensor = std::string("application/vnd.simaai.tensor,dtype=") + dtype;
        std::vector<Setting> settings;
        if (off)
          settings.emplace_back("qos", "false");
        ElementHarness harness(back ? "simaaitensortovideo" : "simaaivideototensor", settings);
        if (!back)
          harness.accept(tensor);
        ASSERT_TRUE(harness.push_caps(back ? tensor + ",layout=contiguous,shape=<1,2,4,3>"
                                           : video_caps(format_named("RGB"), 4, 2)));
        const auto push_at = [&](GstClockTime time) {
          GstPtr<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, 96, nullptr));
          gst_buffer_memset(buffer.get(), 0, 0, 96);
          GST_BUFFER_PTS(buffer.get()) = time;
          return harness.push(std::move(buffer));
        };
        gst_harness_push_upstream_event(
            harness.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 0, GST_SECOND));
        EXPECT_EQ(push_at(0), GST_FLOW_OK) << harness.error();
        EXPECT_EQ(harness.pull() == nullptr, !off);
        EXPECT_EQ(push_at(2 * GST_SECOND), GST_FLOW_OK) << harness.error();
        EXPECT_NE(harness.pull(), nullptr);
        EXPECT_EQ(harness.stat("frames"), off ? 2U : 1U);
      }
}

TEST(TensorToVideo, RefusesQuantizationThatTheCapsCannotMean) {
  const auto refusal_of = [](const char* fields) {
    ElementHarness harness("simaaitensortovideo");
    EXPECT_FALSE(harness.push_caps(
        std::string("application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=<1,2,4,3>,") +
        fields));
    return harness.error();
  };
  for (const char* scale : {"0.0", "-1.0", "1e-60", "1e300"}) {
    const std::string text = refusal_of((std::string("quant-scale=(double)") + scale).c_str());
    EXPECT_NE(text.find("caps field 'quant-scale' is"), std::string::npos) << scale << ": " << text;
  }
  for (const char* zero : {"128", "-129", "-2147483648"}) {
    const std::string text = refusal_of((std::string("quant-zero-point=(int)") + zero).c_str());
    EXPECT_NE(text.find(std::string("'quant-zero-point' is ") + zero), std::string::npos)
        << zero << ": " << text;
  }
}

/// A capsfilter completes the caps of a source that has none, such as filesrc, only if what the
/// element adds to a query leaves them fixed.
TEST(TensorToVideo, AddsNothingOpenToCompleteTensorCaps) {
  for (const char* shape :
       {"<1,2,4,3>", "<1,3,2,4>", "<2,4,3>", "<1,2,4,1>", "<1,2,5,4>", "<1,4,2,5>"}) {
    ElementHarness harness("simaaitensortovideo");
    const std::string text =
        std::string("application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=") + shape;
    const GstPtr<GstCaps> complete(gst_caps_from_string(text.c_str()));
    const GstPtr<GstCaps> accepted(gst_pad_peer_query_caps(harness.get()->srcpad, complete.get()));
    const gst::GTextPtr found(gst_caps_to_string(accepted.get()));
    EXPECT_TRUE(gst_caps_is_equal(accepted.get(), complete.get())) << found.get();
  }
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
