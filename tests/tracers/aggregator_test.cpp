// SPDX-License-Identifier: LGPL-2.1-or-later
// The accounting of elements that make one buffer of several, on traces whose figures are known to the nanosecond.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracers/synthetic.h"

namespace simaai::latency::test {
namespace {

Settings with_spans() {
  Settings settings;
  settings.spans = 4096;
  return settings;
}

TEST(LatencyAccounting, AnAggregatorIsMeasuredFromItsNewestInput) {
  Synthetic line(with_spans());
  Pad& fast_src = line.source("fast");
  Pad& slow_src = line.source("slow");
  Pad& fast = line.sink("mixer");
  Pad& slow = line.also(fast, "sink_1", Direction::Sink);
  Pad& out = line.also(fast, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  // The slow input of each third frame comes 40 after the fast one, the others are repeated.
  for (std::uint64_t i = 0; i < 9; ++i) {
    const std::uint64_t now = 1000 * (i + 1);
    line.push(now, fast_src, fast, plain(100 * i));
    line.back(now + 1);
    if (i % 3 == 0) {
      line.push(now + 40, slow_src, slow, plain(100 * i));
      line.back(now + 41);
    }
    line.push(now + 50, out, end, plain(100 * i, 4096));
    line.back(now + 51);
  }
  const Report report = line.report();
  const ElementReport& mixer = report.elements[2];
  EXPECT_EQ(mixer.residence->count, 9U);
  EXPECT_EQ(mixer.residence->min, 10U);
  EXPECT_EQ(mixer.residence->max, 50U);
  EXPECT_EQ(mixer.residence->p50, 50U);
  EXPECT_FALSE(mixer.drops) << "what an aggregator consumed is not known";
  ASSERT_EQ(report.paths.size(), 2U);
  EXPECT_EQ(report.paths[0].origin, "slow:src");
  EXPECT_EQ(report.paths[0].latency.count, 3U);
  EXPECT_EQ(report.paths[1].origin, "fast:src");
  EXPECT_EQ(report.paths[1].latency.count, 6U);
}

TEST(LatencyAccounting, AnAggregatorMayRoundItsTimestamps) {
  Synthetic line;
  Pad& src = line.source("camera");
  Pad& first = line.sink("mixer");
  line.also(first, "sink_1", Direction::Sink);
  Pad& out = line.also(first, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 1; i <= 4; ++i) {
    line.push(1000 * i, src, first, plain(100 * i));
    line.back(1000 * i + 1);
    line.push(1000 * i + 60, out, end, plain(100 * i + i % 2 * 2 - 1, 4096)); // 1 more or less
    line.back(1000 * i + 61);
  }
  const Report report = line.report();
  ASSERT_TRUE(report.elements[1].residence);
  EXPECT_EQ(report.elements[1].residence->count, 4U);
  EXPECT_EQ(report.elements[1].residence->max, 60U);
  EXPECT_EQ(report.elements[1].appeared, 0U);
}

TEST(LatencyAccounting, AnAggregatorWithOtherTimestampsIsNotGuessed) {
  Synthetic line;
  Pad& src = line.source("camera");
  Pad& first = line.sink("mixer");
  line.also(first, "sink_1", Direction::Sink);
  Pad& out = line.also(first, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  line.push(1000, src, first, plain(10));
  line.back(1001);
  line.push(1100, out, end, plain(900, 4096)); // later than anything that came
  line.back(1101);
  line.push(1200, out, end, plain(3, 4096)); // earlier
  line.back(1201);
  EXPECT_FALSE(line.report().elements[1].residence);
  EXPECT_EQ(line.report().elements[1].appeared, 2U);
}

TEST(LatencyAccounting, AnAggregatorOfOneInputIsMeasuredAsOfSeveral) {
  Synthetic line;
  Pad& src = line.source("camera");
  Pad& in = line.sink("mixer");
  in.element->aggregates = true;
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 1; i <= 4; ++i) {
    line.push(1000 * i, src, in, plain(100 * i));
    line.back(1000 * i + 1);
    if (i > 1)
      line.push(1000 * i + 60, out, end, plain(100 * i - 70, 4096)); // times of its own
    line.back(1000 * i + 61);
  }
  const Report report = line.report();
  ASSERT_TRUE(report.elements[1].residence);
  EXPECT_EQ(report.elements[1].residence->count, 3U);
  EXPECT_EQ(report.elements[1].residence->min, 1060U);
  EXPECT_FALSE(report.elements[1].drops);
  ASSERT_EQ(total_paths(report).size(), 1U);
}

// Frames that begin inside say nothing of the way from the source: no total, rather than a small one.
TEST(LatencyAccounting, FramesThatBeganInsideHaveNoTotal) {
  for (const std::uint64_t matching : {0U, 2U, 4U, 6U}) {
    Synthetic line;
    Pad& src = line.source("camera");
    Pad& in = line.sink("maker");
    Pad& out = line.also(in, "src", Direction::Source);
    Pad& end = line.sink("screen", true);
    for (std::uint64_t i = 1; i <= 6; ++i) {
      line.push(1000 * i, src, in, plain(100 * i));
      line.push(1000 * i + 300, out, end, plain(100 * i + (i <= matching ? 0 : 50), 4096));
      line.back(1000 * i + 301);
      line.back(1000 * i + 302);
    }
    const Report report = line.report();
    const auto total = total_paths(report);
    ASSERT_EQ(total.size(), matching > 2 ? 1U : 0U);
    EXPECT_EQ(report.notes.size(), matching < 6 ? 1U : 0U);
    for (const std::string& note : report.notes)
      EXPECT_EQ(note, "screen:sink: " + std::to_string(6 - matching) +
                          " frames began at maker:src, which is no source: " +
                          (matching > 2 ? "not part of total" : "total is n/a"));
    for (const PathReport* path : total)
      EXPECT_EQ(path->latency.min, 300U);
  }
}

/// A buffer of a time and length, with data of its own.
Identity timed(std::uint64_t timestamp, std::uint64_t duration, std::uint64_t content,
               const FrameTag& tag = {}) {
  return {tag, timestamp, content, content, duration};
}

TEST(LatencyAccounting, InputsOfAnotherPhaseContributeByOverlap) {
  Synthetic line;
  Pad& one_src = line.source("one");
  Pad& two_src = line.source("two");
  Pad& one = line.sink("mixer");
  Pad& two = line.also(one, "sink_1", Direction::Sink);
  Pad& out = line.also(one, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  // Of the second input comes 80 later what begins 79 later; both are in the output, which has the times of the first.
  for (std::uint64_t i = 1; i <= 5; ++i) {
    const std::uint64_t now = 1000 * i;
    line.push(now, one_src, one, timed(100 * i, 100, 64));
    line.back(now + 1);
    line.push(now + 80, two_src, two, timed(100 * i + 79, 100, 128));
    line.push(now + 82, out, end, timed(100 * i, 100, 4096));
    line.back(now + 83);
    line.back(now + 84);
  }
  const Report report = line.report();
  const ElementReport& mixer = report.elements[2];
  ASSERT_TRUE(mixer.residence);
  EXPECT_EQ(mixer.residence->count, 5U);
  EXPECT_EQ(mixer.residence->min, 2U);
  EXPECT_EQ(mixer.residence->max, 2U);
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].origin, "two:src");
}

TEST(LatencyAccounting, SamplesAreThoseOfEachOrigin) {
  Settings settings;
  settings.warmup = 2;
  settings.samples = 10;
  Synthetic line(settings);
  Pad& one_src = line.source("one");
  Pad& two_src = line.source("two");
  Pad& one = line.sink("funnel");
  Pad& two = line.also(one, "sink_1", Direction::Sink);
  Pad& out = line.also(one, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  const auto pass = [&](Pad& src, Pad& in, std::uint64_t now) {
    const FrameTag tag = line.push(now, src, in, plain());
    line.push(now + 10, out, end, tagged(tag));
    line.back(now + 11);
    line.back(now + 12);
  };
  pass(two_src, two, 500); // not counted, and yet the origin is known
  for (std::uint64_t i = 1; i <= 20; ++i) {
    pass(one_src, one, 1000 * i);
    EXPECT_EQ(line.recorder.arrived(), 0U);
  }
  EXPECT_EQ(line.report().paths.size(), 1U) << "an origin without counted frames has no line";
  for (std::uint64_t i = 1; i <= 20; ++i) {
    pass(two_src, two, 100'000 + 1000 * i);
    EXPECT_EQ(line.recorder.arrived(), i < 2 ? 0U : std::min<std::uint64_t>(i - 1, 10));
  }
  EXPECT_EQ(line.recorder.arrived_in_all(), 20U);
  EXPECT_EQ(line.recorder.begun(), 41U);
  EXPECT_EQ(line.report().paths.size(), 2U);
}

// Which of two frames a mixer of video took is not known, and it does not mix them as one of sound does.
TEST(LatencyAccounting, FramesThatAMixerPicksFromAreNotGuessed) {
  for (const bool picks : {false, true}) {
    for (const std::uint64_t length : {50U, 100U, 200U}) {
      Synthetic line;
      Pad& src = line.source("camera");
      Pad& in = line.sink("mixer");
      in.element->aggregates = true;
      in.element->picks = picks;
      Pad& out = line.also(in, "src", Direction::Source);
      Pad& end = line.sink("screen", true);
      for (std::uint64_t i = 0; i < 4; ++i) {
        line.push(1000 * i + 1000, src, in, timed(length * i, length, 64));
        line.back(1000 * i + 1001);
      }
      line.push(9000, out, end, timed(0, 100, 4096));
      line.back(9001);
      const Report report = line.report();
      const bool known = !picks || length >= 100;
      EXPECT_EQ(report.elements[1].residence.has_value(), known) << length;
      EXPECT_EQ(total_paths(report).size(), known ? 1U : 0U) << length;
    }
  }
}

TEST(LatencyAccounting, AnInputThatOnlyTouchesTheOutputIsNotInIt) {
  Synthetic line;
  Pad& src = line.source("camera");
  Pad& in = line.sink("mixer");
  in.element->aggregates = true;
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  line.push(1000, src, in, timed(100, 50, 64));
  line.back(1001);
  line.push(2000, src, in, timed(149, 50, 128)); // a rounding early
  line.back(2001);
  line.push(2010, out, end, timed(100, 50, 4096));
  line.back(2011);
  EXPECT_EQ(line.report().elements[1].residence->max, 1010U);
}

// An encoder of sound: 1000 come, 2133 leave. The last of them completes the output, whatever it is recognised by.
TEST(LatencyAccounting, WhatIsJoinedIsMeasuredFromItsNewestPart) {
  enum class By { Tag, Timestamp };
  for (const By by : {By::Tag, By::Timestamp}) {
    Synthetic line(with_spans());
    Pad& src = line.source("microphone");
    Pad& in = line.sink("encoder");
    Pad& out = line.also(in, "src", Direction::Source);
    Pad& end = line.sink("file", true);
    std::vector<FrameTag> parts;
    std::uint64_t begin = 0;
    for (std::uint64_t i = 0; i < 60; ++i) {
      parts.push_back(line.push(1000 * (i + 1), src, in, timed(1000 * i, 1000, 64)));
      if (1000 * i + 1000 >= begin + 2133) {
        const FrameTag copied = by == By::Tag ? parts[parts.size() - 2] : FrameTag{};
        line.push(1000 * (i + 1) + 7, out, end, timed(begin, 2133, 4096, copied));
        line.back(1000 * (i + 1) + 8);
        begin += 2133;
      }
      line.back(1000 * (i + 1) + 9);
    }
    const Report report = line.report();
    const ElementReport& encoder = report.elements[1];
    EXPECT_EQ(encoder.appeared, 0U);
    ASSERT_TRUE(encoder.residence);
    EXPECT_EQ(encoder.residence->count, encoder.left);
    EXPECT_EQ(encoder.residence->max, 7U);
    EXPECT_EQ(encoder.waiting->max, 0U) << "the call that brought it";
    EXPECT_FALSE(encoder.drops);
    ASSERT_EQ(total_paths(report).size(), 1U);
    EXPECT_EQ(report.paths[0].latency.max, 7U);
  }
}

// What came does not reach the end of the output: other times, so nothing is known of it.
TEST(LatencyAccounting, WhatIsLongerThanAllThatCameIsNotGuessed) {
  Synthetic line;
  Pad& src = line.source("microphone");
  Pad& in = line.sink("encoder");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("file", true);
  for (std::uint64_t i = 0; i < 3; ++i) {
    line.push(1000 * (i + 1), src, in, timed(10 * i, 10, 64));
    line.back(1000 * (i + 1) + 1);
  }
  line.push(5000, out, end, timed(15, 30, 4096));
  line.back(5001);
  EXPECT_FALSE(line.report().elements[1].residence);
  EXPECT_EQ(line.report().elements[1].appeared, 1U);
}

TEST(LatencyAccounting, AFunnelPassesEachBufferOnItsOwn) {
  Synthetic line;
  Pad& one_src = line.source("one");
  Pad& two_src = line.source("two");
  Pad& one = line.sink("funnel");
  Pad& two = line.also(one, "sink_1", Direction::Sink);
  Pad& out = line.also(one, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  const FrameTag first = line.push(1000, one_src, one, plain(7, 64));
  line.back(1001);
  line.push(1030, two_src, two, plain(7, 128));
  line.back(1031);
  line.push(1100, out, end, tagged(first, 7, 64));
  line.back(1101);
  EXPECT_EQ(line.report().elements[2].residence->max, 100U);
}

} // namespace
} // namespace simaai::latency::test
