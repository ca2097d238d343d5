// SPDX-License-Identifier: LGPL-2.1-or-later
// The server under good clients and bad ones: data, death on either side, garbage, fairness, limits.
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cast_job.h"
#include "jobs.h"
#include "raw_client.h"
#include "runtime/protocol.h"
#include "server_process.h"

namespace simaai::runtime::test {
namespace {

using std::chrono::milliseconds;
using Options = std::vector<std::string>;

bool works(const Device& device, std::uint64_t seed = 1) {
  CastJob cast(3000, seed);
  const Status status = device.run(cast.plan(), cast.source(), cast.destination(), kDeadline);
  return status.ok() && cast.is_done();
}

TEST(Server, GivesTheBytesOfTheOracle) {
  const ServerProcess server({"--model", "workers=4,dma=deferred,seed=9,checking=full"});
  const Device device = take(Device::open(server.uri()));
  for (const std::int64_t elements : {1, 17, 4096, 50000}) {
    CastJob cast(elements, 3);
    ASSERT_TRUE(device.run(cast.plan(), cast.source(), cast.destination(), kDeadline).ok());
    EXPECT_TRUE(cast.is_done());
  }
}

TEST(Server, TellsWhatAJobCost) {
  const ServerProcess server({"--model", "workers=1"});
  const Device device = take(Device::open(server.uri()));
  CastJob cast(16384, 5);
  Job job = take(device.submit(cast.plan(), cast.source(), cast.destination()));
  ASSERT_TRUE(job.wait(kDeadline).ok());
  EXPECT_EQ(job.counters().dma_bytes_in, 65536U);
  EXPECT_NE(job.counters().route, 0U);
  // One clock on both sides.
  const JobTimes times = job.times();
  EXPECT_NE(times.submitted_ns, 0U);
  EXPECT_LE(times.submitted_ns, times.started_ns);
  EXPECT_LE(times.started_ns, times.done_ns);
  EXPECT_LE(times.done_ns, times.retired_ns);
}

TEST(Server, KilledInMidJobFailsItAndReleasesItsBuffers) {
  ServerProcess server({"--model", "latency-us=50000000"});
  const Device device = take(Device::open(server.uri()));
  CastJob cast(1000, 1);
  Holding holding;
  const auto submit = [&] {
    Binding source = cast.source();
    Binding destination = cast.destination();
    source.keep = holding.keep();
    destination.keep = holding.keep();
    return take(device.submit(cast.plan(), std::move(source), std::move(destination)));
  };
  Job running = submit();
  Job waiting = submit();
  Job parked = submit();
  EXPECT_EQ(code_of(parked.wait(milliseconds(0))), ErrorCode::TimedOut);
  EXPECT_EQ(holding.held(), 6);
  server.kill();
  EXPECT_EQ(code_of(running.wait(kDeadline)), ErrorCode::DeviceLost);
  EXPECT_EQ(code_of(waiting.wait(kDeadline)), ErrorCode::DeviceLost);
  EXPECT_TRUE(eventually([&] { return holding.held() == 0; }));
  EXPECT_EQ(code_of(parked.wait(kDeadline)), ErrorCode::TimedOut);
  EXPECT_EQ(parked.state(), JobState::Failed);
  EXPECT_EQ(parked_jobs(server.uri()), 0U);
  EXPECT_TRUE(cast.is_untouched());
  EXPECT_TRUE(device.lost());

  EXPECT_EQ(code_of(Device::open(server.uri())), ErrorCode::DeviceUnavailable);
  server.start();
  EXPECT_EQ(code_of(device.submit(cast.plan(), cast.source(), cast.destination())),
            ErrorCode::DeviceLost);
}

TEST(Server, KeepsObjectsThatAreClosedAndCutInMidJob) {
  const ServerProcess server({"--model", "latency-us=100000"});
  const Device device = take(Device::open(server.uri()));
  CastJob cast(1000, 1);
  const UniqueFd source(::dup(cast.source().fd));
  UniqueFd closing(::dup(cast.source().fd));
  Binding from = cast.source();
  from.fd = closing.get();
  Job job = take(device.submit(cast.plan(), std::move(from), cast.destination()));
  closing.reset();
  // What a job may read cannot get shorter under it.
  EXPECT_EQ(::ftruncate(source.get(), 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(job.state(), JobState::Submitted);
  EXPECT_TRUE(job.wait(kDeadline).ok());
  EXPECT_TRUE(cast.is_done());
  EXPECT_TRUE(works(device, 2));
}

TEST(Server, OffersWhatTheModelOffers) {
  const ServerProcess server({"--model", "flags=1"});
  const Device device = take(Device::open(server.uri()));
  const auto entries = device.capabilities().entries();
  ASSERT_EQ(entries.size(), 5U);
  for (const Capability& entry : entries)
    EXPECT_EQ(entry.flags & ~1U, 0U) << entry.operation;
}

TEST(Server, CanBeReopenedAfterItsDeath) {
  ServerProcess server;
  Device device = take(Device::open(server.uri()));
  ASSERT_TRUE(works(device));
  server.kill();
  // The socket file is still there and nobody listens: a new server takes it over.
  server.start();
  CastJob cast(10, 1);
  const auto submitted = device.submit(cast.plan(), cast.source(), cast.destination());
  if (const auto* error = std::get_if<Error>(&submitted))
    EXPECT_EQ(error->code, ErrorCode::DeviceLost);
  else
    EXPECT_EQ(code_of(const_cast<Job&>(std::get<Job>(submitted)).wait(kDeadline)),
              ErrorCode::DeviceLost);
  EXPECT_TRUE(eventually([&] { return parked_jobs(server.uri()) == 0; }));
  device = take(Device::open(server.uri()));
  EXPECT_TRUE(works(device));
}

TEST(Server, EndsInOrderOnSigterm) {
  ServerProcess server({"--model", "latency-us=20000"});
  const Device device = take(Device::open(server.uri()));
  CastJob cast(100, 1);
  Job job = take(device.submit(cast.plan(), cast.source(), cast.destination()));
  EXPECT_EQ(server.stop(), 0);
  // Either it ran to its end or it was never started; its buffers are free in both cases.
  const Status status = job.wait(kDeadline);
  EXPECT_TRUE(status.ok() ? static_cast<bool>(cast.is_done()) : cast.is_untouched());
  EXPECT_TRUE(eventually([&] { return job.poll(); }));
  EXPECT_NE(::access(server.path().c_str(), F_OK), 0);
}

TEST(Server, WhoseSocketIsTakenSaysSo) {
  const ServerProcess server;
  const std::string command = std::string(SIMAAI_EV74D) + " " + server.path() + " 2>&1";
  std::FILE* second = ::popen(command.c_str(), "r");
  std::array<char, 256> text{};
  ASSERT_NE(std::fgets(text.data(), text.size(), second), nullptr);
  EXPECT_EQ(WEXITSTATUS(::pclose(second)), 1);
  EXPECT_NE(std::string(text.data()).find("in use"), std::string::npos) << text.data();
  EXPECT_TRUE(works(take(Device::open(server.uri()))));
}

TEST(Server, ServesClientsInTurn) {
  // Each client is a process: handles of one URI in one process share a connection.
  const ServerProcess server({"--model", "latency-us=1000", "--queue", "16"});
  std::vector<pid_t> clients;
  for (int number = 0; number < 3; ++number) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const Device device = take(Device::open(server.uri()));
      bool good = true;
      for (int round = 0; round < 20 && good; ++round)
        good = works(device, static_cast<std::uint64_t>(number * 100 + round));
      std::_Exit(good ? 0 : 1);
    }
    clients.push_back(pid);
  }
  for (const pid_t pid : clients) {
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

TEST(Server, SurvivesClientProcessesThatDieInMidJob) {
  const ServerProcess server({"--model", "latency-us=20000"});
  for (int round = 0; round < 5; ++round) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const Device device = take(Device::open(server.uri()));
      CastJob cast(1000, 1);
      const auto submitted = device.submit(cast.plan(), cast.source(), cast.destination());
      std::_Exit(std::holds_alternative<Job>(submitted) ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_TRUE(works(take(Device::open(server.uri()))));
}

// Raw clients ---------------------------------------------------------------------------------------------------------

using Reason = protocol::RefusalReason;

TEST(RawClient, ThatIsCorrectIsServed) {
  const ServerProcess server;
  const UniqueFd socket = raw_client(server);
  ASSERT_TRUE(socket);
  CastJob cast(100, 1);
  const protocol::Submit message = message_of(cast);
  ASSERT_TRUE(send_with(socket.get(), &message, sizeof(message),
                        {cast.source().fd, cast.destination().fd}));
  const auto record = answer(socket.get());
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->job, 77U);
  EXPECT_EQ(record->outcome, 0U);
  EXPECT_TRUE(cast.is_done());
}

TEST(RawClient, ThatSendsGarbageIsDroppedAlone) {
  const ServerProcess server;
  const Device device = take(Device::open(server.uri()));
  ASSERT_TRUE(works(device));
  const std::size_t before = server.descriptors();
  CastJob cast(100, 1);
  std::mt19937 random(5);
  const auto dropped = [&](const protocol::Submit& message, std::size_t bytes,
                           const std::vector<int>& fds) {
    const UniqueFd socket = raw_client(server);
    EXPECT_TRUE(socket && send_with(socket.get(), &message, bytes, fds));
    EXPECT_FALSE(answer(socket.get()).has_value());
  };
  const std::vector<int> both{cast.source().fd, cast.destination().fd};
  const protocol::Submit good = message_of(cast);
  for (std::size_t at = 0; at < sizeof(protocol::Header); ++at) {
    protocol::Submit bad = good;
    reinterpret_cast<std::byte*>(&bad)[at] ^= std::byte{0x40};
    dropped(bad, sizeof(bad), both);
  }
  for (const std::size_t bytes : {std::size_t{1}, sizeof(protocol::Header), sizeof(good) - 1})
    dropped(good, bytes, both);
  // Descriptors: none, one too few, one too many, many.
  dropped(good, sizeof(good), {});
  dropped(good, sizeof(good), {both[0]});
  dropped(good, sizeof(good), {both[0], both[1], both[0]});
  dropped(good, sizeof(good), std::vector<int>(100, both[0]));
  protocol::Submit bad = good;
  bad.packet_bytes = sizeof(bad.packet) + 1;
  dropped(bad, sizeof(bad), both);
  bad = good;
  bad.relocations[1].fd_index = 2;
  dropped(bad, sizeof(bad), both);
  bad = good;
  bad.reserved = 1;
  dropped(bad, sizeof(bad), both);
  bad = good;
  bad.fd_count = UINT32_MAX;
  dropped(bad, sizeof(bad), both);
  for (int round = 0; round < 200; ++round) {
    std::array<std::uint32_t, 200> noise{};
    for (std::uint32_t& word : noise)
      word = static_cast<std::uint32_t>(random());
    const UniqueFd socket = raw_client(server);
    ASSERT_TRUE(send_with(socket.get(), noise.data(), random() % sizeof(noise) + 1, {}));
    EXPECT_FALSE(answer(socket.get()).has_value());
  }
  EXPECT_TRUE(works(device, 2));
  EXPECT_TRUE(cast.is_untouched());
  // Every descriptor that came along was closed again.
  EXPECT_TRUE(eventually([&] { return server.descriptors() <= before + 4; }));
}

TEST(RawClient, IsRefusedByTheServersOwnChecks) {
  const ServerProcess server;
  CastJob cast(100, 1);
  const UniqueFd socket = raw_client(server);
  ASSERT_TRUE(socket);
  const auto reason_for = [&](const protocol::Submit& message, const std::vector<int>& fds) {
    EXPECT_TRUE(send_with(socket.get(), &message, sizeof(message), fds));
    const auto record = answer(socket.get());
    EXPECT_TRUE(record.has_value());
    EXPECT_EQ(record->outcome, static_cast<std::uint32_t>(JobOutcome::Refused));
    EXPECT_EQ(record->dma_calls_in + record->dma_calls_out, 0U);
    return static_cast<Reason>(record->detail);
  };
  const std::vector<int> both{cast.source().fd, cast.destination().fd};
  const protocol::Submit good = message_of(cast);
  protocol::Submit bad = good;
  bad.packet[4] = std::byte{9}; // version
  EXPECT_EQ(reason_for(bad, both), Reason::BadPacket);
  bad = good;
  bad.packet[24] = std::byte{1}; // an address that the client chose
  EXPECT_EQ(reason_for(bad, both), Reason::BadPacket);
  bad = good;
  bad.packet_bytes = 100;
  EXPECT_EQ(reason_for(bad, both), Reason::BadPacket);
  bad = good;
  bad.relocations[0].packet_offset = 32;
  EXPECT_EQ(reason_for(bad, both), Reason::BadPacket);
  bad = good;
  bad.relocations[0].length_bytes -= 4;
  EXPECT_EQ(reason_for(bad, both), Reason::BadPacket);
  bad = good;
  bad.relocations[0].writes = 1;
  EXPECT_EQ(reason_for(bad, both), Reason::BadPacket);
  bad = good;
  bad.relocations[0].offset_bytes = UINT64_MAX - 100;
  EXPECT_EQ(reason_for(bad, both), Reason::BadMemory);
  bad = good;
  bad.relocations[1].offset_bytes = 4095;
  EXPECT_EQ(reason_for(bad, both), Reason::BadMemory);
  bad = good;
  bad.relocations[1].offset_bytes = 65;
  EXPECT_EQ(reason_for(bad, both), Reason::Misaligned);
  bad = good;
  bad.relocations[1].offset_bytes = 64 + 398;
  const UniqueFd duplicate(::dup(both[0]));
  EXPECT_EQ(reason_for(bad, {both[0], duplicate.get()}), Reason::Overlap);
  EXPECT_EQ(reason_for(good, {both[0], both[0]}), Reason::Overlap);
  // Memory that could be cut short, that cannot be written, or that is none.
  const UniqueFd unsealed(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(unsealed.get(), 4096), 0);
  EXPECT_EQ(reason_for(good, {both[0], unsealed.get()}), Reason::BadMemory);
  const std::string path = "/proc/self/fd/" + std::to_string(both[1]);
  const UniqueFd read_only(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(reason_for(good, {both[0], read_only.get()}), Reason::BadMemory);
  EXPECT_EQ(reason_for(good, {socket.get(), both[1]}), Reason::BadMemory);
  EXPECT_TRUE(cast.is_untouched());
  // The connection is as good as before.
  ASSERT_TRUE(send_with(socket.get(), &good, sizeof(good), both));
  const auto record = answer(socket.get());
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->outcome, 0U);
  EXPECT_TRUE(cast.is_done());
}

TEST(RawClient, WithTooManyJobsIsToldToWait) {
  const ServerProcess server({"--model", "latency-us=50000000", "--queue", "2"});
  const UniqueFd socket = raw_client(server);
  CastJob cast(100, 1);
  protocol::Submit message = message_of(cast);
  for (message.job = 1; message.job <= 3; ++message.job)
    ASSERT_TRUE(send_with(socket.get(), &message, sizeof(message),
                          {cast.source().fd, cast.destination().fd}));
  // The first one runs for long, the second one waits.
  const auto record = answer(socket.get());
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->outcome, static_cast<std::uint32_t>(JobOutcome::Overfull));
  EXPECT_EQ(record->job, 3U);
  EXPECT_EQ(record->detail, 2U);
}

TEST(RawClient, ThatNeverReadsIsDropped) {
  const ServerProcess server({"--queue", "1"});
  const Device device = take(Device::open(server.uri()));
  const UniqueFd socket = raw_client(server);
  CastJob cast(100, 1);
  protocol::Submit message = message_of(cast);
  message.packet[4] = std::byte{9};
  bool open = true;
  for (int i = 0; i < 100000 && open; ++i)
    open = send_with(socket.get(), &message, sizeof(message),
                     {cast.source().fd, cast.destination().fd});
  EXPECT_FALSE(open);
  EXPECT_TRUE(works(device));
}

TEST(RawClient, ThatDiesReleasesOnlyItsOwn) {
  const ServerProcess server({"--model", "latency-us=30000"});
  const Device device = take(Device::open(server.uri()));
  const std::size_t before = server.descriptors();
  CastJob kept(1000, 1);
  CastJob dying(1000, 2);
  Job job = take(device.submit(kept.plan(), kept.source(), kept.destination()));
  {
    const UniqueFd socket = raw_client(server);
    const protocol::Submit message = message_of(dying);
    for (int i = 0; i < 4; ++i)
      ASSERT_TRUE(send_with(socket.get(), &message, sizeof(message),
                            {dying.source().fd, dying.destination().fd}));
  }
  EXPECT_TRUE(job.wait(kDeadline).ok());
  EXPECT_TRUE(kept.is_done());
  EXPECT_TRUE(works(device, 3));
  // Mappings of the good client stay; those of the other one go with it.
  EXPECT_TRUE(eventually([&] { return server.descriptors() <= before + 8; }));
}

} // namespace
} // namespace simaai::runtime::test
