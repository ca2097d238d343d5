// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaivideototensor: when the uint8 form is a view, when caps change for it, when it is a copy.
#include <gtest/gtest.h>

#include "frames.h"
#include "harness.h"

namespace {

using namespace simaai;
using namespace simaai::test;

constexpr const char* kUInt8 = "application/vnd.simaai.tensor,dtype=uint8";

/// Every sample of the frame, read through the caps that are current now.
void expect_samples(const ElementHarness& harness, const Frame& frame, GstBuffer* tensor, bool hwc,
                    int left = 0, int top = 0) {
  const GstPtr<GstCaps> current = harness.caps();
  const TensorCaps caps = read_tensor_caps(current.get());
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(tensor, &map, GST_MAP_READ));
  const int height = caps.shape[hwc ? 1 : 2];
  const int width = caps.shape[hwc ? 2 : 3];
  std::size_t different = 0;
  for (int h = 0; h < height; ++h)
    for (int w = 0; w < width; ++w)
      for (int c = 0; c < frame.format->channels; ++c)
        different += element(caps, map.data, hwc, h, w, c) != frame.sample(top + h, left + w, c);
  EXPECT_EQ(different, 0U);
  gst_buffer_unmap(tensor, &map);
}

struct Pushed {
  GstPtr<GstBuffer> output;
  bool same_memory = false;
};

Pushed push(ElementHarness& harness, const Frame& frame, bool meta = true) {
  GstPtr<GstBuffer> input = frame.buffer(meta);
  const GstMemory* memory = gst_buffer_peek_memory(input.get(), 0);
  EXPECT_EQ(harness.push(std::move(input)), GST_FLOW_OK) << harness.error();
  Pushed pushed;
  pushed.output = harness.pull();
  EXPECT_NE(pushed.output, nullptr);
  if (pushed.output != nullptr)
    pushed.same_memory = gst_buffer_peek_memory(pushed.output.get(), 0) == memory;
  return pushed;
}

std::vector<std::int64_t> strides_of(const ElementHarness& harness) {
  const GstPtr<GstCaps> caps = harness.caps();
  return read_tensor_caps(caps.get()).strides;
}

TEST(View, IsTheVeryBufferThatCameIn) {
  std::mt19937 random(40);
  const Frame frame = make_frame(format_named("RGB"), 643, 4, 0, 0, random);
  ElementHarness harness("simaaivideototensor");
  harness.accept(kUInt8);
  ASSERT_TRUE(harness.push_caps(video_caps(*frame.format, 643, 4)));
  EXPECT_EQ(strides_of(harness), (std::vector<std::int64_t>{4 * 1929, 1932, 3, 1}));
  GstPtr<GstBuffer> input = frame.buffer(false);
  GST_BUFFER_PTS(input.get()) = 123;
  const GstBuffer* address = input.get();
  ASSERT_EQ(harness.push(std::move(input)), GST_FLOW_OK);
  const GstPtr<GstBuffer> output = harness.pull();
  EXPECT_EQ(output.get(), address);
  EXPECT_EQ(GST_BUFFER_PTS(output.get()), 123U);
  EXPECT_EQ(harness.stat("copies"), 0U);
}

TEST(View, DenseWidthIsContiguous) {
  ElementHarness harness("simaaivideototensor");
  harness.accept(kUInt8);
  ASSERT_TRUE(harness.push_caps(video_caps(format_named("RGB"), 644, 4)));
  const GstPtr<GstCaps> caps = harness.caps();
  EXPECT_EQ(read_tensor_caps(caps.get()).layout, "contiguous");
}

TEST(View, CapsAreRenegotiatedBeforeTheFirstPaddedBuffer) {
  std::mt19937 random(41);
  const Format& format = format_named("BGR");
  ElementHarness harness("simaaivideototensor");
  harness.accept(kUInt8);
  ASSERT_TRUE(harness.push_caps(video_caps(format, 641, 6)));
  EXPECT_EQ(strides_of(harness)[1], 1924);
  EXPECT_EQ(harness.caps_events(), 1U);
  const Frame padded = make_frame(format, 641, 6, 124, 0, random);
  const Pushed first = push(harness, padded);
  EXPECT_TRUE(first.same_memory);
  EXPECT_EQ(strides_of(harness)[1], 2048);
  EXPECT_EQ(harness.caps_events(), 2U);
  expect_samples(harness, padded, first.output.get(), true);
  EXPECT_TRUE(push(harness, padded).same_memory);
  EXPECT_EQ(harness.caps_events(), 2U) << "the same pitch again changes nothing";
  EXPECT_EQ(harness.stat("copies"), 0U);
}

