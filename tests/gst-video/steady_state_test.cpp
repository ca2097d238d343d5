// SPDX-License-Identifier: LGPL-2.1-or-later
// No heap allocation a buffer in the video elements, once the pools have what they need.
#include <thread>

#include <gtest/gtest.h>

#include "frames.h"
#include "harness.h"
#include "support/allocation_counter.h"

namespace {

using namespace simaai;
using namespace simaai::test;

GstFlowReturn drop(GstPad* /*pad*/, GstObject* /*parent*/, GstBuffer* buffer) {
  gst_buffer_unref(buffer);
  return GST_FLOW_OK;
}

/// Pushes the same buffer, which others hold too, and counts allocations after the tenth.
std::uint64_t allocations_of_100(ElementHarness& harness, GstBuffer* buffer) {
  gst_pad_set_chain_function(harness.get()->sinkpad, drop);
  const auto push = [&] {
    return gst_pad_push(harness.get()->srcpad, gst_buffer_ref(buffer)) == GST_FLOW_OK;
  };
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(push()) << harness.error();
  const std::uint64_t before = allocations_of_this_thread();
  bool ok = true;
  for (int i = 0; i < 100; ++i)
    ok = push() && ok;
  const std::uint64_t after = allocations_of_this_thread();
  EXPECT_TRUE(ok);
  return after - before;
}

TEST(SteadyState, TheCounterCounts) {
  const std::uint64_t before = allocations_of_this_thread();
  auto block = std::make_unique<std::vector<int>>(100);
  EXPECT_EQ(block->size(), 100U);
  EXPECT_GE(allocations_of_this_thread() - before, 2U);
}

TEST(SteadyState, VideoToTensorAllocatesNothing) {
  std::mt19937 random(90);
  for (const auto& format : kFormats)
    for (const char* accepted : {"dtype=uint8", "dtype=uint8,layout=contiguous", "dtype=int8",
                                 "dtype=float16", "dtype=bfloat16", "dtype=float32"}) {
      const Frame frame = make_frame(format, 641, 20, 12, 0, random);
      ElementHarness harness("simaaivideototensor");
      harness.accept(std::string("application/vnd.simaai.tensor,") + accepted);
      ASSERT_TRUE(harness.push_caps(video_caps(format, 641, 20)));
      EXPECT_EQ(allocations_of_100(harness, frame.buffer(true).get()), 0U)
          << format.name << " " << accepted;
      EXPECT_EQ(harness.stat("frames"), 110U);
    }
}

TEST(SteadyState, TensorToVideoAllocatesNothing) {
  for (const char* fields :
       {"dtype=uint8,shape=<1,20,640,3>", "dtype=int8,shape=<1,20,641,3>",
        "dtype=float16,shape=<1,3,20,641>", "dtype=float32,shape=<1,20,641,4>"}) {
    ElementHarness harness("simaaitensortovideo");
    ASSERT_TRUE(
        harness.push_caps(std::string("application/vnd.simaai.tensor,layout=contiguous,") + fields))
        << harness.error();
    const GstPtr<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, 4 * 641 * 20 * 4, nullptr));
    gst_buffer_memset(buffer.get(), 0, 0x3f, 4 * 641 * 20 * 4);
    EXPECT_EQ(allocations_of_100(harness, buffer.get()), 0U) << fields;
    EXPECT_EQ(harness.stat("frames"), 110U);
  }
}

/// Answers ALLOCATION with a pool of one buffer.
GstPadProbeReturn propose_one_buffer(GstPad* /*pad*/, GstPadProbeInfo* probe, gpointer /*data*/) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(probe);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  const GstPtr<GstBufferPool> pool(gst_buffer_pool_new());
  gst_query_add_allocation_pool(query, pool.get(), 1, 1, 1);
  return GST_PAD_PROBE_HANDLED;
}

TEST(Lifecycle, NullEndsAWaitForABufferThatTheApplicationHolds) {
  for (const char* factory : {"simaaivideototensor", "simaaitensortovideo"}) {
    const bool forward = std::string(factory) == "simaaivideototensor";
    ElementHarness harness(factory);
    gst_pad_add_probe(harness.get()->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
                      propose_one_buffer, nullptr, nullptr);
    ASSERT_TRUE(
        harness.push_caps(forward ? video_caps(format_named("RGB"), 64, 48)
                                  : "application/vnd.simaai.tensor,dtype=float32,layout=contiguous,"
                                    "shape=<1,48,64,3>"));
    const GstPtr<GstBuffer> input(gst_buffer_new_allocate(nullptr, 64 * 48 * 3 * 4, nullptr));
    gst_buffer_memset(input.get(), 0, 0, 64 * 48 * 3 * 4);
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK);
    const GstPtr<GstBuffer> held = harness.pull();
    ASSERT_NE(held, nullptr);
    GstFlowReturn flow = GST_FLOW_OK;
    std::thread streaming(
        [&] { flow = gst_pad_push(harness.get()->srcpad, gst_buffer_ref(input.get())); });
    g_usleep(50000); // long enough to be waiting; without the wait the test proves less, not wrong
    EXPECT_EQ(gst_element_set_state(harness.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    streaming.join();
    EXPECT_EQ(flow, GST_FLOW_FLUSHING);
    EXPECT_EQ(gst_buffer_n_memory(held.get()), 1U) << "the buffer outlives the state";
  }
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
