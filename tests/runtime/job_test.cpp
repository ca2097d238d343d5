// SPDX-License-Identifier: LGPL-2.1-or-later
// Life of a job: states, retention of buffers, timeouts, loss of the device.
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <simaai/runtime/device.h>

#include "fake_transport.h"
#include "jobs.h"

namespace simaai::runtime::test {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kElements = 16;

struct Jobs : ::testing::Test {
  FakeDevice fake{::testing::UnitTest::GetInstance()->current_test_info()->name()};
  Device device = take(Device::open(fake.uri()));
  Plan plan = cast_plan(kElements);
  DmaBuf source = memory(kElements * 4);
  DmaBuf destination = memory(kElements * 2);
  Holding holding;

  Job make() {
    return take(device.make_job(plan, holding.bind(source), holding.bind(destination)));
  }
  Job submit() {
    return take(device.submit(plan, holding.bind(source), holding.bind(destination)));
  }
  JobId last() { return fake.submitted().back().job; }
  bool all_released() {
    return eventually([&] { return holding.held() == 0; });
  }
};

TEST_F(Jobs, GoFromPendingToCompleted) {
  Job job = make();
  EXPECT_EQ(job.state(), JobState::Pending);
  EXPECT_TRUE(fake.submitted().empty());
  EXPECT_EQ(code_of(job.wait(milliseconds(0))), ErrorCode::WrongState);
  ASSERT_TRUE(job.submit().ok());
  EXPECT_EQ(job.state(), JobState::Submitted);
  EXPECT_EQ(code_of(job.submit()), ErrorCode::WrongState);
  EXPECT_EQ(holding.held(), 2);
  EXPECT_FALSE(job.poll());

  Completion completion{last(), JobOutcome::Done, 0, 0, {}};
  completion.counters.dma_bytes_in = 64;
  completion.counters.route = 0x0101;
  fake.complete(completion);
  EXPECT_TRUE(job.wait(kDeadline).ok());
  EXPECT_EQ(job.state(), JobState::Completed);
  EXPECT_EQ(job.counters().dma_bytes_in, 64U);
  EXPECT_EQ(job.counters().route, 0x0101U);
  EXPECT_EQ(holding.held(), 0);
  EXPECT_TRUE(job.wait(milliseconds(0)).ok());
  EXPECT_EQ(parked_jobs(fake.uri()), 0U);
}

TEST_F(Jobs, HandOverThePacketAndItsRelocations) {
  Job job = submit();
  const Submission sent = fake.submitted().at(0);
  const auto bytes = plan.packet()->bytes();
  EXPECT_EQ(sent.packet.size(), bytes.size());
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), sent.packet.begin()));
  EXPECT_EQ(sent.relocations[0].packet_offset, 24U);
  EXPECT_EQ(sent.relocations[0].fd, source.fd());
  EXPECT_EQ(sent.relocations[0].length_bytes, kElements * 4U);
  EXPECT_EQ(sent.relocations[0].access, kernels::ev74::RegionAccess::Read);
  EXPECT_EQ(sent.relocations[1].packet_offset, 32U);
  EXPECT_EQ(sent.relocations[1].fd, destination.fd());
  EXPECT_EQ(sent.relocations[1].length_bytes, kElements * 2U);
  EXPECT_EQ(sent.relocations[1].access, kernels::ev74::RegionAccess::Write);
  // With what the kernel says is behind the descriptors.
  const DmaBuf* const buffers[] = {&source, &destination};
  for (std::size_t port = 0; port < 2; ++port) {
    const MemoryInfo object = take(inspect(buffers[port]->fd()));
    EXPECT_EQ(sent.relocations[port].object.inode, object.inode);
    EXPECT_EQ(sent.relocations[port].object.device, object.device);
    EXPECT_EQ(sent.relocations[port].object.size_bytes, object.size_bytes);
  }
  fake.complete(sent.job);
  EXPECT_TRUE(job.wait(kDeadline).ok());
}

TEST_F(Jobs, TellTheTransportWhetherTheirSubmitterWaitsNext) {
  Job job = submit();
  EXPECT_EQ(fake.submitted().back().next, AfterSubmit::Anything);
  fake.complete(fake.submitted().back().job);
  EXPECT_TRUE(job.wait(kDeadline).ok());
  fake.on_submit([this](JobId id) { fake.complete(id); });
  EXPECT_TRUE(device.run(plan, holding.bind(source), holding.bind(destination), kDeadline).ok());
  EXPECT_EQ(fake.submitted().back().next, AfterSubmit::Wait);
}