TEST(View, AfterThreeChangesBuffersAreCopiedToTheNegotiatedPitch) {
  std::mt19937 random(42);
  const Format& format = format_named("RGB");
  ElementHarness harness("simaaivideototensor");
  harness.accept(kUInt8);
  ASSERT_TRUE(harness.push_caps(video_caps(format, 642, 5)));
  for (const int extra : {4, 8, 12}) {
    const Frame frame = make_frame(format, 642, 5, extra, 0, random);
    EXPECT_TRUE(push(harness, frame).same_memory);
  }
  EXPECT_EQ(harness.caps_events(), 4U);
  const Frame fourth = make_frame(format, 642, 5, 16, 0, random);
  const Pushed copied = push(harness, fourth);
  EXPECT_FALSE(copied.same_memory);
  EXPECT_EQ(harness.caps_events(), 4U);
  EXPECT_EQ(strides_of(harness)[1], 1928 + 12);
  expect_samples(harness, fourth, copied.output.get(), true);
  EXPECT_EQ(harness.stat("copies"), 1U);
  const Frame third = make_frame(format, 642, 5, 12, 0, random);
  EXPECT_TRUE(push(harness, third).same_memory) << "the negotiated pitch is a view again";
  EXPECT_EQ(harness.stat("copies"), 1U);
  // New sink caps start again.
  ASSERT_TRUE(harness.push_caps(video_caps(format, 642, 4)));
  const Frame other = make_frame(format, 642, 4, 16, 0, random);
  EXPECT_TRUE(push(harness, other).same_memory);
  EXPECT_EQ(harness.stat("copies"), 1U);
}

TEST(View, RequireZeroCopyFailsAfterThreeChanges) {
  std::mt19937 random(43);
  const Format& format = format_named("RGB");
  ElementHarness harness("simaaivideototensor", {{"require-zero-copy", "true"}});
  harness.accept(kUInt8);
  ASSERT_TRUE(harness.push_caps(video_caps(format, 642, 5)));
  for (const int extra : {4, 8, 12})
    EXPECT_TRUE(push(harness, make_frame(format, 642, 5, extra, 0, random)).same_memory);
  EXPECT_EQ(harness.push(make_frame(format, 642, 5, 16, 0, random).buffer(true)), GST_FLOW_ERROR);
  EXPECT_EQ(harness.pull(), nullptr);
  const std::string text = harness.error();
  EXPECT_NE(text.find("require-zero-copy"), std::string::npos) << text;
  EXPECT_NE(text.find("1944"), std::string::npos) << text;
  EXPECT_EQ(harness.stat("copies"), 0U);
}

TEST(View, DownstreamThatWantsNoGapsGetsACountedCopy) {
  std::mt19937 random(44);
  for (const auto& format : kFormats) {
    const Frame frame = make_frame(format, 641, 5, 20, 0, random);
    ElementHarness harness("simaaivideototensor");
    harness.accept("application/vnd.simaai.tensor,dtype=uint8,layout=contiguous");
    ASSERT_TRUE(harness.push_caps(video_caps(format, 641, 5)));
    for (guint64 copies = 1; copies < 6; ++copies) {
      const Pushed pushed = push(harness, frame);
      EXPECT_FALSE(pushed.same_memory);
      EXPECT_EQ(gst_buffer_get_size(pushed.output.get()),
                static_cast<gsize>(641 * 5 * format.channels));
      expect_samples(harness, frame, pushed.output.get(), !format.planar);
      EXPECT_EQ(harness.stat("copies"), copies);
    }
    EXPECT_EQ(harness.caps_events(), 1U);
  }
}

TEST(View, RequireZeroCopyDoesNotOfferCopies) {
  ElementHarness harness("simaaivideototensor", {{"require-zero-copy", "true"}});
  harness.accept("application/vnd.simaai.tensor,dtype=uint8,layout=contiguous");
  EXPECT_FALSE(harness.push_caps(video_caps(format_named("RGB"), 641, 5)));
  EXPECT_NE(harness.error().find("downstream"), std::string::npos);
}

