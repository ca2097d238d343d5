// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensormux and time: rates, phases, missing and late buffers, gaps, ends, flushes, segments.
#include <gtest/gtest.h>

#include <gst/check/gstharness.h>
#include <gst/check/gsttestclock.h>

#include "mux_harness.h"

namespace {

using namespace simaai::test;
using simaai::gst::GstPtr;
using Numbers = std::vector<std::vector<int>>;

constexpr GstClockTime kMs = GST_MSECOND;

std::vector<Timed> every(GstClockTime step, std::size_t count, GstClockTime from = 0,
                         bool with_duration = true) {
  std::vector<Timed> stream;
  for (std::size_t i = 0; i < count; ++i)
    stream.push_back({from + i * step, with_duration ? step : GST_CLOCK_TIME_NONE});
  return stream;
}

TEST(MuxTime, EqualTimesCombine) {
  for (const bool with_duration : {true, false}) {
    Mux mux(3);
    mux.run({every(40 * kMs, 5, 0, with_duration), every(40 * kMs, 5, 0, with_duration),
             every(40 * kMs, 5, 0, with_duration)});
    EXPECT_EQ(mux.sets(), (Numbers{{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}}));
    EXPECT_EQ(mux.times[3], 120 * kMs);
    EXPECT_EQ(mux.stat("dropped"), 0U);
    EXPECT_EQ(mux.stat("frames"), 5U);
  }
}

TEST(MuxTime, TheSlowestOfTwoRatesDecides) {
  for (const bool with_duration : {true, false}) {
    Mux mux(2);
    mux.run({every(10 * kMs, 10, 0, with_duration), every(30 * kMs, 4, 0, with_duration)});
    EXPECT_EQ(mux.sets(), (Numbers{{0, 0}, {3, 1}, {6, 2}, {9, 3}})) << with_duration;
    EXPECT_EQ(mux.times, (std::vector<GstClockTime>{0, 30 * kMs, 60 * kMs, 90 * kMs}));
    EXPECT_EQ(mux.stat("dropped"), 6U);
    EXPECT_EQ(mux.durations[1], with_duration ? 30 * kMs : GST_CLOCK_TIME_NONE);
  }
}

TEST(MuxTime, TheFramerateStandsInForDurations) {
  Mux mux(2);
  // Both last 40 ms, says the framerate: buffers of the first pad hold when those of the second begin.
  mux.run({every(40 * kMs, 4, 0, false), every(40 * kMs, 4, 15 * kMs, false)}, ",framerate=25/1");
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
  EXPECT_EQ(mux.times[1], 55 * kMs);
}

/// Neither duration nor framerate: the time between buffers stands in, so that out of step is not for ever.
TEST(MuxTime, StreamsOutOfStepCombineAsSoonAsTheirRateIsKnown) {
  Mux mux(2);
  mux.run({every(10 * kMs, 8, 0, false), every(10 * kMs, 8, 5 * kMs, false)});
  const auto sets = mux.sets();
  ASSERT_GE(sets.size(), 6U);
  for (std::size_t i = 0; i < sets.size(); ++i)
    EXPECT_EQ(std::abs(sets[i][0] - sets[i][1]) <= 1 && mux.times[i] % (5 * kMs) == 0, true);
}

TEST(MuxTime, AMissingBufferCostsItsSet) {
  Mux mux(2);
  auto second = every(20 * kMs, 6);
  second.erase(second.begin() + 2);
  mux.run({every(20 * kMs, 6), second});
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0}, {1, 1}, {3, 2}, {4, 3}, {5, 4}}));
  EXPECT_EQ(mux.stat("dropped"), 1U);
}

TEST(MuxTime, BuffersThatNeverOverlapMakeNoSet) {
  Mux mux(2);
  mux.run({every(40 * kMs, 5), {{20 * kMs, 5 * kMs}, {300 * kMs, kMs}}});
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0}}));
}