TEST_F(Jobs, TellWhenTheyPassedFromHandToHand) {
  const auto now = [] {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
  };
  const std::uint64_t before = now();
  Job job = make();
  EXPECT_EQ(job.times().submitted_ns, 0U);
  ASSERT_TRUE(job.submit().ok());
  const std::uint64_t submitted = job.times().submitted_ns;
  EXPECT_LE(before, submitted);
  EXPECT_LE(submitted, now());
  EXPECT_EQ(job.times().retired_ns, 0U);
  Completion completion{last(), JobOutcome::Done, 0, 0, {}};
  completion.started_ns = submitted + 1;
  completion.done_ns = submitted + 2;
  fake.complete(completion);
  ASSERT_TRUE(job.wait(kDeadline).ok());
  const JobTimes times = job.times();
  EXPECT_EQ(times.submitted_ns, submitted);
  EXPECT_EQ(times.started_ns, submitted + 1);
  EXPECT_EQ(times.done_ns, submitted + 2);
  EXPECT_LE(submitted, times.retired_ns);
  EXPECT_LE(times.retired_ns, now());
  // A job that failed has them too; one that was never handed over was not retired.
  Job failed = submit();
  fake.complete(Completion{last(), JobOutcome::Fault, 0, 1, {}});
  EXPECT_FALSE(failed.wait(kDeadline).ok());
  EXPECT_NE(failed.times().retired_ns, 0U);
  EXPECT_EQ(failed.times().started_ns, 0U);
}

TEST_F(Jobs, FailWithWhatTheDeviceSays) {
  const struct {
    JobOutcome outcome;
    ErrorCode code;
  } cases[] = {{JobOutcome::Entry, ErrorCode::EntryRefused},
               {JobOutcome::Fault, ErrorCode::DeviceFault},
               {JobOutcome::Refused, ErrorCode::JobRefused},
               {JobOutcome::Overfull, ErrorCode::QueueFull}};
  for (const auto& one : cases) {
    Job job = submit();
    fake.complete(Completion{last(), one.outcome, 48, 7, {}});
    const Status status = job.wait(kDeadline);
    EXPECT_EQ(code_of(status), one.code);
    EXPECT_EQ(job.state(), JobState::Failed);
    EXPECT_EQ(holding.held(), 0);
    if (one.outcome == JobOutcome::Entry) {
      EXPECT_EQ(status.error().found, 48);
    }
  }
}

TEST_F(Jobs, KeepTheirBuffersAfterATimeoutUntilTheLateCompletion) {
  Job job = submit();
  const Status status = job.wait(milliseconds(1));
  EXPECT_EQ(code_of(status), ErrorCode::TimedOut);
  EXPECT_EQ(job.state(), JobState::Parked);
  EXPECT_EQ(holding.held(), 2);
  EXPECT_EQ(parked_jobs(fake.uri()), 1U);
  // Completions of other jobs are no permission either.
  fake.complete(last() + 1000);
  EXPECT_FALSE(job.poll());
  EXPECT_EQ(holding.held(), 2);

  fake.complete(last());
  EXPECT_TRUE(all_released());
  EXPECT_EQ(code_of(job.wait(kDeadline)), ErrorCode::TimedOut);
  EXPECT_EQ(job.state(), JobState::Failed);
  EXPECT_EQ(parked_jobs(fake.uri()), 0U);
}

TEST_F(Jobs, CanBeLeftByWhoeverWaits) {
  std::atomic<bool> cancelled{false};
  Job job = submit();
  Job other = submit();
  const JobId other_id = last();
  std::thread first(
      [&] { EXPECT_EQ(code_of(job.wait(kDeadline, &cancelled)), ErrorCode::Cancelled); });
  // This one waits for the other job, as a follower or as the one who reads.
  std::thread second([&] { EXPECT_TRUE(other.wait(kDeadline).ok()); });
  cancelled = true;
  device.wake();
  first.join();
  EXPECT_EQ(job.state(), JobState::Parked);
  EXPECT_EQ(holding.held(), 4);
  fake.complete(other_id);
  second.join();
  fake.complete(fake.submitted().front().job);
  EXPECT_TRUE(all_released());
}

TEST_F(Jobs, WhoseHandleIsDroppedKeepTheirBuffers) {
  { const Job job = submit(); }
  EXPECT_EQ(holding.held(), 2);
  EXPECT_EQ(parked_jobs(fake.uri()), 1U);
  fake.complete(last());
  EXPECT_TRUE(all_released());
  {
    const Job pending = make();
    EXPECT_EQ(holding.held(), 2);
  }
  EXPECT_EQ(holding.held(), 0);
}

