// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensormux at other rates than 1, backwards too, and gaps at each. Every set says of which times its tensors are.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "mux_harness.h"

namespace {

using namespace simaai::test;
using Numbers = std::vector<std::vector<int>>;
using Gaps = std::vector<std::pair<GstClockTime, GstClockTime>>;

constexpr GstClockTime kMs = GST_MSECOND;
constexpr GstClockTime kNone = GST_CLOCK_TIME_NONE;
constexpr double kRates[] = {1.0, 2.0, 4.0, 0.5, 3.0, -1.0, -2.0, -0.5, -3.0};

struct Item {
  GstClockTime pts;
  GstClockTime duration;
  int number; ///< below zero: a GAP event
};

/// Frames `first` to before `end` of a stream of so many frames in `per`.
std::vector<Item> frames(int first, int end, guint64 rate, GstClockTime per = GST_SECOND,
                         bool with_duration = true) {
  const auto at = [&](int i) { return gst_util_uint64_scale(static_cast<guint64>(i), per, rate); };
  std::vector<Item> stream;
  for (int i = first; i < end; ++i)
    stream.push_back({at(i), with_duration ? at(i + 1) - at(i) : kNone, i});
  return stream;
}

std::vector<Item> operator+(std::vector<Item> one, const std::vector<Item>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

std::vector<Item> untimed(int count) {
  std::vector<Item> stream;
  stream.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    stream.push_back({kNone, kNone, i});
  return stream;
}

GstEvent* segment(double rate, GstClockTime stop) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.stop = stop;
  if (rate < 0)
    segment.position = stop;
  return gst_event_new_segment(&segment);
}

/// Plays the streams, the last item first where the rate is below zero.
void play(Mux& mux, double rate, GstClockTime stop, std::vector<std::vector<Item>> streams,
          const std::vector<const char*>& more_caps = {"", "", ""}) {
  std::vector<std::thread> threads;
  for (std::size_t pad = 0; pad < streams.size(); ++pad)
    threads.emplace_back([&mux, &streams, &more_caps, pad, rate, stop] {
      Feeder& in = *mux.in[pad];
      auto& stream = streams[pad];
      if (rate < 0)
        std::reverse(stream.begin(), stream.end());
      in.event(gst_event_new_stream_start("feeder"));
      in.caps(Mux::mark_caps(more_caps[pad]));
      in.event(segment(rate, stop));
      for (const Item& item : stream) {
        if (item.number < 0)
          in.event(gst_event_new_gap(item.pts, item.duration));
        else
          in.push(Mux::mark(pad, static_cast<std::size_t>(item.number)), item.pts, item.duration);
      }
      in.event(gst_event_new_eos());
    });
  EXPECT_TRUE(mux.out->await_event(GST_EVENT_EOS));
  for (std::thread& thread : threads)
    thread.join();
}

Numbers in_order(double rate, Numbers sets) {
  if (rate < 0)
    std::reverse(sets.begin(), sets.end());
  return sets;
}

TEST(MuxRate, TheSameSetsAtEveryRate) {
  for (const double rate : kRates) {
    for (const bool fast_first : {true, false}) {
      SCOPED_TRACE(testing::Message() << rate << " " << fast_first);
      Mux mux(2);
      const auto fast = frames(0, 10, 50);
      const auto slow = frames(0, 5, 25);
      play(mux, rate, 200 * kMs, fast_first ? std::vector{fast, slow} : std::vector{slow, fast});
      Numbers expected;
      std::vector<GstClockTime> times;
      for (int i = 0; i < 5; ++i) {
        expected.push_back(fast_first ? std::vector{2 * i, i} : std::vector{i, 2 * i});
        times.push_back(static_cast<GstClockTime>(i) * 40 * kMs);
      }
      if (rate < 0)
        std::reverse(times.begin(), times.end());
      EXPECT_EQ(mux.sets(), in_order(rate, expected));
      for (std::size_t i = 0; i < times.size() && i < mux.times.size(); ++i)
        EXPECT_NEAR(static_cast<double>(mux.times[i]), static_cast<double>(times[i]),
                    std::abs(rate)); // running time is whole nanoseconds
      EXPECT_EQ(mux.durations, std::vector<GstClockTime>(5, 40 * kMs));
    }
  }
}

/// Frames of a third of 100 ms: neither times nor durations are exact.
TEST(MuxRate, RoundedTimesMatchAtEveryRate) {
  for (const double rate : kRates) {
    SCOPED_TRACE(rate);
    Mux mux(2);
    play(mux, rate, GST_SECOND, {frames(0, 30, 30), frames(0, 15, 15)});
    Numbers expected;
    for (int i = 0; i < 15; ++i)
      expected.push_back({2 * i, i});
    EXPECT_EQ(mux.sets(), in_order(rate, expected));
  }
}

TEST(MuxRate, TheFramerateCountsStreamTime) {
  for (const double rate : kRates) {
    SCOPED_TRACE(rate);
    Mux mux(2);
    play(mux, rate, 200 * kMs,
         {frames(0, 10, 50, GST_SECOND, false), frames(0, 5, 25, GST_SECOND, false)},
         {",framerate=50/1", ",framerate=25/1"});
    EXPECT_EQ(mux.sets(), in_order(rate, {{0, 0}, {2, 1}, {4, 2}, {6, 3}, {8, 4}}));
  }
}

/// Without a duration and a framerate a buffer ends when it must; a long gap says nothing of how long buffers are.
TEST(MuxRate, TheTimeBetweenBuffersIsRunningTime) {
  for (const double rate : {1.0, 2.0, 0.5}) {
    SCOPED_TRACE(rate);
    Mux mux(2);
    play(mux, rate, kNone,
         {frames(0, 2, 50, GST_SECOND, false) + std::vector<Item>{{40 * kMs, 80 * kMs, -1}} +
              frames(6, 12, 50, GST_SECOND, false),
          frames(0, 2, 50, GST_SECOND, false) + frames(7, 12, 50, GST_SECOND, false)});
    EXPECT_EQ(mux.sets(), (Numbers{{0, 0}, {1, 1}, {7, 7}, {8, 8}, {9, 9}, {10, 10}, {11, 11}}));
  }
}

TEST(MuxRate, AGapCostsItsSetAtEveryRate) {
  for (const double rate : kRates) {
    SCOPED_TRACE(rate);
    Mux mux(2);
    play(mux, rate, 160 * kMs,
         {frames(0, 8, 50),
          frames(0, 4, 50) + std::vector<Item>{{80 * kMs, 20 * kMs, -1}} + frames(5, 8, 50)});
    EXPECT_EQ(mux.sets(), in_order(rate, {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {5, 5}, {6, 6}, {7, 7}}));
    EXPECT_EQ(mux.stat("dropped"), 1U);
    EXPECT_EQ(mux.stat("gaps"), 1U);
    if (std::abs(rate) != 3.0) {
      EXPECT_EQ(mux.out->gaps(), (Gaps{{80 * kMs, 20 * kMs}}));
    }
  }
}

TEST(MuxRate, AGapOfManyFramesCostsTheirSetsAtEveryRate) {
  for (const double rate : kRates) {
    for (const std::size_t gap_pad : {0U, 1U}) {
      SCOPED_TRACE(testing::Message() << rate << " " << gap_pad);
      Mux mux(2);
      std::vector<std::vector<Item>> streams(2, frames(0, 8, 50));
      streams[gap_pad] =
          frames(0, 2, 50) + std::vector<Item>{{40 * kMs, 60 * kMs, -1}} + frames(5, 8, 50);
      play(mux, rate, 160 * kMs, streams);
      EXPECT_EQ(mux.sets(), in_order(rate, {{0, 0}, {1, 1}, {5, 5}, {6, 6}, {7, 7}}));
      EXPECT_EQ(mux.stat("dropped"), 3U);
      EXPECT_EQ(mux.stat("gaps"), 3U);
      Gaps expected{{40 * kMs, 20 * kMs}, {60 * kMs, 20 * kMs}, {80 * kMs, 20 * kMs}};
      if (rate < 0)
        std::reverse(expected.begin(), expected.end());
      if (std::abs(rate) != 3.0) {
        EXPECT_EQ(mux.out->gaps(), expected);
      }
    }
  }
}

TEST(MuxRate, GapsOfAllPadsMeetAtEveryRate) {
  for (const double rate : kRates) {
    SCOPED_TRACE(rate);
    Mux mux(2);
    play(mux, rate, 160 * kMs,
         {frames(0, 2, 50) + std::vector<Item>{{40 * kMs, 60 * kMs, -1}} + frames(5, 8, 50),
          frames(0, 3, 50) + std::vector<Item>{{60 * kMs, 40 * kMs, -1}} + frames(5, 8, 50)});
    EXPECT_EQ(mux.sets(), in_order(rate, {{0, 0}, {1, 1}, {5, 5}, {6, 6}, {7, 7}}));
    EXPECT_EQ(mux.stat("dropped"), 1U);
  }
}

TEST(MuxRate, APadMayPlayAtARateOfItsOwn) {
  Mux mux(2);
  std::thread other([&] {
    mux.in[1]->event(gst_event_new_stream_start("feeder"));
    mux.in[1]->caps(Mux::mark_caps());
    mux.in[1]->event(segment(2.0, kNone));
    for (std::size_t i = 0; i < 4; ++i) // a second of it in half a second
      mux.in[1]->push(Mux::mark(1, i), i * 80 * kMs, 80 * kMs);
    mux.in[1]->event(gst_event_new_eos());
  });
  mux.in[0]->start(Mux::mark_caps());
  for (std::size_t i = 0; i < 8; ++i)
    mux.in[0]->push(Mux::mark(0, i), i * 20 * kMs, 20 * kMs);
  mux.in[0]->event(gst_event_new_eos());
  EXPECT_TRUE(mux.out->await_event(GST_EVENT_EOS));
  other.join();
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0}, {2, 1}, {4, 2}, {6, 3}}));
  // As the first pad counts.
  EXPECT_EQ(mux.times, (std::vector<GstClockTime>{0, 40 * kMs, 80 * kMs, 120 * kMs}));
  EXPECT_EQ(mux.durations, std::vector<GstClockTime>(4, 40 * kMs));
}

