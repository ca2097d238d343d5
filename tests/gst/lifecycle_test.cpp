// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps changes, flushes, EOS, state cycles, pools that run dry.
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/gstsimaaitensorpool.h"
#include "element_harness.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "tensor_text.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;
namespace oracle = simaai::oracle;

Bytes cast_input(const Shape& shape, std::uint64_t seed) {
  return physical(oracle::random_tensor(shape, DType::Float32, seed), Contiguous{});
}

Bytes cast_output(const Shape& shape, std::uint64_t seed) {
  return physical(
      oracle::convert(oracle::random_tensor(shape, DType::Float32, seed), DType::BFloat16),
      Contiguous{});
}

TEST(Lifecycle, CapsChangeWhilePlaying) {
  ElementHarness harness("simaaicast");
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Shape shape{3, static_cast<std::int64_t>(7 * seed)};
    ASSERT_TRUE(harness.send_caps(caps_of({shape, DType::Float32})));
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(harness.push(cast_input(shape, seed)), GST_FLOW_OK);
      EXPECT_EQ(harness.pull(), cast_output(shape, seed));
    }
  }
  EXPECT_EQ(harness.stat("frames"), 18u);
}

TEST(Lifecycle, DownstreamRenegotiation) {
  ElementHarness harness("simaaicasttess");
  const Shape shape{4, 17};
  const TensorSpec compact{shape, DType::BFloat16,
                           tiled({-1, -1, 0, 1}, {1, 1, 4, 16}, ChannelStorage::Compact)};
  const auto source = oracle::random_tensor(shape, DType::Float32, 3);
  ASSERT_TRUE(harness.send_caps(caps_of({shape, DType::Float32})));
  ASSERT_EQ(harness.push(physical(source, Contiguous{})), GST_FLOW_OK);
  harness.pull();
  harness.accept_downstream(caps_of(compact).c_str());
  gst_harness_push_upstream_event(harness.get(), gst_event_new_reconfigure());
  ASSERT_EQ(harness.push(physical(source, Contiguous{})), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), physical(oracle::convert(source, DType::BFloat16), compact.layout));
}

TEST(Lifecycle, RefusedRenegotiationSaysWhy) {
  ElementHarness harness("simaaicasttess");
  ASSERT_TRUE(harness.send_caps(caps_of({{4, 17}, DType::Float32})));
  ASSERT_EQ(harness.push(cast_input({4, 17}, 1)), GST_FLOW_OK);
  harness.accept_downstream("application/vnd.simaai.tensor,layout=contiguous");
  gst_harness_push_upstream_event(harness.get(), gst_event_new_reconfigure());
  EXPECT_EQ(harness.push(cast_input({4, 17}, 1)), GST_FLOW_NOT_NEGOTIATED);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(mentions(errors[0], {"downstream wants contiguous"})) << errors[0];
}

TEST(Lifecycle, LateBuffersAreDroppedUnlessQosIsOff) {
  const Shape shape{1, 2, 2, 16};
  const TensorSpec linear{shape, DType::BFloat16};
  const TensorSpec tiles{shape, DType::BFloat16,
                         tiled({-1, 1, 2, 3}, {1, 2, 2, 16}, ChannelStorage::Compact)};
  const auto tensor = oracle::random_tensor(shape, DType::BFloat16, 9);
  for (const char* factory :
       {"simaaicast", "simaaitess", "simaaicasttess", "simaaidetess", "simaaidetesscast"})
    for (const bool off : {false, true}) {
      SCOPED_TRACE(std::string(factory) + (off ? " qos=false" : ""));
      std::vector<std::pair<const char*, const char*>> properties;
      if (off)
        properties.emplace_back("qos", "false");
      ElementHarness harness(factory, properties);
      const bool reads_tiles = std::string(factory).starts_with("simaaide");
      const TensorSpec& spec = reads_tiles ? tiles : linear;
      ASSERT_TRUE(harness.send_caps(caps_of(spec)));
      const auto push_at = [&](GstClockTime time) {
        GstPtr<GstBuffer> buffer = buffer_of(physical(tensor, spec.layout));
        GST_BUFFER_PTS(buffer.get()) = time;
        return harness.push(std::move(buffer));
      };
      gst_harness_push_upstream_event(
          harness.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, 0, GST_SECOND));
      EXPECT_EQ(push_at(0), GST_FLOW_OK);
      EXPECT_EQ(harness.pull().empty(), !off);
      EXPECT_EQ(push_at(2 * GST_SECOND), GST_FLOW_OK);
      EXPECT_FALSE(harness.pull().empty());
      EXPECT_EQ(harness.stat("frames"), off ? 2U : 1U);
    }
}

