// SPDX-License-Identifier: LGPL-2.1-or-later
// The transport unix: facing a server that lies. Its process ends when the test says so: until then the memory of jobs
// stays with it, whatever it said.
#include <atomic>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs.h"
#include "runtime/protocol.h"

namespace {

std::atomic<int> waits{0}; ///< calls of ppoll(), which the library waits with

} // namespace

// Found by the library before that of the C library.
extern "C" __attribute__((visibility("default"))) int
ppoll(pollfd* watched, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  ++waits;
  timespec left = timeout != nullptr ? *timeout : timespec{}; // the kernel writes to it
  return static_cast<int>(::syscall(SYS_ppoll, watched, count, timeout != nullptr ? &left : nullptr,
                                    mask, sizeof(std::uint64_t)));
}

namespace simaai::runtime::test {
namespace {

using std::chrono::milliseconds;

/// A process that listens and gives every connection, numbered from 0, to the script. It never ends by itself.
class HostileServer {
public:
  using Script = std::function<void(int socket, int number)>;
  explicit HostileServer(const Script& script) {
    std::string pattern = std::filesystem::temp_directory_path() / "simaai-hostile-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr)
      std::abort();
    folder_ = pattern;
    int ready[2];
    if (::pipe(ready) != 0)
      std::abort();
    pid_ = ::fork();
    if (pid_ == 0) {
      (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
      serve(script, ready[1]);
    }
    char byte = 0;
    if (::read(ready[0], &byte, 1) != 1)
      std::abort();
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~HostileServer() {
    if (pid_ > 0)
      kill();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  HostileServer(const HostileServer&) = delete;
  HostileServer& operator=(const HostileServer&) = delete;
  [[nodiscard]] std::string uri() const { return "unix:" + folder_ + "/socket"; }
  void kill() {
    ::kill(pid_, SIGKILL);
    (void)::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

private:
  [[noreturn]] void serve(const Script& script, int ready) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, (folder_ + "/socket").c_str(), sizeof(address.sun_path) - 1);
    const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(listener, 16) != 0 || ::write(ready, "", 1) != 1)
      std::_Exit(1);
    for (int number = 0;; ++number)
      script(::accept(listener, nullptr, nullptr), number);
  }
  std::string folder_;
  pid_t pid_ = -1;
};

protocol::Hello good_hello() {
  protocol::Hello hello{};
  hello.header = protocol::header_of<protocol::Hello>(protocol::MessageType::Hello);
  hello.queue_limit = 8;
  hello.capability_count = 1;
  hello.capabilities[0] = {1, 1, 3, 0xff, 0xff};
  return hello;
}

template <class Message>
void say(int socket, const Message& message, std::size_t bytes = sizeof(Message)) {
  (void)!::send(socket, &message, bytes, MSG_NOSIGNAL);
}

/// Reads one job and returns its number.
std::uint64_t hear(int socket) {
  protocol::Submit message{};
  (void)!::recv(socket, &message, sizeof(message), 0);
  return message.job;
}

protocol::CompletionRecord completion(std::uint64_t job) {
  protocol::CompletionRecord record{};
  record.header =
      protocol::header_of<protocol::CompletionRecord>(protocol::MessageType::Completion);
  record.job = job;
  return record;
}

TEST(HostileServer, ThatGreetsWronglyIsNotOpened) {
  constexpr int kSpoiled = sizeof(protocol::Header);
  const HostileServer server([](int socket, int number) {
    protocol::Hello hello = good_hello();
    if (number < kSpoiled)
      reinterpret_cast<std::byte*>(&hello)[number] ^= std::byte{0x20};
    else if (number == kSpoiled)
      hello.capability_count = 99;
    else if (number == kSpoiled + 1)
      hello.capability_count = UINT32_MAX;
    else if (number == kSpoiled + 2)
      hello.queue_limit = 0;
    std::vector<std::byte> bytes(sizeof(hello) + 1);
    std::memcpy(bytes.data(), &hello, sizeof(hello));
    std::size_t size = sizeof(hello);
    if (number == kSpoiled + 3)
      size = 1;
    else if (number == kSpoiled + 4)
      ++size;
    else if (number == kSpoiled + 5)
      size = 0;
    if (number != kSpoiled + 6)
      (void)!::send(socket, bytes.data(), size, MSG_NOSIGNAL);
    ::close(socket);
  });
  for (int number = 0; number < kSpoiled + 7; ++number) {
    const ErrorCode code = code_of(Device::open(server.uri()));
    EXPECT_TRUE(code == ErrorCode::ProtocolMismatch || code == ErrorCode::DeviceUnavailable)
        << number;
  }
  EXPECT_TRUE(std::holds_alternative<Device>(Device::open(server.uri())));
}

/// One job on a server that greets well and then follows the script.
struct OneJob {
  explicit OneJob(const std::function<void(int, std::uint64_t)>& answer)
      : server([&answer](int socket, int) {
          say(socket, good_hello());
          answer(socket, hear(socket));
        }),
        device(take(Device::open(server.uri()))),
        job(take(device.submit(cast_plan(100), holding.bind(source), holding.bind(destination)))) {}
  Holding holding;
  DmaBuf source = memory(400);
  DmaBuf destination = memory(200);
  HostileServer server;
  Device device;
  Job job;
};

TEST(HostileServer, ThatAnswersNonsenseIsLostAndHoldsTheBuffersUntilItsEnd) {
  const std::function<void(int, std::uint64_t)> answers[] = {
      [](int socket, std::uint64_t job) { say(socket, completion(job), 1); },
      [](int socket, std::uint64_t job) {
        say(socket, completion(job), sizeof(protocol::CompletionRecord) - 1);
      },
      [](int socket, std::uint64_t job) {
        protocol::CompletionRecord record = completion(job);
        record.header.magic ^= 1;
        say(socket, record);
      },
      [](int socket, std::uint64_t job) {
        protocol::CompletionRecord record = completion(job);
        record.header.version = 1;
        say(socket, record);
      },
      [](int socket, std::uint64_t) { say(socket, good_hello()); },
      [](int socket, std::uint64_t) {
        const std::vector<std::byte> noise(5000, std::byte{0x41});
        (void)!::send(socket, noise.data(), noise.size(), MSG_NOSIGNAL);
      },
      [](int socket, std::uint64_t) { ::close(socket); },
      // Of a job that it was never given; then there is none left to answer.
      [](int socket, std::uint64_t job) {
        say(socket, completion(job + 1000));
        say(socket, completion(job));
      },
  };
  for (const auto& answer : answers) {
    OneJob one(answer);
    EXPECT_EQ(code_of(one.job.wait(kDeadline)), ErrorCode::DeviceLost);
    EXPECT_TRUE(one.device.lost());
    EXPECT_EQ(one.holding.held(), 2);
    EXPECT_EQ(one.job.state(), JobState::Parked);
    one.server.kill();
    EXPECT_TRUE(eventually([&] { return one.holding.held() == 0; }));
    EXPECT_EQ(one.job.state(), JobState::Failed);
  }
}

TEST(HostileServer, ThatInventsAnOutcomeFailsTheJob) {
  OneJob one([](int socket, std::uint64_t job) {
    protocol::CompletionRecord record = completion(job);
    record.outcome = 0xfffffff0;
    record.entry_status = UINT32_MAX;
    record.detail = UINT32_MAX;
    record.route = UINT32_MAX;
    record.started_ns = UINT64_MAX;
    say(socket, record);
  });
  const Status status = one.job.wait(kDeadline);
  EXPECT_EQ(code_of(status), ErrorCode::JobRefused);
  EXPECT_FALSE(status.error().message().empty());
  EXPECT_EQ(one.holding.held(), 0);
}

TEST(HostileServer, IsNotWatchedInALoopAfterItsLoss) {
  OneJob one([](int socket, std::uint64_t) { ::close(socket); });
  EXPECT_EQ(code_of(one.job.wait(kDeadline)), ErrorCode::DeviceLost);
  EXPECT_EQ(parked_jobs(one.server.uri()), 1U);
  one.device.wake();
  std::this_thread::sleep_for(milliseconds(100));
  const int before = waits;
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_LE(waits - before, 5);
  one.server.kill();
  EXPECT_TRUE(eventually([&] { return one.holding.held() == 0; }));
}

TEST(HostileServer, ThatNeverReadsMakesNobodyWait) {
  HostileServer server([](int socket, int) {
    protocol::Hello hello = good_hello();
    hello.queue_limit = UINT32_MAX;
    say(socket, hello);
  });
  const Device device = take(Device::open(server.uri()));
  const Plan plan = cast_plan(100);
  const DmaBuf source = memory(400);
  const DmaBuf destination = memory(200);
  Holding holding;
  std::vector<Job> jobs;
  bool full = false;
  for (std::size_t i = 0; i <= Device::kMaxJobs && !full; ++i) {
    auto submitted = device.submit(plan, holding.bind(source), holding.bind(destination));
    full = code_of(submitted) == ErrorCode::QueueFull;
    if (auto* job = std::get_if<Job>(&submitted))
      jobs.push_back(std::move(*job));
  }
  EXPECT_TRUE(full);
  EXPECT_EQ(holding.held(), static_cast<int>(2 * jobs.size()));
  EXPECT_EQ(code_of(jobs.front().wait(milliseconds(1))), ErrorCode::TimedOut);
  server.kill();
  for (Job& job : jobs)
    EXPECT_FALSE(job.wait(kDeadline).ok());
  EXPECT_TRUE(eventually([&] { return holding.held() == 0; }));
}

} // namespace
} // namespace simaai::runtime::test
