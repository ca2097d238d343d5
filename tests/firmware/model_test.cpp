// SPDX-License-Identifier: LGPL-2.1-or-later
// The device model itself: regions, declared dependencies, late data, refusals and repeatability.
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "firmware/model_job.h"

namespace simaai::test {
namespace {

using firmware::Chain;
using firmware::Worker;
using kernels::wire::EntryStatus;
using model::DeviceModel;
using model::DmaEngine;
using model::ModelConfig;
using model::RegionAccess;
using Job = ModelJob;

TEST(ModelRegions, ArePageAlignedWithGuardsBetween) {
  DeviceModel device{ModelConfig{}};
  std::vector<std::byte> host(3 * 4096);
  const auto first = device.map(host.data(), 4097, RegionAccess::ReadWrite);
  const auto second = device.map(host.data(), 16, RegionAccess::Read);
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, 0U);
  EXPECT_EQ(*first % 4096, 0U);
  EXPECT_EQ(*second % 4096, 0U);
  EXPECT_GE(*second, *first + 4097 + 4096);
  EXPECT_TRUE(device.unmap(*first));
  EXPECT_FALSE(device.unmap(*first));
  EXPECT_EQ(device.map(host.data(), 64, RegionAccess::Read), first);
}

TEST(ModelRegions, AreRefusedWhereTheyDoNotFit) {
  DeviceModel device{ModelConfig{}};
  std::byte host[64] = {};
  EXPECT_FALSE(device.map(nullptr, 16, RegionAccess::Read));
  EXPECT_FALSE(device.map(host, 0, RegionAccess::Read));
  EXPECT_FALSE(device.map(host, (std::uint64_t{1} << 32) - 1, RegionAccess::Read));
  EXPECT_FALSE(device.map_at(0, host, 16, RegionAccess::Read));
  EXPECT_FALSE(device.map_at(0xfffffff8, host, 9, RegionAccess::Read));
  EXPECT_TRUE(device.map_at(0xfffffff8, host, 8, RegionAccess::Read));
  EXPECT_TRUE(device.map_at(0x1003, host, 5, RegionAccess::Read));
  EXPECT_FALSE(device.map_at(0x1000, host, 4, RegionAccess::Read));
  EXPECT_FALSE(device.map_at(0x1007, host, 4, RegionAccess::Read));
  EXPECT_TRUE(device.map_at(0x1008, host, 4, RegionAccess::Read));
}

TEST(ModelDma, ChainsKeepTheirOrderAndSlotsMayFollowEachOther) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    ModelConfig config;
    config.dma = DmaEngine::Deferred;
    config.seed = seed;
    Job job(config);
    const auto result = job.run([](Worker& w, std::byte* l) {
      w.own(Job::kDestination, Job::kDestination + Job::kDestinationBytes);
      Chain chain;
      // In, out, in again over the same local bytes, out: each declared to follow the one before.
      w.read(chain, {Job::kSource, l, 64});
      w.write(chain, {Job::kDestination, l, 64});
      w.read(chain, {Job::kSource + 128, l, 64});
      Chain last;
      Worker::follow(last, chain);
      w.write(last, {Job::kDestination + 64, l, 64});
      w.wait(last);
      w.wait(chain);
    });
    ASSERT_TRUE(result.clean()) << fault_name(result.faults[0].kind);
    ASSERT_EQ(std::memcmp(job.destination.data(), job.source.data(), 64), 0);
    ASSERT_EQ(std::memcmp(job.destination.data() + 64, job.source.data() + 128, 64), 0);
  }
}

TEST(ModelDma, LateDataIsNoiseUntilTheWait) {
  ModelConfig config;
  config.dma = DmaEngine::Deferred;
  std::uint32_t late = 0;
  for (config.seed = 0; config.seed < 32; ++config.seed) {
    Job job(config);
    const auto result = job.run([](Worker& w, std::byte* l) {
      Chain in;
      Chain out;
      w.own(Job::kDestination, Job::kDestination + Job::kDestinationBytes);
      w.read(in, {Job::kSource, l, 128});
      for (std::uint32_t i = 0; i < 128; ++i) // without waiting
        l[256 + i] = l[i];
      w.wait(in);
      w.writes(l + 256, 128);
      w.write(out, {Job::kDestination, l + 256, 128});
      w.wait(out);
    });
    ASSERT_EQ(result.status, EntryStatus::Completed);
    late += std::memcmp(job.destination.data(), job.source.data(), 128) != 0 ? 1U : 0U;
  }
  EXPECT_GT(late, 16U);
}