TEST(MuxTime, WithoutTimesTheNthGoesWithTheNth) {
  Mux mux(2);
  mux.run({std::vector<Timed>(4, Timed{GST_CLOCK_TIME_NONE}),
           std::vector<Timed>(3, Timed{GST_CLOCK_TIME_NONE})});
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0}, {1, 1}, {2, 2}}));
  Mux told(2, false, {{"match-time", "false"}});
  told.run({every(10 * kMs, 4), every(70 * kMs, 4, GST_SECOND)});
  EXPECT_EQ(told.sets(), (Numbers{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
}

TEST(MuxTime, UnmatchedSetsHaveTheTimesOfTheFirstPad) {
  Mux mux(2, false, {{"match-time", "false"}});
  mux.run({every(10 * kMs, 3), every(70 * kMs, 3, GST_SECOND)});
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0}, {1, 1}, {2, 2}}));
  EXPECT_EQ(mux.times, (std::vector<GstClockTime>{0, 10 * kMs, 20 * kMs}));
  EXPECT_EQ(mux.durations, std::vector<GstClockTime>(3, 10 * kMs));
  EXPECT_EQ(mux.stat("dropped"), 0U);
  // Where the first pad has none, the next one that has.
  Mux half(3, false, {{"match-time", "false"}});
  half.run({std::vector<Timed>(2, Timed{GST_CLOCK_TIME_NONE}), every(30 * kMs, 2),
            every(70 * kMs, 2, GST_SECOND)});
  EXPECT_EQ(half.sets(), (Numbers{{0, 0, 0}, {1, 1, 1}}));
  EXPECT_EQ(half.times, (std::vector<GstClockTime>{0, 30 * kMs}));
  EXPECT_EQ(half.durations, std::vector<GstClockTime>(2, 30 * kMs));
}

TEST(MuxTime, UnmatchedTimesAreInTheSegmentOfTheFirstPad) {
  Mux mux(2, false, {{"match-time", "false"}});
  std::thread second([&] {
    mux.in[1]->start(Mux::mark_caps(), 9 * GST_SECOND);
    mux.in[1]->push(Mux::mark(1, 0), 7 * GST_SECOND, 20 * kMs); // outside of its segment: taken
  });
  mux.in[0]->start(Mux::mark_caps(), 5 * GST_SECOND);
  mux.in[0]->push(Mux::mark(0, 0), 6 * GST_SECOND, 20 * kMs);
  const auto set = mux.out->next();
  second.join();
  ASSERT_TRUE(set);
  EXPECT_EQ(GST_BUFFER_PTS(set.get()), 6 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DURATION(set.get()), 20 * kMs);
}

TEST(MuxTime, UnmatchedGapsHaveTheTimesOfTheFirstPad) {
  Mux mux(2, false, {{"match-time", "false"}});
  std::thread other([&] {
    mux.in[1]->start(Mux::mark_caps());
    mux.in[1]->push(Mux::mark(1, 0), 500 * kMs, 20 * kMs);
    mux.in[1]->event(gst_event_new_gap(520 * kMs, 40 * kMs));
    mux.in[1]->push(Mux::mark(1, 1), 560 * kMs, 20 * kMs);
    mux.in[1]->event(gst_event_new_eos());
  });
  mux.in[0]->start(Mux::mark_caps());
  for (std::size_t i = 0; i < 3; ++i)
    mux.in[0]->push(Mux::mark(0, i), i * 20 * kMs, 20 * kMs);
  mux.in[0]->event(gst_event_new_eos());
  EXPECT_TRUE(mux.out->await_event(GST_EVENT_EOS));
  other.join();
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0}, {2, 1}}));
  EXPECT_EQ(mux.times, (std::vector<GstClockTime>{0, 40 * kMs}));
  const std::vector<std::pair<GstClockTime, GstClockTime>> gaps{{20 * kMs, 20 * kMs}};
  EXPECT_EQ(mux.out->gaps(), gaps);
}

