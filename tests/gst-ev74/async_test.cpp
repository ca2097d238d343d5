// SPDX-License-Identifier: LGPL-2.1-or-later
// async-depth: outputs that leave when their job ends, order, limits, events, flush, states, failures, latency.
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <simaai/runtime/device.h>

#include "gst/element_harness.h"
#include "gst/tensor_text.h"
#include "runtime/fake_transport.h"
#include "sample.h"
#include "support/eventually.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;
using simaai::runtime::Completion;
using simaai::runtime::JobOutcome;
using simaai::runtime::parked_jobs;
using simaai::runtime::test::FakeDevice;
namespace oracle = simaai::oracle;

GstPtr<GstBuffer> timed(const Sample& sample, GstClockTime pts) {
  auto buffer = fd_buffer(sample.input);
  GST_BUFFER_PTS(buffer.get()) = pts;
  return buffer;
}

/// The next output, as soon as the task has pushed it.
GstPtr<GstBuffer> next(const ElementHarness& harness) {
  return GstPtr<GstBuffer>(gst_harness_pull(harness.get()));
}

/// simaaicast on a device, with jobs in flight.
struct Async : ElementHarness {
  Async(const char* depth, const std::string& device, const char* timeout = "60000")
      : ElementHarness("simaaicast", {{"backend", "ev74"},
                                      {"device", device.c_str()},
                                      {"async-depth", depth},
                                      {"job-timeout", timeout}}) {}
  bool start(const char* framerate = nullptr) {
    std::string caps = caps_of(kInput);
    if (framerate != nullptr)
      caps += std::string(",framerate=") + framerate;
    return send_caps(caps);
  }
  GstFlowReturn push_at(std::uint64_t number) {
    return push(timed(Sample(number), number * GST_SECOND));
  }
  [[nodiscard]] guint waiting() const { return gst_harness_buffers_in_queue(get()); }
  void expect_output(std::uint64_t number, bool bytes = true) {
    const auto output = next(*this);
    ASSERT_TRUE(output) << number;
    EXPECT_EQ(GST_BUFFER_PTS(output.get()), number * GST_SECOND);
    if (bytes) {
      EXPECT_EQ(bytes_of(output.get()), Sample(number).output) << number;
    }
  }
  void flush() {
    ASSERT_TRUE(gst_harness_push_event(get(), gst_event_new_flush_start()));
    ASSERT_TRUE(gst_harness_push_event(get(), gst_event_new_flush_stop(TRUE)));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    ASSERT_TRUE(gst_harness_push_event(get(), gst_event_new_segment(&segment)));
  }
};

TEST(AsyncDepth, OutputLeavesWhenItsJobEndsAndNotWithTheNextInput) {
  // One frame in flight on a source that never sends another one.
  Async harness("4", "model:latency-us=3000");
  ASSERT_TRUE(harness.start());
  ASSERT_EQ(harness.push_at(1), GST_FLOW_OK);
  harness.expect_output(1);
  EXPECT_EQ(harness.stat("frames"), 1U);
  EXPECT_EQ(harness.stat("copies"), 0U);
}

TEST(AsyncDepth, KeepsOrderBytesAndTimesAndDrainsAtTheEnd) {
  for (const char* depth : {"2", "5", "16"}) {
    Async harness(depth, "model:latency-us=300,checking=full");
    ASSERT_TRUE(harness.start());
    for (std::uint64_t number = 1; number <= 40; ++number)
      ASSERT_EQ(harness.push_at(number), GST_FLOW_OK);
    ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_eos()));
    // Nothing is behind the end.
    EXPECT_EQ(harness.waiting(), 40U);
    EXPECT_EQ(harness.stat("in-flight"), 0U);
    for (std::uint64_t number = 1; number <= 40; ++number)
      harness.expect_output(number);
  }
}

TEST(AsyncDepth, OfOtherMemoryIsCopiedIntoAsMuchAsIsInFlight) {
  Async harness("3", "model:latency-us=200");
  ASSERT_TRUE(harness.start());
  for (std::uint64_t number = 1; number <= 30; ++number) {
    auto buffer = buffer_of(Sample(number).input);
    GST_BUFFER_PTS(buffer.get()) = number * GST_SECOND;
    ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
    if (number > 3)
      harness.expect_output(number - 3);
  }
  EXPECT_EQ(harness.stat("copies"), 30U);
  // At most four staged inputs, and outputs that the test and the element hold.
  EXPECT_LE(harness.stat("allocations"), 4U + 8U);
}

