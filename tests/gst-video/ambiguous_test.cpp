// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensortovideo: shapes that can be read as <1,H,W,C> and as <1,C,H,W>. What is fixed decides; what stays open is refused.
#include <gtest/gtest.h>

#include "frames.h"
#include "harness.h"

namespace {

using namespace simaai;
using namespace simaai::test;

struct Case {
  const char* name;
  const char* shape;
  const char* hint;       ///< video-format of the tensor, or empty
  const char* axis_order; ///< property
  const char* downstream; ///< fields of video/x-raw that it wants, or empty
  /// Format, width, height of the picture; without a format the shape is refused.
  const char* format;
  int width;
  int height;
};

std::vector<Case> cases() {
  return {
      // C of video-format.
      {"GrayThreeWide", "<1,1,5,3>", "GRAY8", "auto", "", "GRAY8", 3, 5},
      {"GrayFourWide", "<1,1,5,4>", "GRAY8", "auto", "", "GRAY8", 4, 5},
      {"PlanesOfOneRow", "<1,1,7,3>", "RGBP", "auto", "", "RGBP", 7, 1},
      {"RgbaOfOneRow", "<1,1,7,4>", "RGBA", "auto", "", "RGBA", 7, 1},
      {"RgbFourWideChw", "<1,3,5,4>", "RGB", "auto", "", "RGB", 4, 5},
      {"WithoutBatch", "<1,5,3>", "GRAY8", "auto", "", "GRAY8", 3, 5},
      // C of the formats that downstream takes.
      {"DownstreamGray", "<1,1,5,3>", "", "auto", ",format=GRAY8", "GRAY8", 3, 5},
      {"DownstreamRgb", "<1,1,5,3>", "", "auto", ",format={RGB,BGR}", "RGB", 5, 1},
      // The size that downstream takes.
      {"DownstreamWidth", "<1,3,5,3>", "RGB", "auto", ",width=3", "RGB", 3, 5},
      {"DownstreamHeight", "<1,3,5,3>", "RGB", "auto", ",height=3", "RGB", 5, 3},
      // The property.
      {"PropertyHwc", "<1,3,5,3>", "RGB", "hwc", "", "RGB", 5, 3},
      {"PropertyChw", "<1,3,5,3>", "RGB", "chw", "", "RGB", 3, 5},
      {"PropertyAgainstHint", "<1,1,5,3>", "GRAY8", "hwc", "", "RGB", 5, 1},
      // One pixel is the same picture both ways.
      {"OnePixel", "<1,1,1,1>", "GRAY8", "auto", "", "GRAY8", 1, 1},
      // Nothing decides.
      {"RgbThreeWide", "<1,3,5,3>", "RGB", "auto", "", "", 0, 0},
      {"RgbSquare", "<1,3,3,3>", "RGB", "auto", ",width=3,height=3", "", 0, 0},
      {"NoHint", "<1,1,5,3>", "", "auto", "", "", 0, 0},
      {"GrayOneWide", "<1,1,5,1>", "GRAY8", "auto", "", "", 0, 0},
  };
}

class Ambiguous : public ::testing::TestWithParam<Case> {};

TEST_P(Ambiguous, WhatIsFixedDecides) {
  const Case& c = GetParam();
  ElementHarness harness("simaaitensortovideo", {{"axis-order", c.axis_order}});
  harness.accept(std::string("video/x-raw") + c.downstream);
  std::string caps =
      std::string("application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=") + c.shape;
  if (*c.hint != '\0')
    caps += std::string(",video-format=") + c.hint;
  const bool taken = harness.push_caps(caps);
  const std::string error = harness.error();
  if (*c.format == '\0') {
    EXPECT_FALSE(taken);
    for (const char* word : {"can be read as", "axis-order"})
      EXPECT_NE(error.find(word), std::string::npos) << error;
    EXPECT_EQ(harness.error(), "") << "one error a refusal";
    return;
  }
  ASSERT_TRUE(taken) << error;
  const GstPtr<GstCaps> chosen = harness.caps();
  ASSERT_NE(chosen, nullptr) << error;
  GstVideoInfo info;
  ASSERT_TRUE(gst_video_info_from_caps(&info, chosen.get()));
  EXPECT_STREQ(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info)), c.format);
  EXPECT_EQ(GST_VIDEO_INFO_WIDTH(&info), c.width);
  EXPECT_EQ(GST_VIDEO_INFO_HEIGHT(&info), c.height);
}

INSTANTIATE_TEST_SUITE_P(Shapes, Ambiguous, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return std::string(test.param.name); });

/// There and back in one pipeline: the picture that comes out is the one that went in.
TEST(AmbiguousThereAndBack, NarrowPicturesComeBack) {
  std::mt19937 random(95);
  for (const auto& [name, width, height, order] :
       {std::tuple{"GRAY8", 3, 5, "chw"}, std::tuple{"RGBP", 5, 1, "hwc"},
        std::tuple{"RGB", 4, 5, "chw"}, std::tuple{"RGBA", 3, 5, "chw"}}) {
    SCOPED_TRACE(name);
    const Format& format = format_named(name);
    const Frame frame = make_frame(format, width, height, 0, 0, random);
    ElementHarness there("simaaivideototensor", {{"axis-order", order}});
    there.accept("application/vnd.simaai.tensor,dtype=float32");
    ASSERT_TRUE(there.push_caps(video_caps(format, width, height))) << there.error();
    ASSERT_EQ(there.push(frame.buffer(true)), GST_FLOW_OK);
    const GstPtr<GstCaps> tensor = there.caps();
    const gst::GTextPtr text(gst_caps_to_string(tensor.get()));
    ElementHarness back("simaaitensortovideo");
    back.accept("video/x-raw");
    ASSERT_TRUE(back.push_caps(text.get())) << back.error();
    ASSERT_EQ(back.push(there.pull()), GST_FLOW_OK) << back.error();
    const GstPtr<GstBuffer> output = back.pull();
    const GstPtr<GstCaps> caps = back.caps();
    GstVideoInfo info;
    ASSERT_TRUE(gst_video_info_from_caps(&info, caps.get()));
    ASSERT_EQ(GST_VIDEO_INFO_FORMAT(&info), format.id);
    GstVideoFrame mapped;
    ASSERT_TRUE(gst_video_frame_map(&mapped, &info, output.get(), GST_MAP_READ));
    for (int h = 0; h < height; ++h)
      for (int w = 0; w < width; ++w)
        for (int c = 0; c < format.channels; ++c) {
          const auto* plane = static_cast<const std::uint8_t*>(mapped.data[format.planar ? c : 0]) +
                              std::ptrdiff_t{h} * mapped.info.stride[format.planar ? c : 0];
          EXPECT_EQ(plane[std::ptrdiff_t{w} * format.pixel_bytes + (format.planar ? 0 : c)],
                    frame.sample(h, w, c));
        }
    gst_video_frame_unmap(&mapped);
  }
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