TEST(ModelDma, OneSeedOneOrder) {
  ModelConfig config;
  config.dma = DmaEngine::Deferred;
  config.seed = 7;
  const auto run = [&config] {
    Job job(config);
    const auto result = job.run([](Worker& w, std::byte* l) {
      Chain chains[4];
      w.own(Job::kDestination, Job::kDestination + Job::kDestinationBytes);
      for (std::uint32_t i = 0; i < 4; ++i)
        w.read(chains[i], {Job::kSource + 64 * i, l + 64 * i, 32});
      for (std::uint32_t i = 0; i < 4; ++i)
        w.write(chains[i], {Job::kDestination + 32 * i, l + 64 * i, 32});
      for (Chain& chain : chains)
        w.wait(chain);
    });
    EXPECT_TRUE(result.clean());
    return result.counters;
  };
  EXPECT_EQ(run(), run());
}

TEST(ModelDevice, PacketsWithoutAnEntryAreRefused) {
  Job job{ModelConfig{}};
  std::byte packet[8] = {};
  const auto expect = [&](const void* at, std::uint32_t bytes, EntryStatus status) {
    const auto result = job.device.run_in_place(at, bytes);
    EXPECT_EQ(result.status, status);
    EXPECT_EQ(result.route, firmware::Route::None);
    EXPECT_EQ(result.counters, model::Counters{});
  };
  expect(nullptr, 208, EntryStatus::NullArgument);
  expect(packet, 8, EntryStatus::PacketLength);
  std::vector<std::byte> unaligned(job.packet.size() + 16);
  std::memcpy(unaligned.data() + 4, job.packet.data(), job.packet.size());
  expect(unaligned.data() + 4, static_cast<std::uint32_t>(job.packet.size()),
         EntryStatus::MisalignedPacket);
}

TEST(ModelDevice, SpansThatAreNotMappedAreABusErrorAtOnce) {
  const auto expect = [](std::uint64_t unmapped, model::FaultKind kind, RegionAccess access) {
    Job job{ModelConfig{}};
    ASSERT_TRUE(job.device.unmap(unmapped));
    if (kind == model::FaultKind::AccessDenied) {
      ASSERT_TRUE(
          job.device.map_at(unmapped, job.destination.data(), job.destination.size(), access));
    }
    const auto result = job.run([](Worker&, std::byte*) { FAIL() << "the entry was called"; });
    EXPECT_EQ(result.status, EntryStatus::TransferFault);
    EXPECT_EQ(result.fault_count, 1U);
    EXPECT_EQ(result.faults[0].kind, kind);
    EXPECT_EQ(result.counters, model::Counters{});
  };
  expect(Job::kSource, model::FaultKind::Unmapped, RegionAccess::Read);
  expect(Job::kDestination, model::FaultKind::Unmapped, RegionAccess::Read);
  expect(Job::kDestination, model::FaultKind::AccessDenied, RegionAccess::Read);
}

TEST(ModelDevice, CallsFromSeveralThreadsAreServedInTurn) {
  Job job{ModelConfig{}};
  std::byte more[64] = {};
  std::thread other([&] {
    for (int i = 0; i < 200; ++i)
      if (const auto address = job.device.map(more, sizeof more, RegionAccess::Read))
        job.device.unmap(*address);
  });
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(job.run([](Worker&, std::byte*) {}).fault_count, 1U); // nothing was written
  other.join();
}

TEST(ModelDevice, CyclesGrowWithTheCosts) {
  const auto cycles = [](const model::CycleCosts& costs) {
    ModelConfig config;
    config.costs = costs;
    Job job(config);
    return job
        .run([](Worker& w, std::byte* l) {
          Chain in;
          w.read(in, {Job::kSource, l, 256});
          w.wait(in);
          w.reads(l, 256);
        })
        .counters.cycles;
  };
  model::CycleCosts costs;
  costs.launch = 1000;
  costs.dma_call = 100;
  costs.dma_bytes_per_cycle = 8;
  costs.local_bytes_per_cycle = 16;
  EXPECT_EQ(cycles(costs), 1000U + 100 + 256 / 8 + 256 / 16);
  costs.dma_call = 200;
  EXPECT_EQ(cycles(costs), 1000U + 200 + 256 / 8 + 256 / 16);
}

} // namespace
} // namespace simaai::test
