// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits of the output pool, and a consumer that keeps everything: a message, and ways out of the wait.
#include <array>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "element_harness.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "tensor_text.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;
namespace oracle = simaai::oracle;

constexpr GstClockTime kPatience = 10 * GST_SECOND;

const TensorSpec kInput{{9}, DType::Float32};

Bytes input(std::uint64_t seed) {
  return physical(oracle::random_tensor(kInput.shape, kInput.dtype, seed), Contiguous{});
}

Bytes output(std::uint64_t seed) {
  return physical(
      oracle::convert(oracle::random_tensor(kInput.shape, kInput.dtype, seed), DType::BFloat16),
      Contiguous{});
}

/// simaaicast with at most two output buffers, both of which its consumer keeps.
struct Starved : ElementHarness {
  explicit Starved(const char* backend = "a65", const char* depth = "1")
      : ElementHarness("simaaicast",
                       {{"max-buffers", "2"}, {"backend", backend}, {"async-depth", depth}}) {
    EXPECT_TRUE(send_caps(caps_of(kInput)));
    (void)take_messages();
    for (auto& buffer : held) {
      EXPECT_EQ(push(input(1)), GST_FLOW_OK);
      buffer.reset(gst_harness_pull(get()));
    }
  }
  /// The buffers of the message that says that the element waits; 0 where none comes.
  [[nodiscard]] guint await_notice() {
    const GstPtr<GstBus> bus(gst_element_get_bus(element()));
    while (true) {
      const GstPtr<GstMessage> message(
          gst_bus_timed_pop_filtered(bus.get(), kPatience, GST_MESSAGE_ELEMENT));
      if (message == nullptr)
        return 0;
      const GstStructure* structure = gst_message_get_structure(message.get());
      guint buffers = 0;
      if (gst_structure_has_name(structure, "simaai-pool-wait") &&
          gst_structure_get_uint(structure, "buffers", &buffers))
        return buffers;
    }
  }
  std::array<GstPtr<GstBuffer>, 2> held;
};

TEST(PoolLimits, AWaitIsAnnouncedAndEndsWithABuffer) {
  for (const char* backend : {"a65", "ev74"}) {
    Starved cast(backend);
    GstFlowReturn flow = GST_FLOW_CUSTOM_ERROR;
    std::thread pusher([&] { flow = cast.push(input(2)); });
    EXPECT_EQ(cast.await_notice(), 2U);
    cast.held[0].reset();
    pusher.join();
    EXPECT_EQ(flow, GST_FLOW_OK);
    EXPECT_EQ(cast.pull(), output(2));
    // On the device one block for inputs that have to be copied.
    EXPECT_EQ(cast.stat("allocations"), cast.stat("copies") == 0 ? 2U : 3U);
  }
}

TEST(PoolLimits, AWaitIsAnnouncedOnceUntilABufferWasThere) {
  Starved cast;
  for (int round = 0; round < 2; ++round) {
    std::thread pusher([&] { EXPECT_EQ(cast.push(input(2)), GST_FLOW_OK); });
    EXPECT_EQ(cast.await_notice(), 2U);
    cast.held[0].reset();
    pusher.join();
    cast.held[0] = cast.pull_buffer();
    cast.held[0].reset(); // a buffer is there: the next wait is news
    EXPECT_EQ(cast.push(input(3)), GST_FLOW_OK);
    cast.held[0] = cast.pull_buffer();
  }
}

TEST(PoolLimits, FlushAndStatesEndTheWait) {
  enum class End { Flush, Ready, Null };
  for (const char* depth : {"1", "4"})
    for (const End end : {End::Flush, End::Ready, End::Null}) {
      Starved cast("ev74", depth);
      GstFlowReturn flow = GST_FLOW_CUSTOM_ERROR;
      std::thread pusher([&] { flow = cast.push(input(2)); });
      EXPECT_EQ(cast.await_notice(), 2U);
      if (end == End::Flush)
        gst_harness_push_event(cast.get(), gst_event_new_flush_start());
      else
        gst_element_set_state(cast.element(), end == End::Ready ? GST_STATE_READY : GST_STATE_NULL);
      pusher.join();
      EXPECT_EQ(flow, GST_FLOW_FLUSHING);
      if (end != End::Flush)
        continue;
      gst_harness_push_event(cast.get(), gst_event_new_flush_stop(TRUE));
      GstSegment segment;
      gst_segment_init(&segment, GST_FORMAT_TIME);
      gst_harness_push_event(cast.get(), gst_event_new_segment(&segment));
      cast.held[0].reset();
      EXPECT_EQ(cast.push(input(5)), GST_FLOW_OK);
      const GstPtr<GstBuffer> next(gst_harness_pull(cast.get()));
      EXPECT_EQ(bytes_of(next.get()), output(5));
      EXPECT_TRUE(cast.take_errors().empty());
    }
}

/// A consumer that keeps a memory and lets its buffer go holds the element up just the same.
TEST(PoolLimits, MemoriesThatAreKeptCount) {
  ElementHarness cast("simaaicast", {{"max-buffers", "1"}});
  ASSERT_TRUE(cast.send_caps(caps_of(kInput)));
  ASSERT_EQ(cast.push(input(1)), GST_FLOW_OK);
  GstPtr<GstBuffer> holder(gst_buffer_new());
  gst_buffer_append_memory(holder.get(), gst_buffer_get_memory(cast.pull_buffer().get(), 0));
  GstFlowReturn flow = GST_FLOW_CUSTOM_ERROR;
  std::thread pusher([&] { flow = cast.push(input(2)); });
  const GstPtr<GstBus> bus(gst_element_get_bus(cast.element()));
  bool told = false;
  while (!told) {
    const GstPtr<GstMessage> message(
        gst_bus_timed_pop_filtered(bus.get(), kPatience, GST_MESSAGE_ELEMENT));
    ASSERT_TRUE(message);
    told = gst_structure_has_name(gst_message_get_structure(message.get()), "simaai-pool-wait");
  }
  EXPECT_EQ(bytes_of(holder.get()), output(1));
  holder.reset();
  pusher.join();
  EXPECT_EQ(flow, GST_FLOW_OK);
  EXPECT_EQ(cast.pull(), output(2));
  EXPECT_EQ(cast.stat("allocations"), 1U);
}

TEST(PoolLimits, LeastBuffersAreAllocatedBeforehand) {
  ElementHarness cast("simaaicast", {{"min-buffers", "5"}, {"max-buffers", "5"}});
  ASSERT_TRUE(cast.send_caps(caps_of(kInput)));
  std::vector<GstPtr<GstBuffer>> held;
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(cast.push(input(1)), GST_FLOW_OK);
    EXPECT_EQ(cast.stat("allocations"), 5U);
    held.push_back(cast.pull_buffer());
  }
}

TEST(PoolLimits, ThatContradictEachOtherAreRefused) {
  GstPtr<GstElement> cast(gst_element_factory_make("simaaicast", nullptr));
  gst_object_ref_sink(cast.get());
  g_object_set(cast.get(), "min-buffers", 5, "max-buffers", 4, nullptr);
  const GstPtr<GstBus> bus(gst_bus_new());
  gst_element_set_bus(cast.get(), bus.get());
  EXPECT_EQ(gst_element_set_state(cast.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  const GstPtr<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  ASSERT_TRUE(message);
  const std::string error = error_text(message.get());
  EXPECT_TRUE(mentions(error, {"max-buffers is 4", "at least 5", "min-buffers"})) << error;
  gst_element_set_state(cast.get(), GST_STATE_NULL);
  gst_element_set_bus(cast.get(), nullptr);
}

} // namespace