TEST(View, CropIsAnOffset) {
  std::mt19937 random(45);
  for (const auto& format : kFormats) {
    const Frame frame = make_frame(format, 80, 30, 8, 0, random);
    ElementHarness harness("simaaivideototensor");
    harness.accept(kUInt8);
    ASSERT_TRUE(harness.push_caps(video_caps(format, 64, 20)));
    GstPtr<GstBuffer> input = frame.buffer(true);
    GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(input.get());
    crop->x = 5;
    crop->y = 7;
    crop->width = 64;
    crop->height = 20;
    GstMapInfo map;
    ASSERT_TRUE(gst_buffer_map(input.get(), &map, GST_MAP_READ));
    const guint8* first = map.data + 7 * frame.stride[0] + 5 * format.pixel_bytes;
    gst_buffer_unmap(input.get(), &map);
    ASSERT_EQ(harness.push(std::move(input)), GST_FLOW_OK) << harness.error();
    const GstPtr<GstBuffer> output = harness.pull();
    ASSERT_TRUE(gst_buffer_map(output.get(), &map, GST_MAP_READ));
    EXPECT_EQ(map.data, first) << format.name;
    gst_buffer_unmap(output.get(), &map);
    expect_samples(harness, frame, output.get(), !format.planar, 5, 7);
    EXPECT_EQ(harness.stat("copies"), 0U);
    EXPECT_EQ(gst_buffer_get_video_meta(output.get()), nullptr);
    EXPECT_NE(gst_buffer_get_parent_buffer_meta(output.get()), nullptr);
  }
}

TEST(View, PaddedHeightOfPackedFormatsIsIgnored) {
  std::mt19937 random(46);
  const Format& format = format_named("RGB");
  const Frame frame = make_frame(format, 32, 1080, 0, 8, random);
  ElementHarness harness("simaaivideototensor");
  harness.accept(kUInt8);
  ASSERT_TRUE(harness.push_caps(video_caps(format, 32, 1080)));
  const Pushed pushed = push(harness, frame);
  EXPECT_TRUE(pushed.same_memory);
  EXPECT_EQ(harness.caps_events(), 1U);
  expect_samples(harness, frame, pushed.output.get(), true);
  // The meta may state the padded height itself.
  Frame tall = frame;
  tall.height = 1088;
  EXPECT_TRUE(push(harness, tall).same_memory);
  EXPECT_EQ(harness.caps_events(), 1U);
}

TEST(View, PlanesWithPaddedHeightAreAViewWithAnotherStride) {
  std::mt19937 random(47);
  const Format& format = format_named("RGBP");
  const Frame frame = make_frame(format, 32, 1080, 0, 8, random);
  ElementHarness harness("simaaivideototensor");
  harness.accept(kUInt8);
  ASSERT_TRUE(harness.push_caps(video_caps(format, 32, 1080)));
  const Pushed pushed = push(harness, frame);
  EXPECT_TRUE(pushed.same_memory);
  EXPECT_EQ(strides_of(harness), (std::vector<std::int64_t>{3 * 1080 * 32, 1088 * 32, 32, 1}));
  expect_samples(harness, frame, pushed.output.get(), false);
}

TEST(View, UnevenPlanesAreCopied) {
  std::mt19937 random(48);
  const Format& format = format_named("RGBP");
  const auto expect_copy = [&](const Frame& frame) {
    ElementHarness harness("simaaivideototensor");
    harness.accept(kUInt8);
    ASSERT_TRUE(harness.push_caps(video_caps(format, 40, 6)));
    const Pushed pushed = push(harness, frame);
    EXPECT_FALSE(pushed.same_memory);
    EXPECT_EQ(harness.stat("copies"), 1U);
    expect_samples(harness, frame, pushed.output.get(), false);
  };
  Frame spacing = make_frame(format, 40, 6, 0, 2, random);
  spacing.offset[2] += 40;
  spacing.offset[2] -= 8;
  expect_copy(spacing);
  Frame swapped = make_frame(format, 40, 6, 0, 0, random);
  std::swap(swapped.offset[0], swapped.offset[2]);
  expect_copy(swapped);
  Frame strides = make_frame(format, 40, 6, 0, 4, random);
  strides.stride[1] = 44;
  expect_copy(strides);
}

TEST(View, PlanesInSeveralMemoriesAreCopied) {
  std::mt19937 random(49);
  const Format& format = format_named("RGBP");
  const Frame frame = make_frame(format, 40, 6, 0, 0, random);
  GstPtr<GstBuffer> input(gst_buffer_new());
  for (std::size_t plane = 0; plane < 3; ++plane) {
    GstMemory* memory = gst_allocator_alloc(nullptr, 240, nullptr);
    gst_buffer_append_memory(input.get(), memory);
    gst_buffer_fill(input.get(), plane * 240, frame.bytes.data() + plane * 240, 240);
  }
  for (const char* dtype : {"uint8", "float32"}) {
    ElementHarness harness("simaaivideototensor");
    harness.accept(std::string("application/vnd.simaai.tensor,dtype=") + dtype);
    ASSERT_TRUE(harness.push_caps(video_caps(format, 40, 6)));
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK)
        << harness.error();
    const GstPtr<GstBuffer> output = harness.pull();
    if (std::string(dtype) == "uint8") {
      EXPECT_EQ(harness.stat("copies"), 1U);
      expect_samples(harness, frame, output.get(), false);
    }
    EXPECT_EQ(gst_buffer_n_memory(output.get()), 1U);
    EXPECT_EQ(gst_buffer_n_memory(input.get()), 3U) << "the input was not merged";
  }
}