TEST(MuxTime, SetsHaveTheFrameNumberOfTheFirstPad) {
  for (const char* match : {"true", "false"}) {
    Mux mux(2, false, {{"match-time", match}});
    const auto feed = [&](std::size_t pad, guint64 offset) {
      mux.in[pad]->start(Mux::mark_caps());
      auto buffer = Mux::mark(pad, 0);
      GST_BUFFER_OFFSET(buffer.get()) = offset;
      GST_BUFFER_OFFSET_END(buffer.get()) = offset + 1;
      mux.in[pad]->push(std::move(buffer), 0, 20 * kMs);
    };
    std::thread second([&] { feed(1, 100); });
    feed(0, 41);
    const auto set = mux.out->next();
    second.join();
    ASSERT_TRUE(set);
    EXPECT_EQ(GST_BUFFER_OFFSET(set.get()), 41U) << match;
    EXPECT_EQ(GST_BUFFER_OFFSET_END(set.get()), 42U) << match;
  }
}

TEST(MuxTime, AGapOfOnePadIsAGapOfTheSet) {
  Mux mux(2);
  std::thread other([&] {
    mux.in[1]->start(Mux::mark_caps());
    mux.in[1]->push(Mux::mark(1, 0), 0, 20 * kMs);
    mux.in[1]->event(gst_event_new_gap(20 * kMs, 40 * kMs));
    mux.in[1]->push(Mux::mark(1, 1), 60 * kMs, 20 * kMs);
    mux.in[1]->event(gst_event_new_eos());
  });
  mux.in[0]->start(Mux::mark_caps());
  for (std::size_t i = 0; i < 4; ++i)
    mux.in[0]->push(Mux::mark(0, i), i * 20 * kMs, 20 * kMs);
  mux.in[0]->event(gst_event_new_eos());
  EXPECT_TRUE(mux.out->await_event(GST_EVENT_EOS));
  other.join();
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0}, {3, 1}}));
  const std::vector<std::pair<GstClockTime, GstClockTime>> gaps{{20 * kMs, 20 * kMs},
                                                                {40 * kMs, 20 * kMs}};
  EXPECT_EQ(mux.out->gaps(), gaps);
  EXPECT_EQ(mux.stat("gaps"), 2U);
}

TEST(MuxTime, TheEndOfOnePadIsTheEnd) {
  Mux mux(2);
  mux.in[0]->start(Mux::mark_caps());
  mux.in[1]->start(Mux::mark_caps());
  std::thread first([&] { mux.in[0]->push(Mux::mark(0, 0), 0, 20 * kMs); });
  mux.in[1]->push(Mux::mark(1, 0), 0, 20 * kMs);
  first.join();
  EXPECT_TRUE(mux.out->next());
  mux.in[1]->event(gst_event_new_eos());
  GstFlowReturn flow = GST_FLOW_OK;
  for (std::size_t i = 1; i < 5 && flow == GST_FLOW_OK; ++i)
    flow = mux.in[0]->push(Mux::mark(0, i), i * 20 * kMs, 20 * kMs);
  EXPECT_EQ(flow, GST_FLOW_EOS);
  EXPECT_TRUE(mux.out->await_event(GST_EVENT_EOS));
}

TEST(MuxTime, FlushStartsOver) {
  Mux mux(2);
  mux.in[0]->start(Mux::mark_caps());
  mux.in[1]->start(Mux::mark_caps());
  std::thread stuck([&] {
    (void)mux.in[0]->push(Mux::mark(0, 7), 0, 20 * kMs);
    (void)mux.in[0]->push(Mux::mark(0, 8), 20 * kMs, 20 * kMs); // until the flush
  });
  g_usleep(20000);
  for (auto& feeder : mux.in)
    feeder->event(gst_event_new_flush_start());
  stuck.join();
  for (auto& feeder : mux.in)
    feeder->event(gst_event_new_flush_stop(TRUE));
  EXPECT_EQ(mux.out->waiting(), 0U);
  mux.run({every(20 * kMs, 3), every(20 * kMs, 3)});
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0}, {1, 1}, {2, 2}}));
}

