// SPDX-License-Identifier: LGPL-2.1-or-later
// The accounting on traces whose figures are known to the nanosecond.
#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "support/allocation_counter.h"
#include "tests/tracers/synthetic.h"

namespace simaai::latency::test {
namespace {

Settings with_spans() {
  Settings settings;
  settings.spans = 4096;
  return settings;
}

/// source -> element -> sink, the buffer itself passes: `own` inside, then `below` further down.
void pass_one(Synthetic& line, Pad& src, Pad& in, Pad& out, Pad& end, std::uint64_t now,
              std::uint64_t own, std::uint64_t below) {
  const FrameTag tag = line.push(now, src, in, plain());
  line.push(now + own, out, end, tagged(tag));
  line.back(now + own + below);
  line.back(now + own + below + 7);
  line.recorder.frame_released(tag.id);
}

TEST(LatencyAccounting, AnElementOnTheThread) {
  Synthetic line(with_spans());
  Pad& src = line.source("camera");
  Pad& in = line.sink("filter");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 1; i <= 100; ++i)
    pass_one(line, src, in, out, end, 1'000'000 * i, 100 * i, 5000);
  const Report report = line.report();
  const ElementReport& filter = report.elements[1];
  EXPECT_EQ(filter.identity, "meta");
  EXPECT_TRUE(filter.residence->exact);
  EXPECT_EQ(filter.residence->count, 100U);
  EXPECT_EQ(filter.residence->min, 100U);
  EXPECT_EQ(filter.residence->p50, 5000U);
  EXPECT_EQ(filter.residence->p99, 9900U);
  EXPECT_EQ(filter.residence->max, 10000U);
  EXPECT_EQ(filter.waiting->max, 0U);
  EXPECT_EQ(filter.processing->p50, 5007U); // without the 5000 below, with the 7 on the way back
  EXPECT_EQ(filter.drops, 0U);
  EXPECT_EQ(filter.inputs[0].interval->count, 99U);
  EXPECT_EQ(filter.inputs[0].interval->min, 1'000'000U);
  EXPECT_FALSE(report.elements[0].residence);
  EXPECT_FALSE(report.elements[2].residence);
  EXPECT_EQ(report.elements[2].processing->max, 5000U);
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].origin, "camera:src");
  EXPECT_EQ(report.paths[0].sink, "screen:sink");
  EXPECT_EQ(report.paths[0].latency.p50, 5000U);
  EXPECT_EQ(report.paths[0].latency.count, 100U);
}

// What an event-based tracer shows as the time of one call is the time of four frames.
TEST(LatencyAccounting, AnElementThatHoldsFourBuffers) {
  constexpr std::uint64_t kPeriod = 100'000'000;
  Synthetic line(with_spans());
  Pad& src = line.source("camera");
  Pad& in = line.sink("decoder");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  std::vector<FrameTag> held;
  for (std::uint64_t i = 0; i < 20; ++i) {
    const std::uint64_t now = kPeriod * (i + 1);
    held.push_back(line.push(now, src, in, plain()));
    if (held.size() > 4) {
      line.push(now + 3000, out, end, tagged(held.front()));
      line.back(now + 3500);
      held.erase(held.begin());
    }
    line.back(now + 4600);
  }
  const Report report = line.report();
  const ElementReport& decoder = report.elements[1];
  EXPECT_EQ(decoder.residence->count, 16U);
  EXPECT_EQ(decoder.residence->min, 4 * kPeriod + 3000);
  EXPECT_EQ(decoder.residence->max, 4 * kPeriod + 3000);
  // Its own call took 4600 for the first four, which had nothing to push, and 4100 for the others.
  EXPECT_EQ(decoder.waiting->min, 4 * kPeriod + 3000 - 4600);
  EXPECT_EQ(decoder.waiting->max, 4 * kPeriod + 3000 - 4100);
  EXPECT_EQ(report.paths[0].latency.p50, 4 * kPeriod + 3000);
}