TEST(Lifecycle, FlushAndEndOfStream) {
  ElementHarness harness("simaaicast");
  const Shape shape{5};
  ASSERT_TRUE(harness.send_caps(caps_of({shape, DType::Float32})));
  ASSERT_EQ(harness.push(cast_input(shape, 1)), GST_FLOW_OK);
  ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_start()));
  EXPECT_EQ(harness.push(cast_input(shape, 1)), GST_FLOW_FLUSHING);
  ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness.get(), gst_event_new_segment(&segment));
  harness.pull();
  for (std::uint64_t seed = 2; seed < 5; ++seed) {
    ASSERT_EQ(harness.push(cast_input(shape, seed)), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), cast_output(shape, seed));
  }
  ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
  EXPECT_EQ(harness.push(cast_input(shape, 1)), GST_FLOW_EOS);
  bool saw_eos = false;
  while (GstEvent* event = gst_harness_try_pull_event(harness.get())) {
    const GstPtr<GstEvent> owned(event);
    saw_eos |= GST_EVENT_TYPE(event) == GST_EVENT_EOS;
  }
  EXPECT_TRUE(saw_eos);
}

TEST(Lifecycle, BuffersOutliveTheElement) {
  GstPtr<GstBuffer> kept;
  {
    ElementHarness harness("simaaicast");
    ASSERT_TRUE(harness.send_caps(caps_of({{9}, DType::Float32})));
    ASSERT_EQ(harness.push(cast_input({9}, 4)), GST_FLOW_OK);
    kept = harness.pull_buffer();
    gst_element_set_state(harness.element(), GST_STATE_NULL);
  }
  EXPECT_EQ(bytes_of(kept.get()), cast_output({9}, 4));
}

/// Errors on the bus that come from other elements than the source; empties the bus. A source whose
/// pipeline stops while caps travel reports not-negotiated, with the elements of GStreamer itself
/// as with ours.
std::vector<std::string> errors_of_elements(GstElement* pipeline) {
  const GstPtr<GstBus> bus(gst_element_get_bus(pipeline));
  std::vector<std::string> errors;
  while (GstMessage* raw = gst_bus_pop(bus.get())) {
    const GstPtr<GstMessage> message(raw);
    if (GST_MESSAGE_TYPE(raw) == GST_MESSAGE_ERROR &&
        !g_str_has_prefix(GST_MESSAGE_SRC_NAME(raw), "fakesrc"))
      errors.push_back(error_text(raw));
  }
  return errors;
}

