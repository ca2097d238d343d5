// SPDX-License-Identifier: LGPL-2.1-or-later
// Firmware that does wrong: the device model names each fault, under both engines.
#include <gtest/gtest.h>

#include "firmware/model_job.h"

namespace simaai::test {
namespace {

using firmware::Chain;
using firmware::Transfer;
using firmware::Worker;
using model::DmaEngine;
using model::FaultKind;
using model::ModelConfig;
using Job = ModelJob;

constexpr std::uint32_t kOut = Job::kDestination;

class ModelFaults : public ::testing::TestWithParam<DmaEngine> {
protected:
  [[nodiscard]] ModelConfig config() const {
    ModelConfig c;
    c.dma = GetParam();
    return c;
  }
  /// The first fault of a body; the job ends without one unless `kind` says so.
  void expect_fault(Job::Body body, FaultKind kind, bool pitched = false,
                    std::uint32_t workers = 1) {
    Job job(config(), pitched);
    const model::RunResult result = job.run(body, workers);
    ASSERT_NE(result.fault_count, 0U);
    EXPECT_EQ(result.faults[0].kind, kind) << fault_name(result.faults[0].kind);
    EXPECT_FALSE(result.clean());
  }
};

/// Everything at once and correctly: 256 bytes in, 128 bytes out.
void copy_all(Worker& worker, std::byte* local) {
  Chain in;
  Chain out;
  worker.read(in, {Job::kSource, local, Job::kSourceBytes});
  worker.wait(in);
  worker.reads(local, Job::kSourceBytes);
  worker.writes(local + 512, Job::kDestinationBytes);
  for (std::uint32_t i = 0; i < Job::kDestinationBytes; ++i)
    local[512 + i] = local[i];
  worker.own(kOut, kOut + Job::kDestinationBytes);
  worker.write(out, {kOut, local + 512, Job::kDestinationBytes});
  worker.wait(out);
}

/// Local bytes that count as written.
std::byte* fill(Worker& worker, std::byte* local, std::uint32_t bytes = 256) {
  worker.writes(local, bytes);
  for (std::uint32_t i = 0; i < bytes; ++i)
    local[i] = std::byte{7};
  worker.own(kOut, kOut + Job::kPitchedBytes);
  return local;
}

void write_now(Worker& worker, const Transfer& transfer) {
  Chain chain;
  worker.write(chain, transfer);
  worker.wait(chain);
}

TEST_P(ModelFaults, CorrectWorkHasNone) {
  Job job(config());
  const model::RunResult result = job.run(&copy_all);
  EXPECT_TRUE(result.clean()) << fault_name(result.faults[0].kind);
  for (std::uint32_t i = 0; i < Job::kDestinationBytes; ++i)
    ASSERT_EQ(job.destination[i], job.source[i]);
  EXPECT_EQ(result.counters.dma_calls_in, 1U);
  EXPECT_EQ(result.counters.dma_bytes_in, 256U);
  EXPECT_EQ(result.counters.dma_bytes_out, 128U);
  EXPECT_EQ(result.counters.typed_store_bytes, 0U);
  EXPECT_EQ(result.counters.local_bytes, 1024U);
}

TEST_P(ModelFaults, UnmappedAddress) {
  expect_fault([](Worker& w, std::byte* l) { w.store(0x90000, 2, fill(w, l), 1, 2); },
               FaultKind::OutsideOwned);
  ModelConfig bounds = config();
  bounds.checking = model::Checking::Bounds;
  Job job(bounds);
  const auto result =
      job.run([](Worker& w, std::byte* l) { w.store(0x90000, 2, fill(w, l), 1, 2); });
  EXPECT_EQ(result.faults[0].kind, FaultKind::Unmapped);
}

TEST_P(ModelFaults, RegionWithoutPermission) {
  ModelConfig bounds = config();
  bounds.checking = model::Checking::Bounds;
  Job job(bounds);
  const auto result = job.run([](Worker& w, std::byte* l) {
    write_now(w, {Job::kSource, fill(w, l), 16});
  });
  EXPECT_EQ(result.faults[0].kind, FaultKind::AccessDenied);
  EXPECT_EQ(job.source[0], std::byte{1});
}

TEST_P(ModelFaults, TransferWithoutRowsOrBytes) {
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut, fill(w, l), 0});
      },
      FaultKind::BadTransfer);
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut, fill(w, l), 16, 0, 16, 16});
      },
      FaultKind::BadTransfer);
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut, fill(w, l), 16, 65536, 0, 0});
      },
      FaultKind::BadTransfer);
}

