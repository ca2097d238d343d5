// SPDX-License-Identifier: LGPL-2.1-or-later
// What of a frame's time its jobs account for: to the nanosecond, against a count of every nanosecond.
#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracers/synthetic.h"

namespace simaai::latency::test {
namespace {

/// Says of each nanosecond what it is.
struct Census {
  std::uint64_t queued = 0;
  std::uint64_t device = 0;
  std::uint64_t retirement = 0;
  std::uint64_t none = 0; ///< between `begin` and `end`

  Census(const std::vector<Job>& jobs, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t ns = 0; ns < 400; ++ns) {
      bool waits = false;
      bool runs = false;
      bool returns = false;
      for (const Job& job : jobs) {
        waits |= ns >= job.submitted_ns && ns < job.started_ns;
        runs |= ns >= job.started_ns && ns < job.done_ns;
        returns |= ns >= job.done_ns && ns < job.retired_ns;
      }
      device += runs ? 1 : 0;
      queued += !runs && waits ? 1 : 0;
      retirement += !runs && !waits && returns ? 1 : 0;
      none += ns >= begin && ns < end && !runs && !waits && !returns ? 1 : 0;
    }
  }
};

TEST(LatencyJobs, PartsOfAnyJobsAreThoseOfACount) {
  std::mt19937 random(5);
  const auto below = [&random](std::uint32_t limit) { return random() % limit; };
  for (int round = 0; round < 300; ++round) {
    std::vector<Job> jobs(below(kMostJobs + 1));
    for (Job& job : jobs) {
      std::array<std::uint64_t, 4> times{below(350), below(350), below(350), below(350)};
      if (below(3) == 0) // parts of no length, and jobs that lie apart
        times = {times[0], times[0], times[0] + below(20), times[0] + 20};
      std::sort(times.begin(), times.end());
      job = {times[0], times[1], times[2], times[3], 0};
    }
    const std::uint64_t begin = below(200);
    const std::uint64_t end = begin + below(200);
    const Census census(jobs, begin, end);
    const JobParts parts = parts_of(jobs);
    ASSERT_EQ(parts.queued_ns, census.queued) << round;
    ASSERT_EQ(parts.device_ns, census.device) << round;
    ASSERT_EQ(parts.retirement_ns, census.retirement) << round;
    ASSERT_EQ(time_without_jobs(jobs, begin, end), census.none) << round;
  }
}

/// camera -> cast -> screen; the cast's buffers are made by jobs.
struct Line : Synthetic {
  explicit Line(std::size_t spans = 256) : Synthetic({.spans = spans}) {}
  Pad& src = source("camera");
  Pad& in = sink("cast");
  Pad& out = also(in, "src", Direction::Source);
  Pad& end = sink("screen", true);