/// Runs the pipeline until a message arrives: EOS, an error, or null after a minute.
GstPtr<GstMessage> run_to_end(GstElement* pipeline) {
  const GstPtr<GstBus> bus(gst_element_get_bus(pipeline));
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  return GstPtr<GstMessage>(
      gst_bus_timed_pop_filtered(bus.get(), 60 * GST_SECOND,
                                 static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
}

GstPtr<GstElement> launch(const char* description) {
  GError* raw = nullptr;
  GstElement* pipeline = gst_parse_launch(description, &raw);
  const GstPtr<GError> error(raw);
  if (error)
    g_error("%s", error->message);
  return GstPtr<GstElement>(GST_ELEMENT(gst_object_ref_sink(pipeline)));
}

constexpr const char* kChain =
    "fakesrc num-buffers=5 sizetype=fixed sizemax=1440 filltype=random ! "
    "application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<1,5,6,12> ! "
    "simaaicasttess ! simaaidetess ! simaaitess channel-storage=compact ! simaaidetesscast ! "
    "simaaicast ! fakesink sync=false";

TEST(Lifecycle, TwoHundredStateCycles) {
  const auto pipeline = launch(kChain);
  g_object_set(pipeline.get(), "auto-flush-bus", FALSE, nullptr);
  for (int cycle = 0; cycle < 200; ++cycle) {
    if (cycle % 3 == 0) {
      const auto message = run_to_end(pipeline.get());
      ASSERT_NE(message, nullptr) << "cycle " << cycle;
      ASSERT_EQ(GST_MESSAGE_TYPE(message.get()), GST_MESSAGE_EOS)
          << "cycle " << cycle << ": " << error_text(message.get());
    } else {
      // Down again at once, with buffers in flight.
      gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
    }
    ASSERT_EQ(
        gst_element_set_state(pipeline.get(), cycle % 2 == 0 ? GST_STATE_NULL : GST_STATE_READY),
        GST_STATE_CHANGE_SUCCESS);
    ASSERT_EQ(errors_of_elements(pipeline.get()), std::vector<std::string>{}) << "cycle " << cycle;
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  // Messages that stay on the bus keep the pipeline, which keeps the bus.
  const GstPtr<GstBus> bus(gst_element_get_bus(pipeline.get()));
  gst_bus_set_flushing(bus.get(), TRUE);
}

/// A downstream whose pool holds two buffers, and which gives none of them back.
class DryPool {
public:
  DryPool() : harness_("simaaicast"), pool_(simaai::gst::new_tensor_pool()) {
    const GstPtr<GstCaps> caps(gst_caps_from_string("application/vnd.simaai.tensor"));
    EXPECT_TRUE(simaai::gst::configure_pool(pool_.get(), caps.get(), 18, 2, 2));
    gst_pad_set_query_function_full(harness_.get()->sinkpad, answer, pool_.get(), nullptr);
    EXPECT_TRUE(harness_.send_caps(caps_of({{9}, DType::Float32})));
    for (auto& buffer : held_) {
      EXPECT_EQ(harness_.push(cast_input({9}, 1)), GST_FLOW_OK);
      buffer = harness_.pull_buffer();
    }
  }

  ElementHarness& harness() { return harness_; }
  GstBufferPool* pool() { return pool_.get(); }
  void give_back() { held_[0].reset(); }

  /// Pushes from another thread and waits until that thread is about to push.
  std::thread start_push(GstFlowReturn& flow) {
    std::thread pusher([this, &flow] {
      started_ = true;
      flow = harness_.push(cast_input({9}, 2));
    });
    while (!started_)
      std::this_thread::yield();
    // The push needs no time limit: whether it waits already or not, the outcome is the same.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return pusher;
  }

private:
  static gboolean answer(GstPad* pad, GstObject* parent, GstQuery* query) {
    if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
      return gst_pad_query_default(pad, parent, query);
    auto* pool = static_cast<GstBufferPool*>(GST_PAD_CAST(pad)->querydata);
    gst_query_add_allocation_pool(query, pool, 18, 2, 2);
    return TRUE;
  }

  ElementHarness harness_;
  GstPtr<GstBufferPool> pool_;
  std::array<GstPtr<GstBuffer>, 2> held_;
  std::atomic<bool> started_{false};
};

TEST(PoolExhaustion, ReturnedBufferContinues) {
  DryPool dry;
  GstFlowReturn flow = GST_FLOW_CUSTOM_ERROR;
  std::thread pusher = dry.start_push(flow);
  dry.give_back();
  pusher.join();
  EXPECT_EQ(flow, GST_FLOW_OK);
  EXPECT_EQ(dry.harness().pull(), cast_output({9}, 2));
  EXPECT_EQ(simaai::gst::pool_allocations(dry.pool()), 2u) << "the downstream pool was used";
}

TEST(PoolExhaustion, FlushEndsTheWait) {
  DryPool dry;
  GstFlowReturn flow = GST_FLOW_CUSTOM_ERROR;
  std::thread pusher = dry.start_push(flow);
  gst_harness_push_event(dry.harness().get(), gst_event_new_flush_start());
  pusher.join();
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
  gst_harness_push_event(dry.harness().get(), gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(dry.harness().get(), gst_event_new_segment(&segment));
  dry.give_back();
  EXPECT_EQ(dry.harness().push(cast_input({9}, 5)), GST_FLOW_OK);
  EXPECT_TRUE(dry.harness().take_errors().empty());
}

TEST(PoolExhaustion, NullEndsTheWait) {
  DryPool dry;
  GstFlowReturn flow = GST_FLOW_CUSTOM_ERROR;
  std::thread pusher = dry.start_push(flow);
  EXPECT_EQ(gst_element_set_state(dry.harness().element(), GST_STATE_NULL),
            GST_STATE_CHANGE_SUCCESS);
  pusher.join();
  EXPECT_EQ(flow, GST_FLOW_FLUSHING);
}

TEST(TensorPool, HandsOutTheBufferReturnedLast) {
  const auto pool = simaai::gst::new_tensor_pool();
  const GstPtr<GstCaps> caps(gst_caps_from_string("application/vnd.simaai.tensor"));
  ASSERT_TRUE(simaai::gst::configure_pool(pool.get(), caps.get(), 100, 1, 0));
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  std::array<GstBuffer*, 3> taken{};
  for (auto& buffer : taken)
    ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
  EXPECT_EQ(simaai::gst::pool_allocations(pool.get()), 3u);
  for (GstBuffer* buffer : taken)
    gst_buffer_unref(buffer);
  GstBuffer* next = nullptr;
  ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &next, nullptr), GST_FLOW_OK);
  EXPECT_EQ(next, taken[2]);
  gst_buffer_unref(next);
  EXPECT_EQ(simaai::gst::pool_allocations(pool.get()), 3u);
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), FALSE));
}

TEST(TensorPool, BufferWhoseMemoryWasTakenIsReplaced) {
  const auto pool = simaai::gst::new_tensor_pool();
  const GstPtr<GstCaps> caps(gst_caps_from_string("application/vnd.simaai.tensor"));
  ASSERT_TRUE(simaai::gst::configure_pool(pool.get(), caps.get(), 100, 1, 1));
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  for (int round = 0; round < 3; ++round) {
    GstBuffer* buffer = nullptr;
    ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
    EXPECT_EQ(gst_buffer_get_size(buffer), 100u);
    gst_buffer_remove_all_memory(buffer);
    gst_buffer_unref(buffer);
  }
  GstBufferPoolAcquireParams params{};
  params.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  GstBuffer* first = nullptr;
  GstBuffer* second = nullptr;
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &first, &params), GST_FLOW_OK);
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &second, &params), GST_FLOW_EOS);
  gst_buffer_unref(first);
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), FALSE));
}

} // namespace
