// SPDX-License-Identifier: LGPL-2.1-or-later
// Pictures and tensors whose bytes are spread over several memories: copied into one and counted, or refused.
#include <array>
#include <bit>

#include <gtest/gtest.h>

#include "frames.h"
#include "harness.h"

namespace {

using namespace simaai;
using namespace simaai::test;

/// The bytes in `count` memories of uneven sizes, each behind bytes that do not belong to it.
GstPtr<GstBuffer> in_memories(const std::vector<std::uint8_t>& bytes, std::size_t count) {
  GstPtr<GstBuffer> buffer(gst_buffer_new());
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t left = bytes.size() - at;
    const std::size_t size = i + 1 == count ? left : left / (count - i) + (i % 2);
    GstMemory* memory = gst_allocator_alloc(nullptr, size + 5, nullptr);
    {
      const gst::MapGuard map(memory, GST_MAP_WRITE);
      std::fill_n(map.data(), 5, 0xAB);
      std::copy_n(bytes.data() + at, size, map.data() + 5);
    }
    gst_memory_resize(memory, 5, size);
    gst_buffer_append_memory(buffer.get(), memory);
    at += size;
  }
  return buffer;
}

void describe(GstBuffer* buffer, const Frame& frame) {
  std::array<gsize, GST_VIDEO_MAX_PLANES> offset{};
  std::array<gint, GST_VIDEO_MAX_PLANES> stride{};
  const std::size_t planes = frame.format->planar ? 3 : 1;
  for (std::size_t plane = 0; plane < planes; ++plane) {
    offset[plane] = frame.offset[plane];
    stride[plane] = frame.stride[plane];
  }
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, frame.format->id,
                                 static_cast<guint>(frame.width), static_cast<guint>(frame.height),
                                 static_cast<guint>(planes), offset.data(), stride.data());
}

/// Every sample, as uint8 or as the float32 of the same value.
void expect_samples(const ElementHarness& harness, const Frame& frame, GstBuffer* tensor,
                    bool hwc) {
  const GstPtr<GstCaps> current = harness.caps();
  const TensorCaps caps = read_tensor_caps(current.get());
  ASSERT_EQ(gst_buffer_n_memory(tensor), 1U);
  const gst::MapGuard map(gst_buffer_peek_memory(tensor, 0), GST_MAP_READ);
  ASSERT_TRUE(map);
  std::size_t different = 0;
  for (int h = 0; h < frame.height; ++h)
    for (int w = 0; w < frame.width; ++w)
      for (int c = 0; c < frame.format->channels; ++c) {
        const std::uint8_t sample = frame.sample(h, w, c);
        const std::uint32_t expected =
            caps.dtype == "uint8" ? sample
                                  : std::bit_cast<std::uint32_t>(static_cast<float>(sample));
        different += element(caps, map.data(), hwc, h, w, c) != expected;
      }
  EXPECT_EQ(different, 0U);
}

class SpreadPicture : public ::testing::TestWithParam<std::tuple<Format, const char*>> {};

/// Twice, for what is set up by the first buffer.
void expect_copies(const Frame& frame, const char* dtype, std::size_t count, bool meta, bool hwc) {
  SCOPED_TRACE(std::to_string(count) + " memories" + (meta ? " meta" : "") +
               (hwc ? " hwc" : " chw") + " stride " + std::to_string(frame.stride[0]));
  ElementHarness harness("simaaivideototensor", {{"axis-order", hwc ? "hwc" : "chw"}});
  harness.accept(std::string("application/vnd.simaai.tensor,dtype=") + dtype);
  ASSERT_TRUE(harness.push_caps(video_caps(*frame.format, 8, 8)));
  const GstPtr<GstBuffer> input = in_memories(frame.bytes, count);
  if (meta)
    describe(input.get(), frame);
  for (unsigned round = 1; round <= 2; ++round) {
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK)
        << harness.error();
    const GstPtr<GstBuffer> output = harness.pull();
    ASSERT_NE(output, nullptr);
    expect_samples(harness, frame, output.get(), hwc);
    EXPECT_EQ(harness.stat("copies"), round);
    EXPECT_EQ(harness.stat("conversions"), std::string(dtype) == "uint8" ? 0U : round);
  }
  EXPECT_EQ(gst_buffer_n_memory(input.get()), count) << "the input was not merged";
}

TEST_P(SpreadPicture, IsCopiedIntoOneMemoryAndCounted) {
  const auto& [format, dtype] = GetParam();
  std::mt19937 random(90);
  for (const std::size_t count : {2U, 8U, 16U})
    for (const bool hwc : {true, false}) {
      const Frame dense = make_frame(format, 8, 8, 0, 0, random);
      expect_copies(dense, dtype, count, false, hwc);
      expect_copies(dense, dtype, count, true, hwc);
      expect_copies(make_frame(format, 8, 8, 12, 0, random), dtype, count, true, hwc);
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, SpreadPicture,
                         ::testing::Combine(::testing::ValuesIn(kFormats),
                                            ::testing::Values("uint8", "float32")),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" +
                                  std::get<1>(test.param);
                         });