TEST(LatencyAccounting, NewBuffersAreRecognisedByTimestamp) {
  Synthetic line(with_spans());
  Pad& src = line.source("camera");
  Pad& in = line.sink("encoder");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("file", true);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const FrameTag tag = line.push(1000 * i, src, in, plain(40 * i));
    line.recorder.frame_carried(tag.id);
    line.recorder.frame_released(tag.id); // the input ends before its output exists
    const FrameTag first = line.push(1000 * i + 250, out, end, plain(40 * i, 128));
    EXPECT_EQ(first.id, tag.id);
    line.back(1000 * i + 260);
    const FrameTag second = line.push(1000 * i + 300, out, end, plain(40 * i, 192));
    EXPECT_NE(second.id, tag.id) << "two outputs of one input are two frames";
    EXPECT_EQ(second.origin_ns, tag.origin_ns);
    line.back(1000 * i + 310);
    line.back(1000 * i + 400);
  }
  const Report report = line.report();
  const ElementReport& encoder = report.elements[1];
  EXPECT_EQ(encoder.identity, "timestamps");
  EXPECT_EQ(encoder.residence->count, 6U);
  EXPECT_EQ(encoder.residence->min, 250U);
  EXPECT_EQ(encoder.residence->max, 300U);
  EXPECT_EQ(encoder.drops, 0U) << "an input whose output came later was no drop";
  EXPECT_EQ(report.paths[0].latency.max, 300U);
}

TEST(LatencyAccounting, WhatCannotBeRecognisedIsNotGuessed) {
  Synthetic line(with_spans());
  Pad& src = line.source("file");
  Pad& in = line.sink("parser");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  line.push(1000, src, in, plain(5));
  line.push(1500, out, end, plain(77, 128));
  line.back(1600);
  line.push(1700, out, end, plain(kNoTimestamp, 128));
  line.back(1800);
  line.back(1900);
  const Report report = line.report();
  const ElementReport& parser = report.elements[1];
  EXPECT_EQ(parser.identity, "n/a");
  EXPECT_FALSE(parser.residence);
  EXPECT_FALSE(parser.drops);
  EXPECT_EQ(parser.appeared, 2U);
  EXPECT_EQ(report.paths[0].origin, "parser:src");
  EXPECT_EQ(report.paths[0].latency.max, 0U);
}

// The first chunk of a file may have the timestamp of the first frame in it.
TEST(LatencyAccounting, AMatchByChanceIsNoIdentity) {
  Synthetic line;
  Pad& src = line.source("file");
  Pad& in = line.sink("demuxer");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  line.push(1000, src, in, plain(0));
  line.back(1001);
  for (std::uint64_t i = 0; i < 5; ++i) {
    line.push(2000 + i, out, end, plain(40 * i, 128));
    line.back(2000 + i);
  }
  const Report report = line.report();
  EXPECT_EQ(report.elements[1].identity, "n/a");
  EXPECT_FALSE(report.elements[1].residence);
  EXPECT_FALSE(report.elements[1].outputs[0].residence);
}

TEST(LatencyAccounting, PointersComeLast) {
  Synthetic line(with_spans());
  Pad& src = line.source("app");
  Pad& in = line.sink("filter");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 1; i <= 5; ++i) {
    const FrameTag tag = line.push(1000 * i, src, in, plain(kNoTimestamp, 4096), false);
    EXPECT_EQ(line.push(1000 * i + 10, out, end, plain(kNoTimestamp, 4096), false).id, tag.id);
    line.back(1000 * i + 20);
    line.back(1000 * i + 30);
  }
  const Report report = line.report();
  EXPECT_EQ(report.elements[1].identity, "pointer");
  EXPECT_EQ(report.elements[1].residence->max, 10U);
  EXPECT_EQ(report.elements[1].residence->count, 5U);
  EXPECT_FALSE(report.elements[1].drops) << "the end of an untagged buffer is not seen";
}

TEST(LatencyAccounting, EqualTimestampsInsideAtOnceAreAmbiguous) {
  Synthetic line(with_spans());
  Pad& src = line.source("app");
  Pad& in = line.sink("maker");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  line.push(1000, src, in, plain(9));
  line.back(1010);
  line.push(2000, src, in, plain(9));
  line.push(2100, out, end, plain(9, 128));
  line.back(2200);
  line.back(2300);
  const Report report = line.report();
  EXPECT_EQ(report.elements[1].ambiguous, 1U);
  EXPECT_FALSE(report.elements[1].residence);
}