TEST(AsyncDepth, BoundsTheJobsInFlightAndKeepsOrderWhereJobsDoNot) {
  FakeDevice fake("async-bounds");
  std::atomic<int> most{0};
  std::atomic<int> flying{0};
  fake.on_submit([&](auto) { most = std::max<int>(most, ++flying); });
  Async harness("2", fake.uri());
  ASSERT_TRUE(harness.start());
  ASSERT_EQ(harness.push_at(1), GST_FLOW_OK);
  ASSERT_EQ(harness.push_at(2), GST_FLOW_OK);
  std::thread upstream([&] { EXPECT_EQ(harness.push_at(3), GST_FLOW_OK); });
  const auto complete = [&](std::size_t index) {
    --flying;
    fake.complete(fake.submitted().at(index).job);
  };
  // The second one is done first: it waits for its turn.
  complete(1);
  EXPECT_EQ(harness.waiting(), 0U);
  complete(0);
  harness.expect_output(1, false);
  harness.expect_output(2, false);
  ASSERT_TRUE(eventually([&] { return fake.submitted().size() == 3; }));
  upstream.join();
  complete(2);
  harness.expect_output(3, false);
  EXPECT_LE(most, 2);
  fake.on_submit({});
}

TEST(AsyncDepth, EventsKeepTheirPlaceAmongBuffers) {
  Async harness("4", "model:latency-us=3000");
  std::mutex mutex;
  std::vector<std::string> seen;
  const auto note = [](GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto& [lock, list] = *static_cast<std::pair<std::mutex&, std::vector<std::string>&>*>(data);
    const std::lock_guard guard(lock);
    if ((GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) != 0)
      list.push_back(std::to_string(GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) / GST_SECOND));
    else
      list.emplace_back(GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info)));
    return GST_PAD_PROBE_OK;
  };
  std::pair<std::mutex&, std::vector<std::string>&> context{mutex, seen};
  ASSERT_TRUE(harness.start());
  const GstPtr<GstPad> pad(gst_element_get_static_pad(harness.element(), "src"));
  gst_pad_add_probe(
      pad.get(),
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
      note, &context, nullptr);
  const auto send = [&](GstEvent* event) {
    ASSERT_TRUE(gst_harness_push_event(harness.get(), event));
  };
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = GST_SECOND;
  ASSERT_EQ(harness.push_at(1), GST_FLOW_OK);
  send(gst_event_new_gap(GST_SECOND, GST_SECOND));
  ASSERT_EQ(harness.push_at(2), GST_FLOW_OK);
  ASSERT_EQ(harness.push_at(3), GST_FLOW_OK);
  send(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "a", nullptr)));
  send(gst_event_new_segment(&segment));
  ASSERT_EQ(harness.push_at(4), GST_FLOW_OK);
  const GstPtr<GstCaps> caps(gst_caps_from_string((caps_of(kInput) + ",tensor-id=b").c_str()));
  send(gst_event_new_caps(caps.get()));
  ASSERT_EQ(harness.push_at(5), GST_FLOW_OK);
  send(gst_event_new_eos());
  const std::lock_guard guard(mutex);
  EXPECT_EQ(seen, (std::vector<std::string>{"1", "gap", "2", "3", "tag", "segment", "4", "caps",
                                            "5", "eos"}));
}

TEST(AsyncDepth, FlushForgetsWhatIsInFlightAndKeepsItsMemory) {
  FakeDevice fake("async-flush");
  Async harness("3", fake.uri());
  ASSERT_TRUE(harness.start());
  ASSERT_EQ(harness.push_at(1), GST_FLOW_OK);
  ASSERT_EQ(harness.push_at(2), GST_FLOW_OK);
  harness.flush();
  EXPECT_EQ(harness.stat("in-flight"), 0U);
  EXPECT_EQ(parked_jobs(fake.uri()), 2U);
  ASSERT_EQ(harness.push_at(3), GST_FLOW_OK);
  for (const auto& submission : fake.submitted())
    fake.complete(submission.job);
  harness.expect_output(3, false);
  EXPECT_EQ(harness.waiting(), 0U);
  EXPECT_TRUE(eventually([&] { return parked_jobs(fake.uri()) == 0; }));
  EXPECT_TRUE(harness.take_errors().empty());
}

TEST(AsyncDepth, FlushEndsAWaitForRoom) {
  FakeDevice fake("async-flush-wait");
  Async harness("2", fake.uri());
  ASSERT_TRUE(harness.start());
  ASSERT_EQ(harness.push_at(1), GST_FLOW_OK);
  ASSERT_EQ(harness.push_at(2), GST_FLOW_OK);
  std::thread upstream([&] { EXPECT_EQ(harness.push_at(3), GST_FLOW_FLUSHING); });
  ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_start()));
  upstream.join();
  ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE)));
  for (const auto& submission : fake.submitted())
    fake.complete(submission.job);
  EXPECT_TRUE(eventually([&] { return parked_jobs(fake.uri()) == 0; }));
}

