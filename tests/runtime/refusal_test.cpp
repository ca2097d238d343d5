// SPDX-License-Identifier: LGPL-2.1-or-later
// What is refused before anything reaches a device: capabilities and memory.
#include <functional>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <simaai/runtime/device.h>

#include "fake_transport.h"
#include "jobs.h"

namespace simaai::runtime::test {
namespace {

constexpr std::int64_t kElements = 16;
constexpr std::uint64_t kSourceBytes = kElements * 4;
constexpr std::uint64_t kDestinationBytes = kElements * 2;

TEST(Capability, OfTheDeviceMustCoverEveryFieldOfThePacket) {
  // cast, version 1, no flags, float32 (tag 3) -> bfloat16 (tag 2)
  const struct {
    std::vector<Capability> entries;
    ErrorCode code;
    const char* text;
  } cases[] = {
      {{}, ErrorCode::OperationMissing, "cast"},
      {{{3, 1, 3, 0xff, 0xff}}, ErrorCode::OperationMissing, "cast"},
      {{{1, 2, 3, 0xff, 0xff}}, ErrorCode::VersionMissing, "expected 2"},
      {{{1, 1, 3, 1U << 2, 0xff}}, ErrorCode::SourceDTypeMissing, "found 3"},
      {{{1, 1, 3, 1U << 3, 1U << 3}}, ErrorCode::DestinationDTypeMissing, "found 2"},
      // Two entries that each miss something do not make one that covers; the closer one is told.
      {{{1, 2, 3, 0xff, 0xff}, {1, 1, 3, 1U << 3, 1U << 1}},
       ErrorCode::DestinationDTypeMissing,
       "0x2"},
  };
  int number = 0;
  for (const auto& one : cases) {
    FakeDevice fake("capability-" + std::to_string(number++));
    fake.capabilities = {};
    for (const Capability& entry : one.entries)
      ASSERT_TRUE(fake.capabilities.add(entry));
    const Device device = take(Device::open(fake.uri()));
    const DmaBuf source = memory(kSourceBytes);
    const DmaBuf destination = memory(kDestinationBytes);
    const auto refused = device.submit(cast_plan(kElements), bind(source), bind(destination));
    ASSERT_EQ(code_of(refused), one.code);
    EXPECT_NE(std::get<Error>(refused).message().find(one.text), std::string::npos)
        << std::get<Error>(refused).message();
    EXPECT_TRUE(fake.submitted().empty());
  }
}

TEST(Capability, WithoutAFlagRefusesPacketsThatHaveIt) {
  FakeDevice fake("old-flags");
  fake.capabilities = {};
  ASSERT_TRUE(fake.capabilities.add({5, 1, /*flags: strided only*/ 1, 0xff, 0xff}));
  const Device device = take(Device::open(fake.uri()));
  const kernels::TensorSpec output{{4, 4, 16}, kernels::DType::Float32};
  kernels::TensorSpec input{
      {4, 4, 16}, kernels::DType::BFloat16, kernels::MlaCBlocked{{1, 4, 4, 16}}};
  const auto plan_of = [&] {
    return take(
        prepare(kernels::ops::detesscast::Request{{&input, 1}, {&output, 1}}, Backend::Ev74));
  };
  EXPECT_EQ(code_of(device.check(plan_of())), ErrorCode::FlagMissing);
  input.layout = kernels::MlaTiled{{-1, 0, 1, 2}, {1, 4, 4, 16}, kernels::ChannelStorage::PadTo16};
  EXPECT_TRUE(device.check(plan_of()).ok());
}

TEST(Capability, TableIsBounded) {
  CapabilityTable table;
  for (std::size_t i = 0; i < CapabilityTable::kMaxEntries; ++i)
    EXPECT_TRUE(table.add({static_cast<std::uint16_t>(i + 10), 1, 0, 0, 0}));
  EXPECT_FALSE(table.add({1, 1, 3, 0xff, 0xff}));
  EXPECT_EQ(code_of(table.check({1, 1, 0, 3, 2})), ErrorCode::OperationMissing);
}

struct Memory : ::testing::Test {
  FakeDevice fake{"memory"};
  Device device = take(Device::open(fake.uri()));
  Plan plan = cast_plan(kElements);
  DmaBuf source = memory(kSourceBytes);
  DmaBuf destination = memory(kDestinationBytes);