TEST(LatencyAccounting, BranchesOfATeeShareTheFrame) {
  Synthetic line(with_spans());
  Pad& src = line.source("camera");
  Pad& in = line.sink("tee");
  Pad& left = line.also(in, "src_0", Direction::Source);
  Pad& right = line.also(in, "src_1", Direction::Source);
  Pad& queue = line.sink("queue");
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 1; i <= 4; ++i) {
    const FrameTag tag = line.push(1000 * i, src, in, plain());
    line.recorder.frame_carried(tag.id);
    line.push(1000 * i + 5, left, end, tagged(tag));
    line.back(1000 * i + 205);
    line.push(1000 * i + 208, right, queue, tagged(tag));
    line.back(1000 * i + 210);
    line.back(1000 * i + 215);
    line.recorder.frame_released(tag.id); // the queue throws it away
  }
  const Report report = line.report();
  EXPECT_EQ(report.elements[1].outputs[0].residence->max, 5U);
  EXPECT_EQ(report.elements[1].outputs[1].residence->max, 208U);
  EXPECT_EQ(report.elements[1].waiting->max, 200U) << "the second branch waits for the first";
  EXPECT_EQ(report.elements[1].processing->max, 13U);
  EXPECT_EQ(report.elements[1].drops, 0U);
  EXPECT_EQ(report.elements[2].drops, 4U) << "of one branch, though the other arrived";
  EXPECT_EQ(report.paths[0].latency.max, 5U);
}

TEST(LatencyAccounting, DropsFlushesAndTheEndOfTheRun) {
  Synthetic line;
  Pad& src = line.source("camera");
  Pad& in = line.sink("queue");
  line.also(in, "src", Direction::Source);
  const auto lose = [&](std::uint64_t now) {
    const FrameTag tag = line.push(now, src, in, plain());
    line.recorder.frame_carried(tag.id);
    line.recorder.frame_carried(tag.id); // a copy
    line.back(now + 1);
    line.recorder.frame_released(tag.id);
    return tag.id;
  };
  line.recorder.frame_released(lose(1000));
  line.recorder.frame_released(lose(2000));
  const std::uint64_t old = lose(3000);
  line.recorder.flushed();
  line.recorder.frame_released(old);
  line.recorder.frame_released(lose(4000));
  const std::uint64_t inside = lose(5000);
  line.recorder.stopping(true);
  line.recorder.frame_released(inside);
  const Report report = line.report();
  EXPECT_EQ(report.elements[1].drops, 3U);
  EXPECT_EQ(report.elements[1].flushed, 1U);
  EXPECT_EQ(report.elements[1].unfinished, 1U);
  EXPECT_EQ(report.elements[1].inputs[0].interval->count, 3U) << "none over the flush";
}

TEST(LatencyAccounting, WhatAFlushRefusesIsNoDrop) {
  Synthetic line;
  Pad& src = line.source("camera");
  Pad& in = line.sink("filter");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  const auto refuse = [&line](std::uint64_t now) {
    Recorder::end(line.stack, now, nullptr, Recorder::Outcome::Flushing);
  };
  // Refused by the filter: freed before the call returns, or kept by a branch of a tee for longer.
  for (const bool kept : {false, true}) {
    const FrameTag tag = line.push(1000, src, in, plain());
    line.recorder.frame_carried(tag.id);
    if (!kept)
      line.recorder.frame_released(tag.id);
    refuse(1001);
    if (kept)
      line.recorder.frame_released(tag.id);
  }
  // Refused behind the filter, which it has left.
  const FrameTag passed = line.push(2000, src, in, plain());
  line.recorder.frame_carried(passed.id);
  line.push(2010, out, end, tagged(passed));
  line.recorder.frame_released(passed.id);
  refuse(2020);
  refuse(2030);
  // Thrown away by the filter itself.
  const FrameTag dropped = line.push(3000, src, in, plain());
  line.recorder.frame_carried(dropped.id);
  line.recorder.frame_released(dropped.id);
  line.back(3001);
  const ElementReport filter = line.report().elements[1];
  EXPECT_EQ(filter.drops, 1U);
  EXPECT_EQ(filter.flushed, 2U);
}