TEST(AsyncDepth, StateChangesDoNotWaitForJobs) {
  FakeDevice fake("async-states");
  {
    Async harness("3", fake.uri());
    ASSERT_TRUE(harness.start());
    ASSERT_EQ(harness.push_at(1), GST_FLOW_OK);
    ASSERT_EQ(harness.push_at(2), GST_FLOW_OK);
    EXPECT_EQ(gst_element_set_state(harness.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(parked_jobs(fake.uri()), 2U);
    // Up again among them: they keep their own buffers.
    ASSERT_NE(gst_element_set_state(harness.element(), GST_STATE_PLAYING),
              GST_STATE_CHANGE_FAILURE);
    ASSERT_TRUE(harness.start());
    ASSERT_EQ(harness.push_at(3), GST_FLOW_OK);
    ASSERT_EQ(fake.submitted().size(), 3U);
    for (const auto& submission : fake.submitted())
      fake.complete(submission.job);
    harness.expect_output(3, false);
    EXPECT_TRUE(eventually([&] { return parked_jobs(fake.uri()) == 0; }));
    EXPECT_TRUE(harness.take_errors().empty());
  }
  for (int round = 0; round < 50; ++round) {
    Async harness("3", "model:latency-us=100,seed=5");
    ASSERT_TRUE(harness.start());
    for (std::uint64_t number = 0; number < static_cast<std::uint64_t>(round) % 6; ++number)
      ASSERT_EQ(harness.push_at(number), GST_FLOW_OK);
  }
}

TEST(AsyncDepth, FailureOfAJobStopsTheStreamOnce) {
  FakeDevice fake("async-failure");
  Async harness("3", fake.uri());
  ASSERT_TRUE(harness.start());
  ASSERT_EQ(harness.push_at(1), GST_FLOW_OK);
  ASSERT_EQ(harness.push_at(2), GST_FLOW_OK);
  fake.complete(Completion{fake.submitted().at(0).job, JobOutcome::Fault, 0, 1, {}});
  ASSERT_TRUE(eventually([&] { return harness.push_at(3) == GST_FLOW_ERROR; }));
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"operation", "1 cast", fake.uri()})) << errors[0];
  EXPECT_EQ(harness.waiting(), 0U);
  for (const auto& submission : fake.submitted())
    fake.complete(submission.job);
  EXPECT_TRUE(eventually([&] { return parked_jobs(fake.uri()) == 0; }));
}

TEST(AsyncDepth, TimeoutOfAJobStopsTheStream) {
  FakeDevice fake("async-timeout");
  Async harness("2", fake.uri(), "1");
  ASSERT_TRUE(harness.start());
  ASSERT_EQ(harness.push_at(1), GST_FLOW_OK);
  ASSERT_TRUE(eventually([&] { return harness.push_at(2) == GST_FLOW_ERROR; }));
  EXPECT_TRUE(mentions(harness.take_errors().at(0), {"did not retire", fake.uri()}));
  for (const auto& submission : fake.submitted())
    fake.complete(submission.job);
  EXPECT_TRUE(eventually([&] { return parked_jobs(fake.uri()) == 0; }));
}

TEST(AsyncDepth, ReturnsWhatDownstreamSaidUntilANewSegment) {
  Async harness("2", "model:latency-us=200,seed=6");
  ASSERT_TRUE(harness.start());
  static std::atomic<GstFlowReturn> answer;
  answer = GST_FLOW_EOS;
  gst_pad_set_chain_function(harness.get()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
    gst_buffer_unref(buffer);
    return answer.load();
  });
  ASSERT_TRUE(eventually([&] { return harness.push_at(1) == GST_FLOW_EOS; }));
  answer = GST_FLOW_OK;
  EXPECT_EQ(harness.push_at(2), GST_FLOW_EOS);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  ASSERT_TRUE(gst_harness_push_event(harness.get(), gst_event_new_segment(&segment)));
  EXPECT_EQ(harness.push_at(3), GST_FLOW_OK);
  // At the end nobody asks for another buffer: the failure is an error of its own.
  answer = GST_FLOW_NOT_LINKED;
  ASSERT_TRUE(eventually([&] { return harness.push_at(4) == GST_FLOW_NOT_LINKED; }));
  EXPECT_TRUE(harness.take_errors().empty());
  (void)gst_harness_push_event(harness.get(), gst_event_new_eos());
  EXPECT_EQ(harness.take_errors().size(), 1U);
}

