// SPDX-License-Identifier: LGPL-2.1-or-later
// What a tracer learns of jobs: each one once, on the thread that pushes its output, before it does.
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "common/job_observer.h"
#include "gst/element_harness.h"
#include "gst/tensor_text.h"
#include "runtime/fake_transport.h"
#include "sample.h"

namespace {

using namespace simaai::test;
using simaai::gst::JobNotice;
using simaai::gst::JobObserver;
using simaai::runtime::Completion;
using simaai::runtime::JobOutcome;
using simaai::runtime::JobTimes;
using simaai::runtime::test::FakeDevice;

struct Seen {
  GstElement* element;
  GstBuffer* output;
  std::string device;
  JobTimes times;
  std::uint64_t held_ns;
  std::thread::id thread;
};

/// Wants to know of jobs while it lives; elements that start meanwhile tell.
class Observing {
public:
  Observing() {
    observer_.data = this;
    observer_.observe = [](void* data, GstElement* element, GstBuffer* output,
                           const JobNotice* notice) noexcept {
      auto& self = *static_cast<Observing*>(data);
      const std::lock_guard lock(self.mutex_);
      self.seen_.push_back({element, output, notice->device, notice->times, notice->held_ns,
                            std::this_thread::get_id()});
    };
    simaai::gst::set_job_observer(&observer_);
  }
  ~Observing() { simaai::gst::set_job_observer(nullptr); }
  Observing(const Observing&) = delete;
  Observing& operator=(const Observing&) = delete;

  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return seen_.size();
  }
  /// A copy: the next job may come meanwhile.
  Seen at(std::size_t number) {
    const std::lock_guard lock(mutex_);
    return seen_.at(number);
  }

protected:
  JobObserver observer_;

private:
  std::mutex mutex_;
  std::vector<Seen> seen_;
};

TEST(JobObserver, OnTheHostTheJobIsTheCall) {
  Observing observing;
  ElementHarness harness("simaaicast", {{"backend", "a65"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  ASSERT_EQ(harness.push(Sample().input), GST_FLOW_OK);
  const auto output = harness.pull_buffer();
  ASSERT_EQ(observing.count(), 1U);
  const Seen seen = observing.at(0);
  EXPECT_EQ(seen.element, harness.element());
  EXPECT_EQ(seen.output, output.get());
  EXPECT_EQ(seen.device, "a65");
  EXPECT_EQ(seen.thread, std::this_thread::get_id());
  EXPECT_EQ(seen.held_ns, 0U);
  EXPECT_EQ(seen.times.submitted_ns, seen.times.started_ns);
  EXPECT_LT(seen.times.started_ns, seen.times.done_ns);
  EXPECT_EQ(seen.times.done_ns, seen.times.retired_ns);
}

TEST(JobObserver, OnADeviceTheTimesAreThoseOfTheDevice) {
  FakeDevice fake("observer");
  Observing observing;
  ElementHarness harness("simaaicast", {{"backend", "ev74"},
                                        {"device", fake.uri().c_str()},
                                        {"async-depth", "2"},
                                        {"job-timeout", "60000"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  for (std::uint64_t i = 0; i < 2; ++i)
    ASSERT_EQ(harness.push(fd_buffer(Sample().input)), GST_FLOW_OK);
  ASSERT_EQ(fake.submitted().size(), 2U);
  // Out of order, with times of its own.
  for (const std::uint64_t i : {1U, 0U}) {
    Completion completion{fake.submitted()[i].job, JobOutcome::Done, 0, 0, {}};
    completion.started_ns = gst_util_get_timestamp() + 1000 * i;
    completion.done_ns = completion.started_ns + 700 + i;
    fake.complete(completion);
  }
  for (std::uint64_t i = 0; i < 2; ++i) {
    const simaai::gst::GstPtr<GstBuffer> output(gst_harness_pull(harness.get()));
    ASSERT_GT(observing.count(), i);
    const Seen seen = observing.at(i);
    EXPECT_EQ(seen.output, output.get());
    EXPECT_EQ(seen.device, fake.uri());
    EXPECT_NE(seen.thread, std::this_thread::get_id()) << "the task that pushes";
    EXPECT_EQ(seen.times.done_ns - seen.times.started_ns, 700 + i);
    EXPECT_GT(seen.times.submitted_ns, 0U);
    EXPECT_GE(seen.times.retired_ns, seen.times.submitted_ns);
  }
}

// Nothing says when a thread has begun to wait: it is given more time until it was long enough.
TEST(JobObserver, WaitingForAPlaceIsNoWork) {
  FakeDevice fake("observer-held");
  Observing observing;
  ElementHarness harness("simaaicast", {{"backend", "ev74"},
                                        {"device", fake.uri().c_str()},
                                        {"async-depth", "2"},
                                        {"job-timeout", "60000"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  const auto push = [&] { return harness.push(fd_buffer(Sample().input)); };
  for (std::uint64_t i = 0; i < 2; ++i)
    ASSERT_EQ(push(), GST_FLOW_OK);
  constexpr std::chrono::milliseconds kEnough{2};
  std::chrono::milliseconds pause{4};
  bool held = false;
  std::size_t done = 0;
  const auto finish_one = [&] {
    fake.complete(fake.submitted().at(done).job);
    EXPECT_TRUE(simaai::gst::GstPtr<GstBuffer>(gst_harness_pull(harness.get())));
    held = held || std::chrono::nanoseconds(observing.at(done).held_ns) >= kEnough;
    ++done;
  };
  for (int round = 0; round < 12 && !held; ++round, pause *= 2) {
    std::thread upstream([&] { EXPECT_EQ(push(), GST_FLOW_OK); });
    std::this_thread::sleep_for(pause);
    finish_one();
    upstream.join();
  }
  while (done < fake.submitted().size())
    finish_one();
  EXPECT_TRUE(held);
}

TEST(JobObserver, OfAnotherSizeIsLeftAlone) {
  struct Foreign : Observing {
    Foreign() { observer_.bytes += 8; }
  } foreign;
  ElementHarness harness("simaaicast", {{"backend", "a65"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  ASSERT_EQ(harness.push(Sample().input), GST_FLOW_OK);
  EXPECT_TRUE(harness.pull_buffer());
  EXPECT_EQ(foreign.count(), 0U);
}

} // namespace
