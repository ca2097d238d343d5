// SPDX-License-Identifier: LGPL-2.1-or-later
// The server under clients that mean harm: they exhaust what it has, and send what nearly is a job.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cast_job.h"
#include "damaged_packet.h"
#include "oracle/random_tensor.h"
#include "raw_client.h"

namespace simaai::runtime::test {
namespace {

using oracle::Random;

bool works(const Device& device, std::uint64_t seed) {
  CastJob cast(3000, seed);
  const Status status = device.run(cast.plan(), cast.source(), cast.destination(), kDeadline);
  return status.ok() && cast.is_done();
}

std::vector<int> both(const CastJob& cast) { return {cast.source().fd, cast.destination().fd}; }

bool hung_up(int socket) {
  pollfd watched{socket, 0, 0};
  return ::poll(&watched, 1, 0) > 0 && (watched.revents & POLLHUP) != 0;
}

TEST(Attack, ClientThatTakesNoAnswerToGoodJobsIsDropped) {
  const ServerProcess server;
  const Device device = take(Device::open(server.uri()));
  // Brief jobs are run by one thread of the server, others by the other one.
  for (const std::int64_t elements : {10, 3000}) {
    const UniqueFd socket = raw_client(server);
    CastJob cast(elements, 1);
    const protocol::Submit message = message_of(cast);
    bool open = true;
    // One job after the other, seen to be done by its output alone: never one too many for the queue.
    for (int job = 0; job < 3000 && open; ++job) {
      cast.clear();
      open = send_with(socket.get(), &message, sizeof(message), both(cast)) &&
             eventually([&] { return hung_up(socket.get()) || cast.is_done(); });
    }
    EXPECT_FALSE(open) << elements;
  }
  EXPECT_TRUE(works(device, 2));
}

TEST(Attack, ClientsCannotTakeTheDescriptorsOfOthers) {
  const ServerProcess server({}, 330);
  const Device device = take(Device::open(server.uri()));
  ASSERT_TRUE(works(device, 1));
  std::vector<UniqueFd> hogs;
  for (int number = 0; number < 4; ++number) {
    UniqueFd socket = raw_client(server);
    if (!socket)
      continue; // turned away
    for (int job = 0; job < 100; ++job) {
      CastJob cast(10, 1);
      const protocol::Submit message = message_of(cast);
      if (!send_with(socket.get(), &message, sizeof(message), both(cast)) || !answer(socket.get()))
        break;
    }
    hogs.push_back(std::move(socket));
  }
  EXPECT_FALSE(hogs.empty());
  EXPECT_LT(server.descriptors(), 330U);
  for (std::uint64_t seed = 2; seed < 10; ++seed)
    EXPECT_TRUE(works(device, seed));
  // There is room again when they are gone.
  hogs.clear();
  EXPECT_TRUE(eventually([&] { return static_cast<bool>(raw_client(server)); }));
}

TEST(Attack, ClientThatIsStoppedInMidJobHarmsNobody) {
  const ServerProcess server({"--model", "latency-us=2000"});
  const pid_t pid = ::fork();
  if (pid == 0) {
    const UniqueFd socket = raw_client(server);
    CastJob cast(1000, 1);
    const protocol::Submit message = message_of(cast);
    while (send_with(socket.get(), &message, sizeof(message), both(cast))) {
    }
    std::_Exit(0);
  }
  const Device device = take(Device::open(server.uri()));
  EXPECT_TRUE(works(device, 1));
  ::kill(pid, SIGSTOP);
  EXPECT_TRUE(works(device, 2));
  ::kill(pid, SIGKILL);
  EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(works(device, 3));
}

TEST(Attack, ServerThatIsStoppedIsATimeoutAndNoHang) {
  const ServerProcess server;
  const Device device = take(Device::open(server.uri()));
  ASSERT_TRUE(works(device, 1));
  ::kill(server.pid(), SIGSTOP);
  CastJob cast(1000, 1);
  Holding holding;
  Binding destination = cast.destination();
  destination.keep = holding.keep();
  Job job = take(device.submit(cast.plan(), cast.source(), std::move(destination)));
  EXPECT_EQ(code_of(job.wait(std::chrono::milliseconds(20))), ErrorCode::TimedOut);
  EXPECT_EQ(parked_jobs(server.uri()), 1U);
  EXPECT_EQ(holding.held(), 1);
  // Late, but to its end; only then is the memory given back.
  ::kill(server.pid(), SIGCONT);
  EXPECT_TRUE(eventually([&] { return holding.held() == 0; }));
  EXPECT_TRUE(cast.is_done());
  EXPECT_TRUE(works(device, 2));
}

TEST(Attack, HolesPunchedUnderAJobAreZeros) {
  const ServerProcess server({"--model", "latency-us=3000"});
  const Device device = take(Device::open(server.uri()));
  CastJob cast(100000, 1);
  const Binding source = cast.source();
  for (int round = 0; round < 20; ++round) {
    Job job = take(device.submit(cast.plan(), cast.source(), cast.destination()));
    // The seal keeps the length; pages go, and come back empty.
    ASSERT_EQ(
        ::fallocate(source.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096 * round, 200000),
        0);
    EXPECT_TRUE(job.wait(kDeadline).ok());
  }
  EXPECT_TRUE(works(device, 2));
}

/// Two objects, and what a job may leave of the second one.
struct Target {
  static constexpr std::uint64_t kBytes = 1 << 15;
  DmaBuf source = memory(kBytes);
  DmaBuf destination = memory(kBytes);
  CpuMapping in = take(CpuMapping::map(source.fd(), 0, kBytes, true));
  CpuMapping out = take(CpuMapping::map(destination.fd(), 0, kBytes, true));