TEST_F(Jobs, RetireWhenTheDeviceHandleIsGone) {
  {
    const Job job = submit();
    device = Device();
  }
  EXPECT_EQ(holding.held(), 2);
  fake.complete(last());
  EXPECT_TRUE(all_released());
}

TEST_F(Jobs, ThatTimedOutDoNotDisturbOthers) {
  Job slow = submit();
  const JobId slow_id = last();
  EXPECT_EQ(code_of(slow.wait(milliseconds(0))), ErrorCode::TimedOut);
  for (int round = 0; round < 20; ++round) {
    Job quick = submit();
    fake.complete(last());
    EXPECT_TRUE(quick.wait(kDeadline).ok());
  }
  EXPECT_EQ(slow.state(), JobState::Parked);
  fake.complete(slow_id);
  EXPECT_TRUE(all_released());
}

TEST_F(Jobs, FailWhenTheDeviceIsLostAndReleaseWhenItStopped) {
  Job first = submit();
  Job second = submit();
  Job pending = make();
  fake.lose();
  EXPECT_EQ(code_of(first.wait(kDeadline)), ErrorCode::DeviceLost);
  EXPECT_EQ(first.state(), JobState::Parked);
  EXPECT_EQ(code_of(second.wait(milliseconds(0))), ErrorCode::DeviceLost);
  EXPECT_TRUE(device.lost());
  EXPECT_EQ(code_of(pending.submit()), ErrorCode::DeviceLost);
  EXPECT_EQ(pending.state(), JobState::Failed);
  EXPECT_EQ(holding.held(), 4);
  EXPECT_EQ(parked_jobs(fake.uri()), 2U);
  EXPECT_EQ(code_of(device.make_job(plan, bind(source), bind(destination))), ErrorCode::DeviceLost);

  fake.stop();
  EXPECT_TRUE(all_released());
  EXPECT_EQ(first.state(), JobState::Failed);
  EXPECT_EQ(parked_jobs(fake.uri()), 0U);

  // The same URI is a new connection.
  device = take(Device::open(fake.uri()));
  EXPECT_FALSE(device.lost());
  Job again = submit();
  fake.complete(last());
  EXPECT_TRUE(again.wait(kDeadline).ok());
}

TEST_F(Jobs, StayParkedForeverWhereNobodyConfirms) {
  Job job = submit();
  fake.lose();
  EXPECT_EQ(code_of(job.wait(kDeadline)), ErrorCode::DeviceLost);
  fake.exhaust();
  EXPECT_EQ(code_of(job.wait(kDeadline)), ErrorCode::DeviceLost);
  device = Device();
  job = Job();
  EXPECT_EQ(holding.held(), 2);
  EXPECT_EQ(parked_jobs(fake.uri()), 1U);
  // A new connection does not free what the old one holds.
  device = take(Device::open(fake.uri()));
  EXPECT_EQ(parked_jobs(fake.uri()), 1U);
  EXPECT_EQ(holding.held(), 2);
}

TEST_F(Jobs, CanBeTriedAgainWhenTheQueueWasFull) {
  Error full;
  full.code = ErrorCode::QueueFull;
  fake.refuse_with(full);
  Job job = make();
  EXPECT_EQ(code_of(job.submit()), ErrorCode::QueueFull);
  EXPECT_EQ(job.state(), JobState::Pending);
  EXPECT_EQ(holding.held(), 2);
  fake.accept_again();
  ASSERT_TRUE(job.submit().ok());
  fake.complete(last());
  EXPECT_TRUE(job.wait(kDeadline).ok());

  Error broken;
  broken.code = ErrorCode::AddressSpaceFull;
  fake.refuse_with(broken);
  Job other = make();
  EXPECT_EQ(code_of(other.submit()), ErrorCode::AddressSpaceFull);
  EXPECT_EQ(other.state(), JobState::Failed);
  EXPECT_EQ(holding.held(), 0);
}