TEST(AsyncDepth, MarksTheOutputAfterADroppedBuffer) {
  Async harness("3", "model:seed=8");
  ASSERT_TRUE(harness.start());
  const auto is_discont = [&](std::uint64_t number) {
    EXPECT_EQ(harness.push_at(number), GST_FLOW_OK);
    const auto output = next(harness);
    return output && GST_BUFFER_FLAG_IS_SET(output.get(), GST_BUFFER_FLAG_DISCONT);
  };
  (void)is_discont(1);
  EXPECT_FALSE(is_discont(2));
  gst_harness_push_upstream_event(
      harness.get(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2.0, GST_SECOND, 3 * GST_SECOND));
  EXPECT_EQ(harness.push_at(3), GST_FLOW_OK); // late: dropped
  EXPECT_TRUE(is_discont(10));
  EXPECT_FALSE(is_discont(11));
  EXPECT_EQ(harness.stat("frames"), 4U);
}

TEST(AsyncDepth, TellsItsLatencyOnceItIsKnown) {
  Async harness("3", "model:latency-us=5000,seed=9");
  gst_harness_set_upstream_latency(harness.get(), 7 * GST_MSECOND);
  ASSERT_TRUE(harness.start("10/1"));
  const auto latency = [&] {
    const GstPtr<GstQuery> query(gst_query_new_latency());
    const GstPtr<GstPad> pad(gst_element_get_static_pad(harness.element(), "src"));
    EXPECT_TRUE(gst_pad_query(pad.get(), query.get()));
    std::pair<GstClockTime, GstClockTime> answer;
    gst_query_parse_latency(query.get(), nullptr, &answer.first, &answer.second);
    return answer;
  };
  const auto [least_before, most_before] = latency();
  EXPECT_EQ(least_before, 7 * GST_MSECOND);
  (void)harness.take_messages();
  ASSERT_EQ(harness.push_at(1), GST_FLOW_OK);
  harness.expect_output(1);
  const auto [least, most] = latency();
  EXPECT_GE(least, (7 + 5) * GST_MSECOND);
  if (GST_CLOCK_TIME_IS_VALID(most_before)) {
    // Three frames of 100 ms may be inside.
    EXPECT_GE(most, most_before + 300 * GST_MSECOND);
  }
  bool told = false;
  for (const auto& message : harness.take_messages())
    told = told || GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_LATENCY;
  EXPECT_TRUE(told);
}

TEST(Jobs, ThatFindTheDeviceFullAreSubmittedLater) {
  FakeDevice fake("async-full");
  for (const char* depth : {"1", "3"}) {
    Async harness(depth, fake.uri());
    ASSERT_TRUE(harness.start());
    simaai::runtime::Error full;
    full.code = simaai::runtime::ErrorCode::QueueFull;
    fake.refuse_with(full);
    fake.on_submit([&](simaai::runtime::JobId job) { fake.complete(job); });
    std::thread other([&] { fake.accept_again(); });
    EXPECT_EQ(harness.push_at(1), GST_FLOW_OK);
    other.join();
    harness.expect_output(1, false);
    EXPECT_TRUE(harness.take_errors().empty());
    fake.on_submit({});
  }
}

TEST(Jobs, TellWhenTheLastOneRan) {
  for (const Properties& properties :
       {Properties{{"backend", "a65"}}, Properties{{"backend", "ev74"}},
        Properties{{"backend", "ev74"}, {"async-depth", "2"}}}) {
    ElementHarness harness("simaaicast", properties);
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    ASSERT_EQ(harness.push(timed(Sample(1), 5 * GST_SECOND)), GST_FLOW_OK);
    ASSERT_EQ(bytes_of(next(harness).get()), Sample(1).output);
    EXPECT_EQ(harness.stat("last-pts"), 5 * GST_SECOND);
    EXPECT_NE(harness.stat("last-submit-ns"), 0U);
    EXPECT_LE(harness.stat("last-submit-ns"), harness.stat("last-start-ns"));
    EXPECT_LE(harness.stat("last-start-ns"), harness.stat("last-done-ns"));
    EXPECT_LE(harness.stat("last-done-ns"), harness.stat("last-retire-ns"));
    EXPECT_NE(harness.stat("device-p50-ns"), 0U);
  }
}

TEST(AsyncDepth, IsOneOnTheHostCpu) {
  ElementHarness harness("simaaicast", {{"backend", "a65"}, {"async-depth", "4"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  ASSERT_EQ(harness.push(buffer_of(Sample(1).input)), GST_FLOW_OK);
  // The output left on this thread.
  EXPECT_EQ(gst_harness_buffers_in_queue(harness.get()), 1U);
  EXPECT_EQ(harness.pull(), Sample(1).output);
}

} // namespace