TEST(Spread, RowsThatRunUpwards) {
  std::mt19937 random(91);
  Frame frame = make_frame(format_named("RGB"), 8, 8, 0, 0, random);
  frame.offset[0] = std::size_t{7} * 24;
  frame.stride[0] = -24;
  for (const char* dtype : {"uint8", "float32"}) {
    ElementHarness harness("simaaivideototensor");
    harness.accept(std::string("application/vnd.simaai.tensor,dtype=") + dtype);
    ASSERT_TRUE(harness.push_caps(video_caps(*frame.format, 8, 8)));
    GstPtr<GstBuffer> input = in_memories(frame.bytes, 3);
    describe(input.get(), frame);
    ASSERT_EQ(harness.push(std::move(input)), GST_FLOW_OK) << harness.error();
    const GstPtr<GstBuffer> output = harness.pull();
    expect_samples(harness, frame, output.get(), true);
    EXPECT_EQ(harness.stat("copies"), 1U);
  }
}

TEST(Spread, RequireZeroCopyRefuses) {
  std::mt19937 random(92);
  const Frame frame = make_frame(format_named("RGB"), 8, 8, 0, 0, random);
  for (const char* dtype : {"uint8", "float32"}) {
    ElementHarness harness("simaaivideototensor", {{"require-zero-copy", "true"}});
    harness.accept(std::string("application/vnd.simaai.tensor,dtype=") + dtype);
    ASSERT_TRUE(harness.push_caps(video_caps(*frame.format, 8, 8)));
    EXPECT_EQ(harness.push(in_memories(frame.bytes, 2)), GST_FLOW_ERROR);
    EXPECT_EQ(harness.pull(), nullptr);
    const std::string text = harness.error();
    for (const char* word : {"require-zero-copy", "several memories"})
      EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_EQ(harness.stat("copies"), 0U);
  }
}

/// Others memories before and behind the picture do not make it a copy.
TEST(Spread, PictureInOneOfSeveralMemoriesStaysAView) {
  std::mt19937 random(93);
  for (const char* name : {"RGB", "RGBP"}) {
    Frame frame = make_frame(format_named(name), 8, 8, 0, 0, random);
    GstPtr<GstBuffer> input(gst_buffer_new_allocate(nullptr, 100, nullptr));
    GstMemory* memory = gst_allocator_alloc(nullptr, frame.bytes.size(), nullptr);
    gst_buffer_append_memory(input.get(), memory);
    gst_buffer_append_memory(input.get(), gst_allocator_alloc(nullptr, 10, nullptr));
    gst_buffer_fill(input.get(), 100, frame.bytes.data(), frame.bytes.size());
    std::vector<std::uint8_t> all(100);
    all.insert(all.end(), frame.bytes.begin(), frame.bytes.end());
    frame.bytes = all;
    for (std::size_t& offset : frame.offset)
      offset += 100;
    describe(input.get(), frame);
    ElementHarness harness("simaaivideototensor", {{"require-zero-copy", "true"}});
    harness.accept("application/vnd.simaai.tensor,dtype=uint8");
    ASSERT_TRUE(harness.push_caps(video_caps(*frame.format, 8, 8)));
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK)
        << harness.error();
    const GstPtr<GstBuffer> output = harness.pull();
    ASSERT_NE(output, nullptr);
    expect_samples(harness, frame, output.get(), !frame.format->planar);
    EXPECT_EQ(gst_buffer_peek_memory(output.get(), 0)->parent, memory);
    EXPECT_EQ(harness.stat("copies"), 0U);
  }
}

class SpreadTensor : public ::testing::TestWithParam<const char*> {};

TEST_P(SpreadTensor, IsCopiedAndCountedOrRefused) {
  const std::string dtype = GetParam();
  std::mt19937 random(94);
  constexpr std::size_t kSamples = 192; // 8 x 8 pixels
  std::vector<std::uint8_t> bytes(kSamples * (dtype == "uint8" ? 1U : 4U));
  std::vector<std::uint8_t> samples(kSamples);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<std::uint8_t>(random());
    const auto bits = dtype == "uint8"
                          ? std::uint32_t{samples[i]}
                          : std::bit_cast<std::uint32_t>(static_cast<float>(samples[i]));
    const std::size_t width = bytes.size() / samples.size();
    for (std::size_t byte = 0; byte < width; ++byte)
      bytes[i * width + byte] = static_cast<std::uint8_t>(bits >> (8 * byte));
  }
  const std::string caps =
      "application/vnd.simaai.tensor,layout=contiguous,shape=<1,8,8,3>,dtype=" + dtype;
  for (const bool forbidden : {false, true}) {
    ElementHarness harness("simaaitensortovideo",
                           {{"require-zero-copy", forbidden ? "true" : "false"}});
    harness.accept("video/x-raw,format=RGB");
    ASSERT_TRUE(harness.push_caps(caps)) << harness.error();
    const GstPtr<GstBuffer> input = in_memories(bytes, 3);
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))),
              forbidden ? GST_FLOW_ERROR : GST_FLOW_OK);
    EXPECT_EQ(harness.stat("copies"), forbidden ? 0U : 1U);
    EXPECT_EQ(gst_buffer_n_memory(input.get()), 3U);
    const GstPtr<GstBuffer> output = harness.pull();
    ASSERT_EQ(output == nullptr, forbidden);
    if (forbidden) {
      const std::string text = harness.error();
      EXPECT_NE(text.find("require-zero-copy"), std::string::npos) << text;
      continue;
    }
    std::vector<std::uint8_t> found(samples.size()); // 24 bytes a row: no padding
    ASSERT_EQ(gst_buffer_extract(output.get(), 0, found.data(), found.size()), found.size());
    EXPECT_EQ(found, samples);
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, SpreadTensor, ::testing::Values("uint8", "float32"),
                         [](const auto& test) { return std::string(test.param); });

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