TEST_F(Jobs, AreBoundedInNumber) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < Device::kMaxJobs; ++i)
    jobs.push_back(submit());
  EXPECT_EQ(code_of(device.make_job(plan, bind(source), bind(destination))), ErrorCode::QueueFull);
  for (const Submission& sent : fake.submitted())
    fake.complete(sent.job);
  for (Job& job : jobs)
    EXPECT_TRUE(job.wait(kDeadline).ok());
  // Those that ended take no place, however long somebody keeps them.
  for (std::size_t i = 0; i < Device::kMaxJobs; ++i) {
    jobs.push_back(submit());
    fake.complete(last());
  }
  EXPECT_EQ(code_of(device.make_job(plan, bind(source), bind(destination))), ErrorCode::QueueFull);
  for (Job& job : jobs) {
    EXPECT_TRUE(job.wait(kDeadline).ok());
    EXPECT_NE(job.times().retired_ns, 0U);
  }
  EXPECT_EQ(make().state(), JobState::Pending);
  EXPECT_EQ(holding.held(), 0);
}

TEST_F(Jobs, ThatNobodyWaitsForRetireWhereSomebodyWaitsForRoom) {
  Job first = submit();
  Job second = submit();
  EXPECT_FALSE(device.await_retirement(milliseconds(0)));
  fake.complete(last());
  EXPECT_TRUE(device.await_retirement(kDeadline));
  EXPECT_EQ(second.state(), JobState::Completed);
  EXPECT_EQ(first.state(), JobState::Submitted);
  EXPECT_EQ(holding.held(), 2);
  // Beside somebody who waits for a job.
  std::thread waiter([&] { EXPECT_TRUE(first.wait(kDeadline).ok()); });
  const JobId job = fake.submitted().front().job;
  std::thread device_side([&] { fake.complete(job); });
  EXPECT_TRUE(eventually([&] {
    (void)device.await_retirement(milliseconds(1));
    return first.state() == JobState::Completed;
  }));
  waiter.join();
  device_side.join();
}

TEST_F(Jobs, AheadOfAnotherTakeNoneOfItsTime) {
  std::vector<Job> jobs;
  jobs.reserve(40);
  for (int i = 0; i < 40; ++i)
    jobs.push_back(submit());
  std::thread device_side([&] {
    for (const Submission& sent : fake.submitted()) {
      std::this_thread::sleep_for(milliseconds(10));
      fake.complete(sent.job);
    }
  });
  // As the one who reads completions, and beside another one.
  std::thread beside([&] { EXPECT_TRUE(jobs[38].wait_in_turn(milliseconds(200)).ok()); });
  EXPECT_TRUE(jobs[39].wait_in_turn(milliseconds(200)).ok());
  beside.join();
  device_side.join();
}

TEST_F(Jobs, ThatStandStillAreFoundBehindOthers) {
  Job first = submit();
  Job second = submit();
  Job third = submit();
  const std::atomic<bool> leave{true};
  EXPECT_EQ(code_of(third.wait_in_turn(kDeadline, &leave)), ErrorCode::Cancelled);
  // Parked jobs are ahead too.
  Job last_one = submit();
  fake.complete(fake.submitted().at(0).job);
  fake.complete(fake.submitted().at(2).job);
  EXPECT_EQ(code_of(last_one.wait_in_turn(milliseconds(10))), ErrorCode::TimedOut);
  EXPECT_EQ(overdue_jobs(fake.uri()), 1U);
  EXPECT_EQ(code_of(second.wait_in_turn(milliseconds(10))), ErrorCode::TimedOut);
  EXPECT_EQ(overdue_jobs(fake.uri()), 2U);
  for (const std::size_t index : {1U, 3U})
    fake.complete(fake.submitted().at(index).job);
  EXPECT_TRUE(all_released());
}

TEST_F(Jobs, BehindAnotherGiveItNoMoreTime) {
  Job stuck = submit();
  const JobId stuck_id = last();
  std::atomic<bool> found{false};
  std::thread others([&] {
    EXPECT_TRUE(eventually([&] {
      Job quick = submit();
      fake.complete(last());
      EXPECT_TRUE(quick.wait_in_turn(kDeadline).ok());
      return found.load();
    }));
  });
  EXPECT_EQ(code_of(stuck.wait_in_turn(milliseconds(20))), ErrorCode::TimedOut);
  found = true;
  others.join();
  fake.complete(stuck_id);
  EXPECT_TRUE(all_released());
}