/// Both pads begin a second into their streams: so do the sets.
TEST(MuxTime, StreamTimeOfTheFirstPadStays) {
  Mux mux(2);
  std::thread second([&] {
    mux.in[1]->start(Mux::mark_caps(), 5 * GST_SECOND);
    mux.in[1]->push(Mux::mark(1, 0), 5 * GST_SECOND, 20 * kMs);
  });
  mux.in[0]->start(Mux::mark_caps(), GST_SECOND);
  mux.in[0]->push(Mux::mark(0, 0), GST_SECOND, 20 * kMs);
  const auto set = mux.out->next();
  second.join();
  ASSERT_TRUE(set);
  EXPECT_EQ(GST_BUFFER_PTS(set.get()), GST_SECOND);
}

TEST(MuxTime, BuffersOutsideTheirSegmentAreDropped) {
  Mux mux(2);
  std::thread second([&] {
    mux.in[1]->start(Mux::mark_caps(), GST_SECOND);
    mux.in[1]->push(Mux::mark(1, 0), 0, 20 * kMs);
    mux.in[1]->push(Mux::mark(1, 1), GST_SECOND, 20 * kMs);
  });
  mux.in[0]->start(Mux::mark_caps());
  mux.in[0]->push(Mux::mark(0, 0), 0, 20 * kMs);
  const auto set = mux.out->next();
  second.join();
  ASSERT_TRUE(set);
  EXPECT_EQ(memory_mark(set.get(), 1), 1);
}

/// A live pad that does not deliver in time costs its sets, and does not stop the others; what comes too late is dropped.
TEST(MuxTime, LivePadsAreWaitedForAsLongAsTheLatencySays) {
  Mux mux(2, true, {{"latency", "50000000"}});
  const GstPtr<GstObject> clock(GST_OBJECT_CAST(gst_test_clock_new()));
  auto* test_clock = GST_TEST_CLOCK(clock.get());
  gst_element_set_clock(mux.element(), GST_CLOCK_CAST(clock.get()));
  gst_element_set_base_time(mux.element(), 0);
  gst_element_set_state(mux.element(), GST_STATE_PLAYING);
  mux.in[0]->start(Mux::mark_caps());
  mux.in[1]->start(Mux::mark_caps());
  const auto push = [&](std::size_t pad, std::size_t number) {
    EXPECT_EQ(mux.in[pad]->push(Mux::mark(pad, number), number * 20 * kMs, 20 * kMs), GST_FLOW_OK);
  };
  const auto pass_deadline = [&] {
    GstClockID id = nullptr;
    gst_test_clock_wait_for_next_pending_id(test_clock, &id);
    gst_test_clock_set_time(test_clock, gst_clock_id_get_time(id));
    const GstClockID done = gst_test_clock_process_next_clock_id(test_clock);
    gst_clock_id_unref(done);
    gst_clock_id_unref(id);
  };
  push(0, 0);
  push(1, 0);
  const auto first = mux.out->next();
  ASSERT_TRUE(first);
  push(0, 1); // the other pad is silent
  pass_deadline();
  ASSERT_TRUE(mux.out->await_event(GST_EVENT_GAP));
  EXPECT_EQ(gst_clock_get_time(GST_CLOCK_CAST(clock.get())), 20 * kMs + 50 * kMs);
  push(1, 1); // too late
  push(0, 2);
  push(1, 2);
  const auto next = mux.out->next();
  ASSERT_TRUE(next);
  EXPECT_EQ(memory_mark(next.get(), 0), 2);
  EXPECT_EQ(memory_mark(next.get(), 1), 2);
  EXPECT_EQ(mux.stat("gaps"), 1U);
  EXPECT_EQ(mux.stat("dropped"), 2U);
}

TEST(MuxTime, LatencyIsThatOfTheSourcesAndTheProperty) {
  Mux mux(2, true, {{"latency", "30000000"}});
  gst_element_set_state(mux.element(), GST_STATE_PLAYING);
  const GstPtr<GstPad> source(gst_element_get_static_pad(mux.element(), "src"));
  const GstPtr<GstQuery> query(gst_query_new_latency());
  ASSERT_TRUE(gst_pad_query(source.get(), query.get()));
  gboolean live = FALSE;
  GstClockTime least = 0;
  gst_query_parse_latency(query.get(), &live, &least, nullptr);
  EXPECT_TRUE(live);
  EXPECT_EQ(least, 30 * kMs);
}

} // namespace