TEST(LatencyAccounting, WarmUpAndSamplesLimitWhatIsRecorded) {
  Settings settings;
  settings.warmup = 10;
  settings.samples = 20;
  Synthetic line(settings);
  Pad& src = line.source("camera");
  Pad& in = line.sink("filter");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 0; i < 100; ++i)
    pass_one(line, src, in, out, end, 10'000 * (i + 1), 100 + i, 50);
  EXPECT_EQ(line.recorder.arrived(), 20U);
  const Report report = line.report();
  EXPECT_EQ(report.elements[1].entered, 100U);
  EXPECT_EQ(report.elements[1].residence->count, 20U);
  EXPECT_EQ(report.elements[1].residence->min, 110U);
  EXPECT_EQ(report.elements[1].residence->max, 129U);
  EXPECT_EQ(report.paths[0].latency.count, 20U);
}

TEST(LatencyAccounting, AFrameThatStayedLongerThanTheWindowIsNotGuessed) {
  Settings settings;
  settings.window = 8;
  Synthetic line(settings);
  Pad& src = line.source("camera");
  Pad& in = line.sink("store");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  const FrameTag first = line.push(1000, src, in, plain());
  line.back(1001);
  for (std::uint64_t i = 0; i < 8; ++i) {
    line.push(1010 + i, src, in, plain());
    line.back(1010 + i);
  }
  line.push(2000, out, end, tagged(first));
  line.back(2001);
  const Report report = line.report();
  EXPECT_FALSE(report.elements[1].residence);
  EXPECT_EQ(report.elements[1].appeared, 1U);
  EXPECT_EQ(report.paths[0].latency.max, 1000U) << "the tag still knows where it began";
}

TEST(LatencyAccounting, ALostEndOfACallDoesNotShiftTheOthers) {
  Synthetic line(with_spans());
  Pad& src = line.source("camera");
  Pad& in = line.sink("filter");
  const int outer = 0;
  const int inner = 0;
  const FrameTag tag{7, 1000, src.index, true};
  Recorder::begin(line.stack, 1000, &in, tag, 1, &outer);
  Recorder::begin(line.stack, 1100, nullptr, tag, 0, &inner);
  Recorder::end(line.stack, 1500, &outer);
  Recorder::end(line.stack, 1600, &inner);
  EXPECT_EQ(line.stack.depth, 0U);
  EXPECT_EQ(line.report().elements[1].processing->max, 500U);
}

TEST(LatencyAccounting, CallsDeeperThanTheStackAreOnlyNotMeasured) {
  Synthetic line(with_spans());
  Pad& in = line.sink("filter");
  const FrameTag tag{7, 0, in.index, true};
  constexpr std::uint64_t kDeep = CallStack::kDepth + 3;
  for (std::uint64_t i = 0; i < kDeep; ++i)
    Recorder::begin(line.stack, i, &in, tag, 1);
  for (std::uint64_t i = 0; i < kDeep; ++i)
    Recorder::end(line.stack, kDeep + i);
  EXPECT_EQ(line.stack.depth, 0U);
  EXPECT_EQ(line.report().elements[0].processing->count, CallStack::kDepth);
}

TEST(LatencyAccounting, BucketsAreWithinOnePercentOfTheSamples) {
  std::mt19937_64 random(11);
  auto distribution = std::make_unique<Distribution>();
  std::vector<std::uint64_t> samples;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t value = (random() >> 24) >> (random() % 40);
    samples.push_back(value);
    distribution->record(value);
  }
  const Distribution* const part = distribution.get();
  const Stat found = Distribution::stat_of({&part, 1});
  const Stat exact = exact_stat(samples);
  EXPECT_EQ(found.count, exact.count);
  EXPECT_EQ(found.min, exact.min);
  EXPECT_EQ(found.max, exact.max);
  EXPECT_EQ(found.mean, exact.mean);
  for (const auto field : {&Stat::p50, &Stat::p90, &Stat::p95, &Stat::p99}) {
    const std::uint64_t error =
        std::max(found.*field, exact.*field) - std::min(found.*field, exact.*field);
    EXPECT_LE(error * 100, exact.*field);
  }
}

TEST(LatencyAccounting, ABufferIsAccountedWithoutAllocation) {
  Synthetic line(with_spans());
  Pad& src = line.source("camera");
  Pad& in = line.sink("filter");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  const std::uint64_t before = simaai::test::allocations_of_this_thread();
  for (std::uint64_t i = 0; i < 2000; ++i)
    pass_one(line, src, in, out, end, 10'000 * (i + 1), 100, 50);
  EXPECT_EQ(simaai::test::allocations_of_this_thread(), before);
}

} // namespace
} // namespace simaai::latency::test
