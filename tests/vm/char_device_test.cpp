// SPDX-License-Identifier: LGPL-2.1-or-later
// The transport dev: over the test driver: data, refusals by the runtime and by the driver, limits, late jobs, death on either side.
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <simaai/runtime/ev74_uapi.h>

#include "device_cast.h"
#include "device_process.h"
#include "observer.h"

namespace simaai::runtime::test {
namespace {

using simaai::test::DeviceProcess;
using simaai::test::kNode;
using simaai::test::kNodeUri;
using std::chrono::milliseconds;

TEST(CharDevice, RunsJobsOnDmaBufsOfEverySource) {
  const DeviceProcess process("workers=3,dma=deferred,seed=5,checking=full");
  const Device device = take(Device::open(kNodeUri));
  for (const BufferSourceKind kind :
       {BufferSourceKind::DmaHeap, BufferSourceKind::Udmabuf, BufferSourceKind::DrmDumb}) {
    expect_job(device, kind, process.pid());
    expect_refusals(device, kind);
  }
}

TEST(CharDevice, IsNotThereWithoutItsProcess) {
  const Error error = std::get<Error>(Device::open(kNodeUri));
  EXPECT_EQ(error.code, ErrorCode::DeviceUnavailable);
  EXPECT_EQ(error.system_error, ENODEV);
  EXPECT_EQ(std::get<Error>(Device::open("dev:/dev/no-such")).system_error, ENOENT);
  // A node of another driver.
  EXPECT_EQ(code_of(Device::open("dev:/dev/null")), ErrorCode::DeviceUnavailable);
}

TEST(CharDevice, TakesNoMemfd) {
  const DeviceProcess process;
  const Device device = take(Device::open(kNodeUri));
  const Plan plan = cast_plan(100);
  const DmaBuf memfd = allocate(BufferSourceKind::Memfd, 4096);
  const DmaBuf object = allocate(BufferSourceKind::DmaHeap, 4096);
  const auto as_source = device.submit(plan, bind(memfd), bind(object));
  EXPECT_EQ(code_of(as_source), ErrorCode::UnsupportedMemory);
  EXPECT_EQ(std::get<Error>(as_source).port, Port::Source);
  const auto as_destination = device.submit(plan, bind(object), bind(memfd));
  EXPECT_EQ(code_of(as_destination), ErrorCode::UnsupportedMemory);
  EXPECT_EQ(std::get<Error>(as_destination).port, Port::Destination);
}

/// What a client that does not use the runtime is told.
TEST(CharDevice, DriverChecksEveryCallItself) {
  const DeviceProcess process;
  const UniqueFd node(::open(kNode, O_RDWR | O_CLOEXEC | O_NONBLOCK));
  ASSERT_TRUE(node);
  const DmaBuf object = allocate(BufferSourceKind::DmaHeap, 4096);
  const DmaBuf memfd = allocate(BufferSourceKind::Memfd, 4096);
  SimaaiEv74Submit good{};
  good.packet_bytes = 208;
  good.relocations[0] = {24, object.fd(), 0, 2048, 0, 0};
  good.relocations[1] = {32, object.fd(), 2048, 2048, 1, 0};
  const auto errno_of = [&](auto change) {
    SimaaiEv74Submit call = good;
    change(call);
    return ::ioctl(node.get(), SIMAAI_EV74_IOCTL_SUBMIT, &call) == 0 ? 0 : errno;
  };
  EXPECT_EQ(errno_of([](auto& call) { call.packet_bytes = 217; }), EINVAL);
  EXPECT_EQ(errno_of([](auto& call) { call.reserved = 1; }), EINVAL);
  EXPECT_EQ(errno_of([](auto& call) { call.relocations[1].offset_bytes = 2049; }), EINVAL);
  EXPECT_EQ(errno_of([](auto& call) { call.relocations[0].length_bytes = 4097; }), EINVAL);
  EXPECT_EQ(errno_of([](auto& call) { call.relocations[0].offset_bytes = UINT64_MAX; }), EINVAL);
  EXPECT_EQ(errno_of([](auto& call) { call.relocations[0].writes = 2; }), EINVAL);
  EXPECT_EQ(errno_of([](auto& call) { call.relocations[0].fd = -1; }), EBADF);
  EXPECT_EQ(errno_of([&](auto& call) { call.relocations[1].fd = memfd.fd(); }), EBADF);
  EXPECT_EQ(::ioctl(node.get(), SIMAAI_EV74_IOCTL_SUBMIT, nullptr), -1);
  EXPECT_EQ(errno, EFAULT);
  SimaaiEv74Completion record{};
  EXPECT_EQ(::read(node.get(), &record, sizeof(record)), -1);
  EXPECT_EQ(errno, EAGAIN);
  // A packet of zeroes is the device's to refuse.
  EXPECT_EQ(errno_of([](auto&) {}), 0);
  ASSERT_TRUE(
      eventually([&] { return ::read(node.get(), &record, sizeof(record)) == sizeof(record); }));
  EXPECT_EQ(record.outcome, static_cast<std::uint32_t>(JobOutcome::Refused));
}

TEST(CharDevice, FullQueueIsTriedAgain) {
  const DeviceProcess process("latency-us=100000");
  const Device device = take(Device::open(kNodeUri));
  const Cast cast(BufferSourceKind::DmaHeap, 100, 1);
  const auto submit = [&] { return device.submit(cast.plan(), cast.source(), cast.destination()); };
  std::array<Job, 4> jobs;
  for (Job& job : jobs)
    job = take(submit());
  EXPECT_EQ(code_of(submit()), ErrorCode::QueueFull);
  EXPECT_TRUE(jobs[0].wait(kDeadline).ok());
  Job fifth = take(submit());
  for (std::size_t i = 1; i < jobs.size(); ++i)
    EXPECT_TRUE(jobs[i].wait(kDeadline).ok());
  EXPECT_TRUE(fifth.wait(kDeadline).ok());
}

TEST(CharDevice, LateJobIsParkedUntilItRetires) {
  const DeviceProcess process("latency-us=300000");
  const Device device = take(Device::open(kNodeUri));
  const Cast cast(BufferSourceKind::DmaHeap, 3000, 2);
  Holding holding;
  Binding source = cast.source_at_offset();
  source.keep = holding.keep();
  Job job = take(device.submit(cast.plan(), std::move(source), cast.destination()));
  EXPECT_EQ(code_of(job.wait(milliseconds(0))), ErrorCode::TimedOut);
  EXPECT_EQ(job.state(), JobState::Parked);
  EXPECT_EQ(parked_jobs(kNodeUri), 1U);
  EXPECT_EQ(holding.held(), 1);
  EXPECT_TRUE(eventually([&] { return holding.held() == 0; }));
  EXPECT_EQ(parked_jobs(kNodeUri), 0U);
  cast.expect(true);
}

TEST(CharDevice, DeathOfTheDeviceFailsItsJobsAndFreesTheirMemory) {
  DeviceProcess process("latency-us=50000000");
  const Device device = take(Device::open(kNodeUri));
  const Cast cast(BufferSourceKind::DmaHeap, 3000, 3);
  Holding holding;
  const auto submit = [&] {
    Binding source = cast.source_at_offset();
    source.keep = holding.keep();
    return take(device.submit(cast.plan(), std::move(source), cast.destination()));
  };
  Job running = submit();
  Job waiting = submit();
  process.kill();
  EXPECT_EQ(code_of(running.wait(kDeadline)), ErrorCode::DeviceLost);
  EXPECT_EQ(code_of(waiting.wait(kDeadline)), ErrorCode::DeviceLost);
  EXPECT_TRUE(eventually([&] { return holding.held() == 0; }));
  EXPECT_EQ(parked_jobs(kNodeUri), 0U);
  EXPECT_TRUE(device.lost());
  cast.expect(false);
  const DeviceProcess next;
  expect_job(take(Device::open(kNodeUri)), BufferSourceKind::DmaHeap, next.pid());
}

TEST(CharDevice, DeathOfAClientReleasesItsBuffersOnly) {
  const DeviceProcess process("latency-us=100000");
  const pid_t pid = ::fork();
  if (pid == 0) {
    const Device device = take(Device::open(kNodeUri));
    const Cast cast(BufferSourceKind::DmaHeap, 100, 4);
    const Job first = take(device.submit(cast.plan(), cast.source(), cast.destination()));
    const Job second = take(device.submit(cast.plan(), cast.source(), cast.destination()));
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  // One of its jobs may still run.
  expect_job(take(Device::open(kNodeUri)), BufferSourceKind::DmaHeap, 0);
}

[[maybe_unused]] const bool kWatched = [] {
  simaai::test::expect_no_dma_buf_left();
  return true;
}();

} // namespace
} // namespace simaai::runtime::test
