// SPDX-License-Identifier: LGPL-2.1-or-later
// The device model inside the process: options, data, timeouts with late completion.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cast_job.h"
#include "firmware/model/transport/model_options.h"
#include "firmware/model/transport/model_transport.h"
#include "jobs.h"

namespace simaai::runtime::test {
namespace {

using std::chrono::milliseconds;

Device open_model(const std::string& options) {
  model::register_model_transport();
  return take(Device::open("model:" + options));
}

TEST(ModelOptions, AreReadOneByOne) {
  const auto read = model::parse_options("workers=2,dma=deferred,seed=7,latency-us=500,flags=1");
  const auto* config = std::get_if<model::ModelConfig>(&read);
  ASSERT_NE(config, nullptr);
  EXPECT_EQ(config->workers, 2U);
  EXPECT_EQ(config->dma, model::DmaEngine::Deferred);
  EXPECT_EQ(config->seed, 7U);
  EXPECT_EQ(config->latency_us, 500U);
  EXPECT_EQ(config->supported_flags, 1U);
  EXPECT_EQ(config->checking, model::Checking::Bounds);
  EXPECT_TRUE(std::holds_alternative<model::ModelConfig>(model::parse_options("")));
}

TEST(ModelOptions, ThatCannotBeReadAreNamedByPosition) {
  const struct {
    const char* text;
    std::size_t position;
  } cases[] = {{"workers=5", 0},
               {"workers=0", 0},
               {"workers=", 0},
               {"workers", 0},
               {"dma=late", 0},
               {"seed=7,what=1", 7},
               {"seed=7,seed=8", 7},
               {"seed=7,", 7},
               {",seed=7", 0},
               {"latency-us=60000001", 0},
               {"seed=-1", 0},
               {"workers=2x", 0},
               {"seed=18446744073709551616", 0}};
  for (const auto& one : cases) {
    const auto read = model::parse_options(one.text);
    const auto* bad = std::get_if<model::BadOption>(&read);
    ASSERT_NE(bad, nullptr) << one.text;
    EXPECT_EQ(bad->position, one.position) << one.text;
  }
  model::register_model_transport();
  const auto refused = Device::open("model:seed=7,what=1");
  ASSERT_EQ(code_of(refused), ErrorCode::BadDeviceOption);
  EXPECT_EQ(std::get<Error>(refused).found, 13);
}

TEST(Model, GivesTheBytesOfTheOracle) {
  for (const char* options :
       {"workers=1", "workers=4,dma=deferred,seed=3,checking=full", "workers=3,checking=full"}) {
    const Device device = open_model(options);
    for (const std::int64_t elements : {1, 15, 4097, 40000}) {
      CastJob cast(elements, static_cast<std::uint64_t>(elements));
      ASSERT_TRUE(device.run(cast.plan(), cast.source(), cast.destination(), kDeadline).ok());
      EXPECT_TRUE(cast.is_done()) << options << " " << elements;
    }
  }
}

TEST(Model, CountsWhatAJobCost) {
  const Device device = open_model("workers=1");
  CastJob cast(16384, 5);
  Job job = take(device.submit(cast.plan(), cast.source(), cast.destination()));
  ASSERT_TRUE(job.wait(kDeadline).ok());
  const Counters counters = job.counters();
  EXPECT_EQ(counters.dma_bytes_in, 65536U);
  EXPECT_EQ(counters.dma_bytes_out + counters.typed_store_bytes, 32768U);
  EXPECT_GT(counters.dma_calls_in, 0U);
  EXPECT_GT(counters.cycles, 0U);
  EXPECT_EQ(counters.workers, 1U);
  EXPECT_NE(counters.route, 0U);
}

TEST(Model, AdvertisesEachEntryWithItsVersionFlagsAndDTypes) {
  constexpr std::uint32_t kInt8 = 1U << 1;
  constexpr std::uint32_t kBFloat16 = 1U << 2;
  constexpr std::uint32_t kFloat32 = 1U << 3;
  constexpr std::uint32_t kFloat16 = 1U << 4;
  // operation, flags (1 strided, 2 channel blocks), source and destination dtypes: docs/wire-format.md.
  const std::uint32_t wanted[][4] = {
      {1, 0, kBFloat16 | kFloat32, kBFloat16 | kFloat32},
      {2, 1, kInt8 | kBFloat16, kInt8 | kBFloat16},
      {3, 1, kBFloat16 | kFloat32 | kFloat16, kBFloat16},
      {4, 3, kInt8 | kBFloat16, kInt8 | kBFloat16},
      {5, 3, kBFloat16, kBFloat16 | kFloat32},
  };
  const Device device = open_model("seed=13");
  const auto entries = device.capabilities().entries();
  ASSERT_EQ(entries.size(), std::size(wanted));
  for (const auto& one : wanted) {
    const auto found =
        std::find_if(entries.begin(), entries.end(),
                     [&one](const Capability& entry) { return entry.operation == one[0]; });
    ASSERT_NE(found, entries.end()) << one[0];
    EXPECT_EQ(found->version, 1U) << one[0];
    EXPECT_EQ(found->flags, one[1]) << one[0];
    EXPECT_EQ(found->source_dtypes, one[2]) << one[0];
    EXPECT_EQ(found->destination_dtypes, one[3]) << one[0];
  }
}

void expect_order(const JobTimes& times) {
  EXPECT_NE(times.submitted_ns, 0U);
  EXPECT_LE(times.submitted_ns, times.started_ns);
  EXPECT_LE(times.started_ns, times.done_ns);
  EXPECT_LE(times.done_ns, times.retired_ns);
}

TEST(Model, TellsWhenAJobRan) {
  // Brief and not, on whichever thread.
  const Device device = open_model("workers=2,seed=11");
  for (const std::int64_t elements : {1, 100000}) {
    CastJob cast(elements, 5);
    Job job = take(device.submit(cast.plan(), cast.source(), cast.destination()));
    ASSERT_TRUE(job.wait(kDeadline).ok());
    expect_order(job.times());
  }
}

TEST(Model, RunsBriefJobsAmongLongOnesWithoutAnyWaitForThem) {
  const Device device = open_model("workers=2,seed=12");
  CastJob brief(10, 1);
  CastJob large(300000, 2);
  CastJob last(20, 3);
  Job first = take(device.submit(brief.plan(), brief.source(), brief.destination()));
  Job second = take(device.submit(large.plan(), large.source(), large.destination()));
  Job third = take(device.submit(last.plan(), last.source(), last.destination()));
  // Polls run nothing long, the device's thread runs what comes before a long job.
  EXPECT_TRUE(eventually([&] { return third.poll(); }));
  EXPECT_TRUE(first.poll());
  EXPECT_TRUE(second.poll());
  EXPECT_TRUE(brief.is_done());
  EXPECT_TRUE(large.is_done());
  EXPECT_TRUE(last.is_done());
}

TEST(Model, RunsJobsWhoseSubmitterPromisedToWaitAndDidNot) {
  const Device device = open_model("workers=2,seed=13");
  // Brief, long, and longer than a waiter would run himself.
  for (const std::int64_t elements : {10, 100000, 2000000}) {
    CastJob polled(elements, 1);
    CastJob dropped(elements, 2);
    CastJob impatient(elements, 3);
    Holding holding;
    Job job = take(
        device.submit(polled.plan(), polled.source(), polled.destination(), AfterSubmit::Wait));
    EXPECT_TRUE(eventually([&] { return job.poll(); }));
    EXPECT_TRUE(polled.is_done());
    Binding destination = dropped.destination();
    destination.keep = holding.keep();
    (void)take(
        device.submit(dropped.plan(), dropped.source(), std::move(destination), AfterSubmit::Wait));
    EXPECT_TRUE(eventually([&] { return holding.held() == 0; }));
    EXPECT_TRUE(dropped.is_done());
    Job left = take(device.submit(impatient.plan(), impatient.source(), impatient.destination(),
                                  AfterSubmit::Wait));
    (void)left.wait(milliseconds(0));
    EXPECT_TRUE(eventually([&] { return left.poll(); }));
    EXPECT_TRUE(impatient.is_done());
  }
}

TEST(Model, RunsManyJobsInOrder) {
  const Device device = open_model("workers=2");
  std::vector<std::unique_ptr<CastJob>> casts;
  std::vector<Job> jobs;
  for (int i = 0; i < 40; ++i) {
    casts.push_back(std::make_unique<CastJob>(100 + i, static_cast<std::uint64_t>(i)));
    jobs.push_back(take(
        device.submit(casts.back()->plan(), casts.back()->source(), casts.back()->destination())));
  }
  for (std::size_t i = jobs.size(); i-- > 0;) {
    EXPECT_TRUE(jobs[i].wait(kDeadline).ok());
    EXPECT_TRUE(casts[i]->is_done());
  }
}

TEST(Model, KeepsABufferThatALateJobStillWrites) {
  const Device device = open_model("workers=1,latency-us=200000");
  const std::string uri = "model:workers=1,latency-us=200000";
  CastJob cast(1000, 1);
  Holding holding;
  Binding destination = cast.destination();
  destination.keep = holding.keep();
  Job job = take(device.submit(cast.plan(), cast.source(), std::move(destination)));
  EXPECT_EQ(code_of(job.wait(milliseconds(0))), ErrorCode::TimedOut);
  EXPECT_TRUE(eventually([&] { return holding.held() == 0; }));
  // It was written after all, and only then given back.
  EXPECT_TRUE(cast.is_done());
  EXPECT_EQ(parked_jobs(uri), 0U);
  EXPECT_EQ(job.state(), JobState::Failed);
}

TEST(Model, OfOldFirmwareRefusesNewFlagsByName) {
  const Device device = open_model("flags=0");
  for (const Capability& entry : device.capabilities().entries())
    EXPECT_EQ(entry.flags, 0U);
}

TEST(Model, TakesBothPortsInOneObject) {
  const Device device = open_model("workers=4");
  const DmaBuf both = memory(8192);
  {
    const CpuMapping mapping = take(CpuMapping::map(both.fd(), 0, 8192, true));
    const std::uint32_t one = 0x3f800000;
    for (std::size_t i = 0; i < 512; ++i)
      std::memcpy(mapping.data() + 4 * i, &one, 4);
  }
  const UniqueFd duplicate(::dup(both.fd()));
  ASSERT_TRUE(device
                  .run(cast_plan(512), {both.fd(), 0, 2048, {}}, {duplicate.get(), 2048, 1024, {}},
                       kDeadline)
                  .ok());
  const CpuMapping mapping = take(CpuMapping::map(both.fd(), 2048, 1024, false));
  for (std::size_t i = 0; i < 512; ++i)
    ASSERT_EQ(std::memcmp(mapping.data() + 2 * i, "\x80\x3f", 2), 0);
}

TEST(Model, KeepsNoMoreMappingsThanItMay) {
  const Device device = open_model("workers=1,seed=99");
  for (int i = 0; i < 300; ++i) {
    CastJob cast(10, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(device.run(cast.plan(), cast.source(), cast.destination(), kDeadline).ok());
    ASSERT_TRUE(cast.is_done());
  }
  std::size_t descriptors = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++descriptors;
  EXPECT_LT(descriptors, 200U);
}

} // namespace
} // namespace simaai::runtime::test