TEST_P(ModelFaults, PitchBeyondSixteenBits) {
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut, fill(w, l), 16, 2, 65536, 16});
      },
      FaultKind::PitchTooLarge);
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut, fill(w, l), 16, 2, 16, 65536});
      },
      FaultKind::PitchTooLarge);
}

TEST_P(ModelFaults, LocalRangeOutsideTheAcquiredBlock) {
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut, fill(w, l) + 1016, 16});
      },
      FaultKind::LocalOverrun);
  expect_fault([](Worker& w, std::byte* l) { w.reads(l + 1000, 25); }, FaultKind::LocalOverrun);
}

TEST_P(ModelFaults, MoreLocalMemoryThanThereIs) {
  expect_fault([](Worker& w, std::byte*) { (void)w.acquire(128 * 1024 + 1); },
               FaultKind::LocalMemory);
  expect_fault([](Worker&, std::byte* l) { l[1024] ^= std::byte{1}; }, FaultKind::LocalMemory);
  expect_fault([](Worker&, std::byte* l) { *(l - 1) ^= std::byte{1}; }, FaultKind::LocalMemory);
}

TEST_P(ModelFaults, LocalBoundsAreWatchedWhereNothingElseIs) {
  ModelConfig bounds = config();
  bounds.checking = model::Checking::Bounds;
  Job job(bounds);
  ASSERT_TRUE(job.run(copy_all).clean());
  const Job::Body bodies[] = {[](Worker&, std::byte* l) { l[1024 + 1023] ^= std::byte{1}; },
                              [](Worker&, std::byte* l) { l[1024] ^= std::byte{1}; },
                              [](Worker&, std::byte* l) { *(l - 1024) ^= std::byte{1}; }};
  for (const Job::Body body : bodies) {
    const model::RunResult result = job.run(body);
    ASSERT_EQ(result.fault_count, 1U);
    EXPECT_EQ(result.faults[0].kind, FaultKind::LocalMemory);
    // The next job finds its bounds whole again.
    EXPECT_TRUE(job.run(copy_all).clean());
  }
}

TEST_P(ModelFaults, ReadOutsideTheSource) {
  ModelJob job(config());
  std::byte more[16] = {};
  ASSERT_TRUE(job.device.map_at(0x30000, more, 16, model::RegionAccess::Read));
  const auto result = job.run([](Worker& w, std::byte* l) {
    Chain in;
    w.read(in, {0x30000, l, 16});
    w.wait(in);
  });
  EXPECT_EQ(result.faults[0].kind, FaultKind::OutsideSource);
}

TEST_P(ModelFaults, OutputIsRead) {
  expect_fault([](Worker& w, std::byte* l) { w.load(kOut, 2, l, 1, 2); }, FaultKind::OutputRead);
}

TEST_P(ModelFaults, WriteOutsideTheOwnedInterval) {
  expect_fault(
      [](Worker& w, std::byte* l) {
        fill(w, l);
        w.own(kOut + 16, kOut + 64);
        write_now(w, {kOut, l, 32});
      },
      FaultKind::OutsideOwned);
}

TEST_P(ModelFaults, HoleIsWritten) {
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut, fill(w, l), 48});
      },
      FaultKind::HoleWrite, /*pitched=*/true);
  expect_fault([](Worker& w, std::byte* l) { w.store(kOut + 32, 2, fill(w, l), 1, 2); },
               FaultKind::HoleWrite, /*pitched=*/true);
}

TEST_P(ModelFaults, WriteOfPartialGranules) {
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut + 2, fill(w, l), 16});
      },
      FaultKind::MisalignedWrite);
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut, fill(w, l), 18});
      },
      FaultKind::MisalignedWrite);
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut, fill(w, l), 16, 2, 24, 16});
      },
      FaultKind::MisalignedWrite);
}

TEST_P(ModelFaults, GranuleOfTwoOwners) {
  expect_fault([](Worker& w, std::byte* l) { w.store(kOut + 2 * w.index(), 2, fill(w, l), 1, 2); },
               FaultKind::OwnerOverlap, false, 2);
}

TEST_P(ModelFaults, OutputWrittenTwice) {
  expect_fault(
      [](Worker& w, std::byte* l) {
        w.store(kOut, 2, fill(w, l), 4, 2);
        w.store(kOut + 6, 2, l, 1, 2);
      },
      FaultKind::Rewritten);
}