  [[nodiscard]] ElementReport cast() const { return report().elements[1]; }
};

constexpr std::uint64_t kOutput = 4096; // address of the output

TEST(LatencyJobs, InFlightWhileTheThreadIsGone) {
  for (const std::size_t spans : {std::size_t{256}, std::size_t{0}}) {
    Line line(spans);
    CallStack task;
    task.thread = 2;
    const FrameTag tag = line.push(1000, line.src, line.in, plain(7));
    line.back(1040); // submitted, and away
    task.jobs.add(kOutput, "model:", {1030, 1100, 1350, 1400});
    const FrameTag left = line.recorder.leave(task, 1420, line.out, tagged(tag, 7, kOutput));
    EXPECT_EQ(left.id, tag.id);
    const ElementReport cast = line.cast();
    EXPECT_EQ(cast.residence->max, 420U);
    ASSERT_TRUE(cast.jobs);
    EXPECT_EQ(cast.jobs->device, "model:");
    EXPECT_EQ(cast.jobs->queued->max, 70U);
    EXPECT_EQ(cast.jobs->working->max, 250U);
    EXPECT_EQ(cast.jobs->retirement->max, 50U);
    EXPECT_EQ(cast.waiting->max, 20U) << "after the job; before it the thread worked for 30";
    EXPECT_EQ(cast.jobs->working->exact, spans != 0);
    EXPECT_EQ(cast.jobs->working->count, 1U);
  }
}

TEST(LatencyJobs, AThreadThatMayNotSubmitYetWaits) {
  for (const std::uint64_t held : {25U, 500U}) {
    Line line;
    const FrameTag tag = line.push(1000, line.src, line.in, plain());
    line.back(1050);
    line.stack.jobs.add(kOutput, "model:", {1040, 1060, 1070, 1080, held});
    line.push(1100, line.out, line.end, tagged(tag, kNoTimestamp, kOutput));
    const ElementReport cast = line.cast();
    EXPECT_EQ(cast.waiting->max, 100U - 40 - (held < 40 ? 40 - held : 0));
    EXPECT_EQ(cast.jobs->queued->max, 20U) << "it was not submitted";
  }
}

TEST(LatencyJobs, ACallThatIsNotOverLastedUntilItHandedTheLastJobOver) {
  // Another thread pushes the frame before the one that brought it has come back.
  Line line;
  const FrameTag tag = line.push(1000, line.src, line.in, plain());
  CallStack pushes;
  pushes.thread = 2;
  pushes.jobs.add(kOutput, "model:", {1030, 1040, 1050, 1060, 10});
  pushes.jobs.add(kOutput, "model:", {1070, 1075, 1090, 1095, 0});
  line.recorder.leave(pushes, 1100, line.out, tagged(tag, kNoTimestamp, kOutput));
  const ElementReport cast = line.cast();
  EXPECT_EQ(cast.thread->max, 30U)
      << "30 before the first job, of which it was held for 10, and 10 between";
  EXPECT_EQ(cast.waiting->max, 100U - 30 - 30 - 25);
}

TEST(LatencyJobs, AThreadThatWaitsForItsJobDoesNotWaitTwice) {
  Line line;
  const FrameTag tag = line.push(1000, line.src, line.in, plain());
  line.stack.jobs.add(kOutput, "unix:/run/ev74", {1030, 1200, 1300, 1390, 0});
  line.push(1400, line.out, line.end, tagged(tag, kNoTimestamp, kOutput));
  const ElementReport cast = line.cast();
  EXPECT_EQ(cast.residence->max, 400U);
  EXPECT_EQ(cast.waiting->max, 0U);
  EXPECT_EQ(cast.jobs->queued->max + cast.jobs->working->max + cast.jobs->retirement->max, 360U);
}

TEST(LatencyJobs, OnTheHostTheJobIsTheWork) {
  Line line;
  const FrameTag tag = line.push(1000, line.src, line.in, plain());
  line.stack.jobs.add(kOutput, "a65", {1010, 1010, 1090, 1090});
  line.push(1100, line.out, line.end, tagged(tag, kNoTimestamp, kOutput));
  const ElementReport cast = line.cast();
  EXPECT_EQ(cast.jobs->device, "a65");
  EXPECT_EQ(cast.jobs->queued->max, 0U);
  EXPECT_EQ(cast.jobs->working->max, 80U);
  EXPECT_EQ(cast.jobs->retirement->max, 0U);
  EXPECT_EQ(cast.waiting->max, 0U);
}

TEST(LatencyJobs, SeveralOfOneBufferAreCountedOnce) {
  Line line;
  const FrameTag tag = line.push(1000, line.src, line.in, plain());
  line.back(1010);
  // Two run at once, the third after a pause; the first is retired while the others are on their way.
  line.stack.jobs.add(kOutput, "model:", {1010, 1050, 1150, 1160});
  line.stack.jobs.add(kOutput, "model:", {1020, 1100, 1200, 1230});
  line.stack.jobs.add(kOutput, "model:", {1300, 1310, 1320, 1340});
  line.push(1400, line.out, line.end, tagged(tag, kNoTimestamp, kOutput));
  const ElementReport cast = line.cast();
  EXPECT_EQ(cast.jobs->working->count, 1U);
  EXPECT_EQ(cast.jobs->queued->max, 40U + 10U);
  EXPECT_EQ(cast.jobs->working->max, 150U + 10U);
  EXPECT_EQ(cast.jobs->retirement->max, 30U + 20U);
  EXPECT_TRUE(cast.jobs->working->exact);
  EXPECT_EQ(cast.waiting->max, 400U - 10 - 260) << "70 between the jobs, 60 behind them";
}

TEST(LatencyJobs, OfAnotherBufferOrNotKnownAsAWholeAreNotGuessed) {
  Line line;
  const Job job{1010, 1020, 1030, 1040};
  const auto pass = [&](std::size_t known, std::size_t unknown, std::uint64_t pointer) {
    const FrameTag tag = line.push(1000, line.src, line.in, plain());
    for (std::size_t i = 0; i < known; ++i)
      line.stack.jobs.add(kOutput, "model:", job);
    for (std::size_t i = 0; i < unknown; ++i)
      line.stack.jobs.add_unknown(kOutput);
    if (unknown != 0)
      line.stack.jobs.add(kOutput, "model:", job);
    line.push(1100, line.out, line.end, tagged(tag, kNoTimestamp, pointer));
    line.back(1110);
    line.back(1120);
  };
  pass(1, 0, 64); // the buffer was dropped, another one leaves
  EXPECT_FALSE(line.cast().jobs);
  pass(0, 0, kOutput);
  EXPECT_FALSE(line.cast().jobs) << "its jobs went with the one before";
  pass(kMostJobs + 1, 0, kOutput);
  EXPECT_FALSE(line.cast().jobs);
  pass(1, 1, kOutput);
  EXPECT_FALSE(line.cast().jobs);
  pass(kMostJobs, 0, kOutput);
  ASSERT_TRUE(line.cast().jobs);
  EXPECT_EQ(line.cast().jobs->working->count, 1U);
  EXPECT_EQ(line.cast().jobs->working->max, 10U);
}

TEST(LatencyJobs, OfFramesThatAreNotCountedAreNot) {
  Settings settings;
  settings.warmup = 3;
  settings.samples = 2;
  Synthetic line(settings);
  Pad& src = line.source("camera");
  Pad& in = line.sink("cast");
  Pad& out = line.also(in, "src", Direction::Source);
  Pad& end = line.sink("screen", true);
  for (std::uint64_t i = 1; i <= 9; ++i) {
    const FrameTag tag = line.push(1000 * i, src, in, plain());
    line.stack.jobs.add(kOutput, "a65", {1000 * i, 1000 * i, 1000 * i + i, 1000 * i + i});
    line.push(1000 * i + 50, out, end, tagged(tag, kNoTimestamp, kOutput));
    line.back(1000 * i + 60);
    line.back(1000 * i + 70);
  }
  const Report report = line.report();
  EXPECT_EQ(report.elements[1].jobs->working->count, 2U);
  EXPECT_EQ(report.elements[1].jobs->working->min, 4U);
  EXPECT_EQ(report.elements[1].jobs->working->max, 5U);
}

} // namespace
} // namespace simaai::latency::test