  Target() {
    std::memset(in.data(), 0x33, kBytes);
    clear();
  }
  void clear() { std::memset(out.data(), 0x7e, kBytes); }
  [[nodiscard]] static bool is_all(const CpuMapping& bytes, int value, std::uint64_t from,
                                   std::uint64_t to) {
    return std::all_of(bytes.data() + from, bytes.data() + to,
                       [value](std::byte found) { return found == std::byte(value); });
  }
};

TEST(Attack, NearlyGoodJobsOfEveryOperationWriteNothingOutsideTheirPort) {
  const ServerProcess server({"--model", "workers=3,dma=deferred,seed=5"});
  const Device device = take(Device::open(server.uri()));
  Random random(20261130);
  Target target;
  UniqueFd socket = raw_client(server);
  std::size_t done = 0;
  std::size_t refused = 0;
  std::size_t dropped = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> packet = simaai::test::any_packet(random);
    if (!random.one_in(4))
      simaai::test::damage(packet, random);
    protocol::Submit message{};
    message.header = protocol::header_of<protocol::Submit>(protocol::MessageType::Submit);
    message.job = random.next();
    message.packet_bytes = static_cast<std::uint32_t>(packet.size());
    message.fd_count = 2;
    std::memcpy(message.packet, packet.data(), std::min(packet.size(), sizeof(message.packet)));
    packet.resize(std::max<std::size_t>(packet.size(), 56));
    const std::uint64_t phase = 16 * random.below(8);
    message.relocations[0] = {24, 0, phase, simaai::test::load_u64(packet, 40), 0, 0};
    message.relocations[1] = {32, 1, phase, simaai::test::load_u64(packet, 48), 1, 0};
    if (random.one_in(8)) {
      auto* const bytes = reinterpret_cast<std::byte*>(&message.relocations);
      bytes[random.below(sizeof(message.relocations))] ^=
          static_cast<std::byte>(1U << random.below(8));
    }
    // The range that the job may write, where it runs.
    const std::uint64_t begin = message.relocations[1].offset_bytes;
    const std::uint64_t end = begin + message.relocations[1].length_bytes;
    const int second = random.one_in(16) ? target.source.fd() : target.destination.fd();
    ASSERT_TRUE(send_with(socket.get(), &message, sizeof(message), {target.source.fd(), second}));
    const auto record = answer(socket.get());
    if (!record) {
      ++dropped;
      socket = raw_client(server);
      ASSERT_TRUE(socket);
    } else {
      ASSERT_EQ(record->job, message.job);
      // Nothing of the firmware's own rules is ever broken.
      ASSERT_NE(record->outcome, static_cast<std::uint32_t>(JobOutcome::Fault)) << round;
      const bool ran = record->outcome == static_cast<std::uint32_t>(JobOutcome::Done);
      ++(ran ? done : refused);
      if (ran) {
        ASSERT_TRUE(Target::is_all(target.out, 0x7e, 0, begin) &&
                    Target::is_all(target.out, 0x7e, end, Target::kBytes))
            << round;
        target.clear();
      }
    }
    ASSERT_TRUE(Target::is_all(target.in, 0x33, 0, Target::kBytes)) << round;
    ASSERT_TRUE(Target::is_all(target.out, 0x7e, 0, Target::kBytes)) << round;
  }
  EXPECT_GT(done, 300U);
  EXPECT_GT(refused, 300U);
  EXPECT_GT(dropped, 100U);
  EXPECT_TRUE(works(device, 1));
}

} // namespace
} // namespace simaai::runtime::test