/// Nothing says which of the buffers without timestamps a gap covers: it takes one.
TEST(MuxGap, AGapCostsAPadWithoutTimestampsOneBuffer) {
  const auto timed =
      frames(0, 1, 50) + std::vector<Item>{{20 * kMs, 20 * kMs, -1}} + frames(2, 12, 50);
  for (const double rate : {1.0, 2.0, 0.5, -1.0, -2.0}) {
    for (const std::size_t gap_pad : {0U, 1U}) {
      SCOPED_TRACE(testing::Message() << rate << " " << gap_pad);
      Mux mux(2);
      std::vector<std::vector<Item>> streams(2, untimed(12));
      if (rate < 0) // numbers ascend
        std::reverse(streams[1 - gap_pad].begin(), streams[1 - gap_pad].end());
      streams[gap_pad] = timed;
      play(mux, rate, 240 * kMs, streams);
      Numbers expected;
      const int lost = rate < 0 ? 10 : 1;
      for (int i = 0; i < 12; ++i) {
        const int other = rate < 0 ? 11 - i : i;
        if (i != lost)
          expected.push_back(gap_pad == 0 ? std::vector{other, i} : std::vector{i, other});
      }
      EXPECT_EQ(mux.sets(), expected);
      EXPECT_EQ(mux.stat("dropped"), 1U);
      EXPECT_EQ(mux.stat("gaps"), 1U);
      EXPECT_EQ(mux.out->gaps(), (Gaps{{20 * kMs, 20 * kMs}}));
    }
  }
}

/// Two pads with the same gap, one without timestamps: one set, not one for each gap.
TEST(MuxGap, GapsOfTheSameTimeCostOneSet) {
  const auto timed =
      frames(0, 1, 50) + std::vector<Item>{{20 * kMs, 20 * kMs, -1}} + frames(2, 6, 50);
  Mux mux(3);
  play(mux, 1.0, kNone, {untimed(6), timed, timed});
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0, 0}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}}));
  EXPECT_EQ(mux.stat("gaps"), 1U);
}

/// A pad with timestamps beside it says what the gap covers.
TEST(MuxGap, TimestampsOfAThirdPadSayWhatAGapCovers) {
  Mux mux(3);
  play(mux, 1.0, kNone,
       {frames(0, 8, 50), untimed(8),
        frames(0, 1, 50) + std::vector<Item>{{20 * kMs, 60 * kMs, -1}} + frames(4, 8, 50)});
  EXPECT_EQ(mux.sets(), (Numbers{{0, 0, 0}, {4, 4, 4}, {5, 5, 5}, {6, 6, 6}, {7, 7, 7}}));
  EXPECT_EQ(mux.stat("gaps"), 3U);
}

} // namespace