TEST_F(Jobs, ThatTheDeviceNeverHadDoNotRetireThere) {
  Error full;
  full.code = ErrorCode::QueueFull;
  fake.refuse_with(full);
  EXPECT_EQ(code_of(device.submit(plan, holding.bind(source), holding.bind(destination))),
            ErrorCode::QueueFull);
  full.code = ErrorCode::AddressSpaceFull;
  fake.refuse_with(full);
  EXPECT_EQ(code_of(device.submit(plan, holding.bind(source), holding.bind(destination))),
            ErrorCode::AddressSpaceFull);
  (void)make();
  EXPECT_EQ(device.retirements(), 0U);
  fake.accept_again();
  Job job = submit();
  EXPECT_EQ(device.retirements(), 0U);
  fake.complete(last());
  EXPECT_TRUE(job.wait(kDeadline).ok());
  EXPECT_EQ(device.retirements(), 1U);
  Job failed = submit();
  fake.complete(Completion{last(), JobOutcome::Fault, 0, 1, {}});
  EXPECT_FALSE(failed.wait(kDeadline).ok());
  EXPECT_EQ(device.retirements(), 2U);
}

TEST_F(Jobs, AreOverdueOnlyAfterATimeoutOrALoss) {
  (void)submit(); // the handle goes
  Job cancelled = submit();
  const std::atomic<bool> leave{true};
  EXPECT_EQ(code_of(cancelled.wait(kDeadline, &leave)), ErrorCode::Cancelled);
  EXPECT_EQ(parked_jobs(fake.uri()), 2U);
  EXPECT_EQ(overdue_jobs(fake.uri()), 0U);
  {
    Job late = submit();
    EXPECT_EQ(code_of(late.wait(milliseconds(0))), ErrorCode::TimedOut);
  }
  EXPECT_EQ(parked_jobs(fake.uri()), 3U);
  EXPECT_EQ(overdue_jobs(fake.uri()), 1U);
  fake.complete(last());
  EXPECT_TRUE(eventually([&] { return overdue_jobs(fake.uri()) == 0; }));
  EXPECT_EQ(parked_jobs(fake.uri()), 2U);
  // Nobody says any more when these end.
  fake.lose();
  EXPECT_TRUE(eventually([&] { return overdue_jobs(fake.uri()) == 2; }));
  fake.stop();
  EXPECT_TRUE(eventually([&] { return parked_jobs(fake.uri()) == 0; }));
  EXPECT_EQ(overdue_jobs(fake.uri()), 0U);
}

TEST_F(Jobs, WithoutWorkAreCompleteAtOnce) {
  Job job = take(device.submit(cast_plan(0), {}, {}));
  EXPECT_EQ(job.state(), JobState::Completed);
  EXPECT_TRUE(job.wait(milliseconds(0)).ok());
  EXPECT_TRUE(fake.submitted().empty());
  EXPECT_TRUE(device.run(cast_plan(0), {}, {}, milliseconds(0)).ok());
}

TEST_F(Jobs, OfA65PlansAreRefused) {
  EXPECT_EQ(
      code_of(device.make_job(cast_plan(kElements, Backend::A65), bind(source), bind(destination))),
      ErrorCode::WrongBackend);
}

TEST(Devices, AreSharedWhileTheyLive) {
  FakeDevice fake("shared");
  const Device first = take(Device::open(fake.uri()));
  const Device second = take(Device::open(fake.uri()));
  const Plan plan = cast_plan(kElements);
  const DmaBuf source = memory(64);
  const DmaBuf destination = memory(64);
  Job a = take(first.submit(plan, bind(source), bind(destination)));
  Job b = take(second.submit(plan, bind(source), bind(destination)));
  ASSERT_EQ(fake.submitted().size(), 2U);
  EXPECT_NE(fake.submitted()[0].job, fake.submitted()[1].job);
  fake.complete(fake.submitted()[1].job);
  fake.complete(fake.submitted()[0].job);
  EXPECT_TRUE(a.wait(kDeadline).ok());
  EXPECT_TRUE(b.wait(kDeadline).ok());
}

TEST(Devices, ThatDoNotExistAreNamed) {
  EXPECT_EQ(code_of(Device::open("nothing:there")), ErrorCode::UnknownScheme);
  EXPECT_EQ(code_of(Device::open("")), ErrorCode::UnknownScheme);
  EXPECT_EQ(code_of(Device::open("unix:")), ErrorCode::DeviceUnavailable);
  EXPECT_EQ(code_of(Device::open("unix:/nonexistent/ev74")), ErrorCode::DeviceUnavailable);
  EXPECT_EQ(code_of(Device::open("unix:/" + std::string(200, 'x'))), ErrorCode::DeviceUnavailable);
  EXPECT_EQ(code_of(Device::open("dev:")), ErrorCode::DeviceUnavailable);
  EXPECT_EQ(code_of(Device::open("dev:/dev/null")), ErrorCode::DeviceUnavailable);
  EXPECT_EQ(parked_jobs("unix:/nonexistent/ev74"), 0U);
}

} // namespace
} // namespace simaai::runtime::test
