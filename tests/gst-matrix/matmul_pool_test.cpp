// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaimatmul and pools: a consumer that keeps every buffer, and DMA-BUFs.
#include <array>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include <gst/allocators/gstdmabuf.h>

#include "common/fd_memory.h"
#include "common/gstsimaaitensorpool.h"
#include "gst/element_harness.h"
#include "gst/tensor_text.h"
#include "weights.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;

const TensorSpec kInput{{4, 17}, DType::Int8};

/// A downstream whose pool has two buffers, both of which it keeps.
struct Starved {
  Starved()
      : file(reference::wire(reference::Random(5).rows(3, 17))),
        harness("simaaimatmul", {{"weights", file.path().c_str()}}),
        pool(simaai::gst::new_tensor_pool()) {
    gst_pad_set_query_function_full(harness.get()->sinkpad, answer, pool.get(), nullptr);
    EXPECT_TRUE(harness.send_caps(caps_of(kInput)));
    for (auto& buffer : held) {
      EXPECT_EQ(harness.push(Bytes(68)), GST_FLOW_OK);
      buffer = harness.pull_buffer();
    }
  }
  static gboolean answer(GstPad* pad, GstObject* parent, GstQuery* query) {
    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
      return gst_pad_query_default(pad, parent, query);
    gst_query_add_allocation_pool(query, static_cast<GstBufferPool*>(pad->querydata), 48, 2, 2);
    return TRUE;
  }
  /// Pushes from another thread and waits until that is likely to wait: the outcome is the same where it does not yet.
  std::thread push(GstFlowReturn& flow) {
    std::thread pusher([this, &flow] { flow = harness.push(Bytes(68)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return pusher;
  }

  TemporaryFile file;
  ElementHarness harness;
  GstPtr<GstBufferPool> pool;
  std::array<GstPtr<GstBuffer>, 2> held;
};

TEST(MatmulPool, FlushAndStatesEndTheWait) {
  for (const bool flush : {true, false}) {
    Starved dry;
    GstFlowReturn flow = GST_FLOW_CUSTOM_ERROR;
    std::thread pusher = dry.push(flow);
    if (flush)
      gst_harness_push_event(dry.harness.get(), gst_event_new_flush_start());
    else
      gst_element_set_state(dry.harness.element(), GST_STATE_NULL);
    pusher.join();
    EXPECT_EQ(flow, GST_FLOW_FLUSHING);
    if (!flush)
      continue;
    gst_harness_push_event(dry.harness.get(), gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(dry.harness.get(), gst_event_new_segment(&segment));
    dry.held[0].reset();
    EXPECT_EQ(dry.harness.push(Bytes(68)), GST_FLOW_OK);
  }
}

/// Where this machine has a source of DMA-BUFs; the refusal elsewhere names the memory.
TEST(MatmulPool, DmaBufsAreOfferedWhereThereIsASourceOfThem) {
  const TemporaryFile file{reference::wire(reference::Random(5).rows(3, 17))};
  ElementHarness harness("simaaimatmul", {{"weights", file.path().c_str()}});
  harness.accept_downstream("application/vnd.simaai.tensor(memory:DMABuf)");
  if (!simaai::gst::gives_dma_bufs(simaai::gst::new_fd_allocator().get())) {
    EXPECT_FALSE(harness.send_caps(caps_of(kInput)));
    const auto errors = harness.take_errors();
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_TRUE(mentions(errors[0], {"memory:DMABuf"})) << errors[0];
    return;
  }
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  EXPECT_TRUE(mentions(harness.output_caps(), {"(memory:DMABuf)"}));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(harness.push(Bytes(68)), GST_FLOW_OK);
    const auto buffer = harness.pull_buffer();
    EXPECT_TRUE(gst_is_dmabuf_memory(gst_buffer_peek_memory(buffer.get(), 0)));
  }
}

} // namespace