TEST_P(ModelFaults, OutputLeftUnwritten) {
  expect_fault(
      [](Worker& w, std::byte* l) {
        write_now(w, {kOut, fill(w, l), 112});
      },
      FaultKind::MissingOutput);
}

TEST_P(ModelFaults, UnknownTicketInAWait) {
  Job job(config());
  const auto result = job.run([](const void*, std::uint32_t, const Ev74Services* s) {
    s->launch(
        s->context, 1,
        [](void* services, std::uint32_t index) {
          const auto* inner = static_cast<const Ev74Services*>(services);
          inner->wait(inner->context, index, 99);
        },
        const_cast<Ev74Services*>(s));
    return std::uint32_t{0};
  });
  EXPECT_EQ(result.faults[0].kind, FaultKind::UnknownTicket);
}

TEST_P(ModelFaults, LocalBytesNobodyWrote) {
  expect_fault([](Worker& w, std::byte* l) { w.reads(l + 64, 4); }, FaultKind::NeverWritten);
  expect_fault(
      [](Worker& w, std::byte* l) {
        fill(w, l, 64);
        write_now(w, {kOut, l + 64, 16});
      },
      FaultKind::NeverWritten);
}

INSTANTIATE_TEST_SUITE_P(Engines, ModelFaults,
                         ::testing::Values(DmaEngine::Immediate, DmaEngine::Deferred));

/// What only late transfers show, whatever the seed: the state of a slot, not luck, decides.
class LateTransfers : public ::testing::TestWithParam<std::uint64_t> {
protected:
  void expect_some(Job::Body body, FaultKind kind) {
    ModelConfig config;
    config.dma = DmaEngine::Deferred;
    std::uint32_t found = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      config.seed = GetParam() * 8 + seed;
      Job job(config);
      const auto result = job.run(body);
      for (std::size_t i = 0; i < std::min<std::uint64_t>(result.fault_count, 8); ++i)
        found += result.faults[i].kind == kind ? 1U : 0U;
    }
    EXPECT_GE(found, 4U);
  }
};

TEST_P(LateTransfers, MissingWaitBeforeUse) {
  expect_some(
      [](Worker& w, std::byte* l) {
        Chain in;
        w.read(in, {Job::kSource, l, 64});
        w.reads(l, 4);
        w.wait(in);
      },
      FaultKind::MissingWait);
}

TEST_P(LateTransfers, MissingWaitBeforePublishing) {
  expect_some(
      [](Worker& w, std::byte* l) {
        Chain in;
        Chain out;
        w.own(kOut, kOut + 128);
        w.read(in, {Job::kSource, l, 64});
        w.write(out, {kOut, l, 64});
        w.wait(in);
        w.wait(out);
      },
      FaultKind::MissingWait);
}

TEST_P(LateTransfers, EarlyReuseOfAnOutputSlot) {
  expect_some(
      [](Worker& w, std::byte* l) {
        Chain out;
        w.write(out, {kOut, fill(w, l), 64});
        w.writes(l + 60, 4);
        w.wait(out);
      },
      FaultKind::EarlyReuse);
}

TEST_P(LateTransfers, EarlyReuseOfAnInputSlot) {
  expect_some(
      [](Worker& w, std::byte* l) {
        Chain first;
        Chain second;
        w.read(first, {Job::kSource, l, 64});
        w.read(second, {Job::kSource + 64, l, 64});
        w.wait(first);
        w.wait(second);
      },
      FaultKind::EarlyReuse);
}

TEST_P(LateTransfers, TransferInFlightAtReturn) {
  expect_some(
      [](Worker& w, std::byte* l) {
        Chain out;
        w.write(out, {kOut, fill(w, l), 64});
      },
      FaultKind::UnretiredTransfer);
}

TEST_P(LateTransfers, GranuleInFlightIsWrittenAgain) {
  expect_some(
      [](Worker& w, std::byte* l) {
        Chain out;
        w.write(out, {kOut, fill(w, l), 64});
        w.store(kOut + 62, 2, l + 128, 1, 2);
        w.wait(out);
      },
      FaultKind::GranuleInFlight);
}

INSTANTIATE_TEST_SUITE_P(Seeds, LateTransfers, ::testing::Range<std::uint64_t>(0, 4));

} // namespace
} // namespace simaai::test