TEST(View, RowsThatRunUpwardsAreCopied) {
  std::mt19937 random(50);
  const Format& format = format_named("RGBA");
  Frame frame = make_frame(format, 17, 9, 4, 0, random);
  frame.offset[0] = static_cast<std::size_t>(8 * frame.stride[0]);
  frame.stride[0] = -frame.stride[0];
  ElementHarness harness("simaaivideototensor");
  harness.accept(kUInt8);
  ASSERT_TRUE(harness.push_caps(video_caps(format, 17, 9)));
  const Pushed pushed = push(harness, frame);
  EXPECT_FALSE(pushed.same_memory);
  EXPECT_EQ(harness.stat("copies"), 1U);
  expect_samples(harness, frame, pushed.output.get(), true);
}

TEST(View, AllocationAnnouncesMetas) {
  ElementHarness harness("simaaivideototensor");
  harness.accept(kUInt8);
  const std::string text = video_caps(format_named("RGB"), 64, 48);
  ASSERT_TRUE(harness.push_caps(text));
  const GstPtr<GstCaps> caps(gst_caps_from_string(text.c_str()));
  const GstPtr<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
  ASSERT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_VIDEO_META_API_TYPE, nullptr));
  EXPECT_TRUE(gst_query_find_allocation_meta(query.get(), GST_VIDEO_CROP_META_API_TYPE, nullptr));
}

TEST(View, PooledBuffersReturnOnlyWhenTheViewIsGone) {
  const Format& format = format_named("RGB");
  for (const bool cropped : {false, true}) {
    ElementHarness harness("simaaivideototensor");
    harness.accept(kUInt8);
    const int width = cropped ? 60 : 64;
    ASSERT_TRUE(harness.push_caps(video_caps(format, width, 48)));
    const GstPtr<GstBufferPool> pool(gst_buffer_pool_new());
    GstStructure* config = gst_buffer_pool_get_config(pool.get());
    gst_buffer_pool_config_set_params(config, nullptr, 64 * 48 * 3, 1, 1);
    ASSERT_TRUE(gst_buffer_pool_set_config(pool.get(), config));
    ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
    GstBufferPoolAcquireParams no_wait{};
    no_wait.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
    GstBuffer* raw = nullptr;
    ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &raw, &no_wait), GST_FLOW_OK);
    gst_buffer_add_video_meta(raw, GST_VIDEO_FRAME_FLAG_NONE, format.id, 64, 48);
    if (cropped) {
      GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(raw);
      crop->x = 4;
      crop->y = 0;
      crop->width = 60;
      crop->height = 48;
    }
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(raw)), GST_FLOW_OK) << harness.error();
    GstPtr<GstBuffer> view = harness.pull();
    GstBuffer* second = nullptr;
    EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &second, &no_wait), GST_FLOW_EOS);
    view.reset();
    EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &second, &no_wait), GST_FLOW_OK);
    gst_buffer_unref(second);
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
}

TEST(View, RegionsOfInterestPassAndVideoLayoutDoesNotReachConvertedTensors) {
  std::mt19937 random(51);
  const Format& format = format_named("RGB");
  const Frame frame = make_frame(format, 64, 48, 0, 0, random);
  ElementHarness harness("simaaivideototensor");
  ASSERT_TRUE(harness.push_caps(video_caps(format, 64, 48)));
  GstPtr<GstBuffer> input = frame.buffer(true);
  gst_buffer_add_video_region_of_interest_meta(input.get(), "face", 1, 2, 3, 4);
  GST_BUFFER_PTS(input.get()) = 40;
  GST_BUFFER_DURATION(input.get()) = 20;
  ASSERT_EQ(harness.push(std::move(input)), GST_FLOW_OK);
  const GstPtr<GstBuffer> output = harness.pull();
  EXPECT_NE(gst_buffer_get_meta(output.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), nullptr);
  EXPECT_EQ(gst_buffer_get_video_meta(output.get()), nullptr);
  EXPECT_EQ(GST_BUFFER_PTS(output.get()), 40U);
  EXPECT_EQ(GST_BUFFER_DURATION(output.get()), 20U);
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