  Error refusal(Binding from, Binding to) {
    Holding holding;
    from.keep = holding.keep();
    to.keep = holding.keep();
    const auto result = device.submit(plan, std::move(from), std::move(to));
    EXPECT_TRUE(fake.submitted().empty());
    EXPECT_EQ(holding.held(), 0);
    const auto* error = std::get_if<Error>(&result);
    EXPECT_NE(error, nullptr);
    return error != nullptr ? *error : Error{};
  }
};

TEST_F(Memory, ThatTheCallerLookedAtIsNotLookedAtAgain) {
  // What is told of it decides, and is told on: the kernel would say something else.
  MemoryInfo known = take(inspect(source.fd()));
  known.size_bytes = 123456;
  Binding from = bind(source);
  from.object = known;
  from.object->sealed = false;
  EXPECT_EQ(refusal(std::move(from), bind(destination)).code, ErrorCode::NotSealed);
  from = bind(source);
  from.object = known;
  Job job = take(device.submit(plan, std::move(from), bind(destination)));
  EXPECT_EQ(fake.submitted().at(0).relocations[0].object.size_bytes, 123456U);
  EXPECT_EQ(fake.submitted().at(0).relocations[1].object.inode,
            take(inspect(destination.fd())).inode);
  fake.complete(fake.submitted().at(0).job);
  EXPECT_TRUE(job.wait(kDeadline).ok());
}

TEST_F(Memory, OfClosedDescriptorsIsRefused) {
  const Error from = refusal({-1, 0, kSourceBytes, {}}, bind(destination));
  EXPECT_EQ(from.code, ErrorCode::BadDescriptor);
  EXPECT_EQ(from.port, Port::Source);
  EXPECT_EQ(from.system_error, EBADF);
  const int closed = ::dup(destination.fd());
  ::close(closed);
  const Error to = refusal(bind(source), {closed, 0, kDestinationBytes, {}});
  EXPECT_EQ(to.code, ErrorCode::BadDescriptor);
  EXPECT_EQ(to.port, Port::Destination);
}

TEST_F(Memory, OfOtherKindsIsRefused) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  EXPECT_EQ(refusal({read_end.get(), 0, kSourceBytes, {}}, bind(destination)).code,
            ErrorCode::UnsupportedMemory);
  const UniqueFd device_file(::open("/dev/zero", O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(device_file);
  const int code =
      static_cast<int>(refusal(bind(source), {device_file.get(), 0, kDestinationBytes, {}}).code);
  // /dev may be a tmpfs, whose device files have no seals either.
  EXPECT_TRUE(code == static_cast<int>(ErrorCode::UnsupportedMemory) ||
              code == static_cast<int>(ErrorCode::NotSealed));
}

TEST_F(Memory, ThatCanBeCutShortIsRefused) {
  const UniqueFd open_ended(::memfd_create("open-ended", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(open_ended.get(), 4096), 0);
  EXPECT_EQ(refusal({open_ended.get(), 0, 4096, {}}, bind(destination)).code, ErrorCode::NotSealed);
  ASSERT_EQ(::fcntl(open_ended.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_TRUE(std::holds_alternative<Job>(
      device.make_job(plan, {open_ended.get(), 0, 4096, {}}, bind(destination))));
  // The seal holds: nobody can cut it short any more.
  EXPECT_NE(::ftruncate(open_ended.get(), 100), 0);
}

TEST_F(Memory, ThatCannotBeWrittenIsRefusedAsDestinationOnly) {
  const std::string path = "/proc/self/fd/" + std::to_string(destination.fd());
  const UniqueFd read_only(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(read_only);
  EXPECT_EQ(refusal(bind(source), {read_only.get(), 0, kDestinationBytes, {}}).code,
            ErrorCode::NotWritable);
  EXPECT_TRUE(std::holds_alternative<Job>(
      device.make_job(plan, {read_only.get(), 0, kSourceBytes, {}}, bind(source))));
  const DmaBuf frozen = memory(4096);
  ASSERT_EQ(::fcntl(frozen.fd(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(refusal(bind(source), bind(frozen)).code, ErrorCode::NotWritable);
}

TEST_F(Memory, ThatIsTooShortIsRefused) {
  const Error stated = refusal({source.fd(), 0, kSourceBytes - 1, {}}, bind(destination));
  EXPECT_EQ(stated.code, ErrorCode::BufferTooSmall);
  EXPECT_EQ(stated.expected, static_cast<std::int64_t>(kSourceBytes));
  EXPECT_EQ(stated.found, static_cast<std::int64_t>(kSourceBytes - 1));
  // What the caller states does not make an object longer, nor does an offset past its end.
  const Error real = refusal({source.fd(), 4096 - 32, kSourceBytes, {}}, bind(destination));
  EXPECT_EQ(real.code, ErrorCode::BufferTooSmall);
  EXPECT_EQ(real.found, 32);
  EXPECT_EQ(refusal({source.fd(), UINT64_MAX - 3, kSourceBytes, {}}, bind(destination)).code,
            ErrorCode::BufferTooSmall);
  EXPECT_EQ(refusal({source.fd(), 8192, UINT64_MAX, {}}, bind(destination)).found, 0);
}

TEST_F(Memory, AtOffsetsOfTheWrongAlignmentIsRefused) {
  const Error error = refusal({source.fd(), 6, 128, {}}, bind(destination));
  EXPECT_EQ(error.code, ErrorCode::BufferMisaligned);
  EXPECT_EQ(error.expected, 4);
  EXPECT_EQ(error.found, 2);
  EXPECT_TRUE(std::holds_alternative<Job>(
      device.make_job(plan, {source.fd(), 4, 128, {}}, {destination.fd(), 2, 128, {}})));
}

TEST_F(Memory, ThatOverlapsThroughADuplicateIsRefused) {
  const DmaBuf both = memory(4096);
  const UniqueFd duplicate(::dup(both.fd()));
  const std::string path = "/proc/self/fd/" + std::to_string(both.fd());
  const UniqueFd reopened(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(duplicate && reopened);
  for (const int fd : {both.fd(), duplicate.get(), reopened.get()}) {
    const Error error = refusal({both.fd(), 0, 256, {}}, {fd, kSourceBytes - 2, 256, {}});
    EXPECT_EQ(error.code, ErrorCode::BuffersOverlap);
    EXPECT_EQ(error.found, 2);
    // Neighbours are none: what counts is what is accessed, not what is lent.
    EXPECT_TRUE(std::holds_alternative<Job>(
        device.make_job(plan, {both.fd(), 0, 4096, {}}, {fd, kSourceBytes, 256, {}})));
  }
}

} // namespace
} // namespace simaai::runtime::test
