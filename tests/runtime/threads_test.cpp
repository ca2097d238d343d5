// SPDX-License-Identifier: LGPL-2.1-or-later
// Many threads on one device: nobody's completion is lost, whoever reads it.
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "fake_transport.h"
#include "jobs.h"

namespace simaai::runtime::test {
namespace {

using std::chrono::milliseconds;

constexpr int kThreads = 4;
constexpr int kRounds = 150;

/// Completes jobs on a thread of its own, out of order.
class Completer {
public:
  Completer(FakeDevice& fake, std::uint32_t seed) : fake_(fake), random_(seed) {
    fake.on_submit([this](JobId job) {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(job);
    });
    thread_ = std::thread([this] { run(); });
  }
  ~Completer() {
    stop_ = true;
    thread_.join();
    fake_.on_submit({});
  }
  Completer(const Completer&) = delete;
  Completer& operator=(const Completer&) = delete;

private:
  void run() {
    while (true) {
      std::optional<JobId> job;
      {
        const std::lock_guard lock(mutex_);
        if (!waiting_.empty()) {
          std::swap(waiting_.back(), waiting_[random_() % waiting_.size()]);
          job = waiting_.back();
          waiting_.pop_back();
        }
      }
      if (job)
        fake_.complete(*job);
      else if (stop_)
        return;
      else
        std::this_thread::yield();
    }
  }

  FakeDevice& fake_;
  std::mt19937 random_;
  std::mutex mutex_;
  std::vector<JobId> waiting_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// Runs `work(thread number)` on some threads at once.
template <class Work> void in_parallel(Work work) {
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number)
    threads.emplace_back([work, number] { work(number); });
  for (std::thread& thread : threads)
    thread.join();
}

TEST(Threads, EachGetTheirOwnCompletions) {
  FakeDevice fake("threads-each");
  const Device device = take(Device::open(fake.uri()));
  const Completer completer(fake, 1);
  const Plan plan = cast_plan(16);
  Holding holding;
  std::atomic<int> completed{0};
  in_parallel([&](int) {
    const DmaBuf source = memory(64);
    const DmaBuf destination = memory(64);
    for (int round = 0; round < kRounds; ++round)
      if (device.run(plan, holding.bind(source), holding.bind(destination), kDeadline).ok())
        ++completed;
  });
  EXPECT_EQ(completed, kThreads * kRounds);
  EXPECT_EQ(holding.held(), 0);
}

TEST(Threads, WithJobsParkedAmongThemLoseNothing) {
  FakeDevice fake("threads-parked");
  const Device device = take(Device::open(fake.uri()));
  Holding holding;
  std::atomic<int> ended{0};
  {
    const Completer completer(fake, 2);
    const Plan plan = cast_plan(16);
    in_parallel([&](int number) {
      const DmaBuf source = memory(64);
      const DmaBuf destination = memory(64);
      for (int round = 0; round < kRounds; ++round) {
        Job job = take(device.submit(plan, holding.bind(source), holding.bind(destination)));
        // Every other job is given up at once or after no wait at all.
        if ((round + number) % 4 == 0)
          job = Job();
        else if ((round + number) % 4 == 1)
          (void)job.wait(milliseconds(0));
        else
          (void)job.wait(kDeadline);
        ++ended;
        // The table of jobs is bounded: let parked ones retire.
        ASSERT_TRUE(eventually([&] { return parked_jobs(fake.uri()) < Device::kMaxJobs / 2; }));
      }
    });
    EXPECT_TRUE(eventually([&] { return holding.held() == 0; }));
  }
  EXPECT_EQ(ended, kThreads * kRounds);
  EXPECT_EQ(parked_jobs(fake.uri()), 0U);
}

TEST(Threads, SeeTheLossOfTheDevice) {
  FakeDevice fake("threads-loss");
  const Device device = take(Device::open(fake.uri()));
  const Plan plan = cast_plan(16);
  Holding holding;
  std::atomic<int> submitted{0};
  std::atomic<int> lost{0};
  std::thread breaker([&] {
    EXPECT_TRUE(eventually([&] { return submitted == kThreads; }));
    fake.lose();
    fake.stop();
  });
  in_parallel([&](int) {
    const DmaBuf source = memory(64);
    const DmaBuf destination = memory(64);
    Job job = take(device.submit(plan, holding.bind(source), holding.bind(destination)));
    ++submitted;
    if (code_of(job.wait(kDeadline)) == ErrorCode::DeviceLost)
      ++lost;
  });
  breaker.join();
  EXPECT_EQ(lost, kThreads);
  EXPECT_TRUE(eventually([&] { return holding.held() == 0; }));
}

TEST(Threads, OpenOneDeviceTogether) {
  FakeDevice fake("threads-open");
  const Device first = take(Device::open(fake.uri()));
  const Completer completer(fake, 3);
  const Plan plan = cast_plan(16);
  std::atomic<int> completed{0};
  in_parallel([&](int) {
    const DmaBuf source = memory(64);
    const DmaBuf destination = memory(64);
    for (int round = 0; round < 20; ++round) {
      const Device device = take(Device::open(fake.uri()));
      if (device.run(plan, bind(source), bind(destination), kDeadline).ok())
        ++completed;
    }
  });
  EXPECT_EQ(completed, kThreads * 20);
}

} // namespace
} // namespace simaai::runtime::test
