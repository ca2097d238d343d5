// SPDX-License-Identifier: LGPL-2.1-or-later
// The runtime's memory on a kernel that has DMA-BUFs: every source and their order, CPU access, other processes, jobs, leaks.
// Runs in the virtual machine, as root, under sync_guard.cpp.
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_cast.h"
#include "firmware/model/transport/model_transport.h"
#include "observer.h"
#include "runtime/descriptors.h"
#include "runtime/jobs.h"
#include "runtime/server_process.h"

namespace simaai::runtime::test {
namespace {

using simaai::test::brackets;
using simaai::test::forget_brackets;

constexpr std::array kSources{BufferSourceKind::DmaHeap, BufferSourceKind::Udmabuf,
                              BufferSourceKind::DrmDumb};

/// Hides a device node for the life of the guard.
class Hidden {
public:
  explicit Hidden(std::string path) : path_(std::move(path)) {
    std::filesystem::rename(path_, path_ + ".hidden");
  }
  ~Hidden() { std::filesystem::rename(path_ + ".hidden", path_); }
  Hidden(const Hidden&) = delete;
  Hidden& operator=(const Hidden&) = delete;

private:
  std::string path_;
};

class OfKind : public ::testing::TestWithParam<BufferSourceKind> {};

TEST_P(OfKind, GivesZeroedDmaBufsOfWholePages) {
  const DmaBuf buffer = allocate(GetParam(), 5000);
  EXPECT_EQ(buffer.kind(), MemoryKind::DmaBuf);
  EXPECT_EQ(buffer.length_bytes(), 8192U);
  EXPECT_TRUE(::fcntl(buffer.fd(), F_GETFD) & FD_CLOEXEC);
  const MemoryInfo info = take(inspect(buffer.fd()));
  EXPECT_EQ(info.kind, MemoryKind::DmaBuf);
  EXPECT_TRUE(info.sealed && info.writable);
  EXPECT_EQ(info.size_bytes, 8192U);
  access(buffer, CpuAccessMode::Read, [](const std::byte* data, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; ++i)
      ASSERT_EQ(data[i], std::byte{0}) << i;
  });
}

TEST_P(OfKind, CannotGetShorter) {
  const DmaBuf buffer = allocate(GetParam(), 8192);
  EXPECT_NE(::ftruncate(buffer.fd(), 0), 0);
  EXPECT_EQ(take(inspect(buffer.fd())).size_bytes, 8192U);
}

TEST_P(OfKind, KeepsWhatWasWrittenThroughAnyMapping) {
  const DmaBuf buffer = allocate(GetParam(), 3 * 4096);
  const UniqueFd duplicate(::dup(buffer.fd()));
  EXPECT_EQ(take(inspect(duplicate.get())).inode, take(inspect(buffer.fd())).inode);
  const CpuMapping part = take(CpuMapping::map(duplicate.get(), 4099, 5000, true));
  {
    const CpuAccess open =
        take(CpuAccess::begin(duplicate.get(), MemoryKind::DmaBuf, CpuAccessMode::Write));
    for (std::size_t i = 0; i < 5000; ++i)
      part.data()[i] = static_cast<std::byte>(i % 251 + 1);
  }
  access(buffer, CpuAccessMode::Read, [](const std::byte* data, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; ++i)
      ASSERT_EQ(data[i],
                i < 4099 || i >= 9099 ? std::byte{0} : static_cast<std::byte>((i - 4099) % 251 + 1))
          << i;
  });
}

TEST_P(OfKind, BracketsEachModeInPairs) {
  const DmaBuf buffer = allocate(GetParam(), 4096);
  forget_brackets();
  for (const CpuAccessMode mode :
       {CpuAccessMode::Read, CpuAccessMode::Write, CpuAccessMode::ReadWrite}) {
    CpuAccess open = take(CpuAccess::begin(buffer.fd(), buffer.kind(), mode));
    const CpuAccess nested = take(CpuAccess::begin(buffer.fd(), buffer.kind(), mode));
    EXPECT_TRUE(open.end().ok());
    EXPECT_TRUE(open.end().ok());
  }
  EXPECT_EQ(brackets(::getpid()),
            (std::map<std::string, int>{{"read", 2}, {"write", 2}, {"both", 2}}));
}

/// Exit status or signal of a process that runs `body`.
template <class Body> int run_apart(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  (void)::waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

/// The guard that the other tests rely on is there and bites.
TEST_P(OfKind, IsOutOfReachOutsideOfBrackets) {
  const DmaBuf buffer = allocate(GetParam(), 4096);
  const CpuMapping mapping = take(CpuMapping::map(buffer.fd(), 0, 4096, true));
  volatile std::byte* data = mapping.data();
  EXPECT_EQ(run_apart([&] { (void)data[0]; }), SIGSEGV);
  EXPECT_EQ(run_apart([&] {
              const auto open = CpuAccess::begin(buffer.fd(), buffer.kind(), CpuAccessMode::Read);
              data[0] = std::byte{1};
            }),
            SIGSEGV);
  EXPECT_EQ(run_apart([&] {
              (void)CpuAccess::begin(buffer.fd(), buffer.kind(), CpuAccessMode::Read);
              (void)data[0];
            }),
            SIGSEGV);
  EXPECT_EQ(run_apart([&] {
              const auto open = CpuAccess::begin(buffer.fd(), buffer.kind(), CpuAccessMode::Write);
              data[0] = std::byte{1};
            }),
            0);
}

void send_descriptor(int socket, int fd) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  char byte = 0;
  iovec text{&byte, 1};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &fd, sizeof(int));
  ASSERT_EQ(::sendmsg(socket, &message, 0), 1);
}

UniqueFd receive_descriptor(int socket) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  char byte = 0;
  iovec text{&byte, 1};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  std::array<UniqueFd, 1> taken;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) == 1)
    (void)take_descriptors(message, taken);
  return std::move(taken[0]);
}

/// The process that is given the object checks what it holds and answers in it: 0 where all was right.
int answer(int socket, ino_t inode) {
  const UniqueFd fd = receive_descriptor(socket);
  const auto found = inspect(fd.get());
  const auto* info = std::get_if<MemoryInfo>(&found);
  if (info == nullptr || info->kind != MemoryKind::DmaBuf || info->inode != inode)
    return 1;
  auto mapped = CpuMapping::map(fd.get(), 0, 4096, true);
  const auto* mapping = std::get_if<CpuMapping>(&mapped);
  const auto open = CpuAccess::begin(fd.get(), info->kind, CpuAccessMode::ReadWrite);
  if (mapping == nullptr || !std::holds_alternative<CpuAccess>(open))
    return 2;
  for (std::size_t i = 0; i < 4096; ++i) {
    if (mapping->data()[i] != std::byte{0x35})
      return 3;
    mapping->data()[i] = static_cast<std::byte>(i % 253);
  }
  return 0;
}

TEST_P(OfKind, IsSharedWithAnotherProcess) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  // Made before the object: the descriptor can only come through the socket.
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const UniqueFd reads(pipe[0]);
  const UniqueFd writes(pipe[1]);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ino_t inode = 0;
    (void)!::read(reads.get(), &inode, sizeof(inode));
    ::_exit(answer(theirs.get(), inode));
  }
  std::optional<DmaBuf> buffer(allocate(GetParam(), 4096));
  fill(*buffer, std::byte{0x35});
  const ino_t inode = take(inspect(buffer->fd())).inode;
  ASSERT_EQ(::write(writes.get(), &inode, sizeof(inode)), static_cast<ssize_t>(sizeof(inode)));
  send_descriptor(ours.get(), buffer->fd());
  int status = -1;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  access(*buffer, CpuAccessMode::Read, [](const std::byte* data, std::uint64_t bytes) {
    for (std::uint64_t i = 0; i < bytes; ++i)
      ASSERT_EQ(data[i], static_cast<std::byte>(i % 253)) << i;
  });
}

TEST_P(OfKind, RunsJobsOnTheModel) {
  model::register_model_transport();
  const Device device = take(Device::open("model:workers=2,dma=deferred,seed=3"));
  expect_job(device, GetParam(), ::getpid());
  expect_refusals(device, GetParam());
}

TEST_P(OfKind, RunsJobsOnTheServer) {
  const ServerProcess server;
  const Device device = take(Device::open(server.uri()));
  expect_job(device, GetParam(), server.pid());
  expect_refusals(device, GetParam());
}

std::string name_of(const ::testing::TestParamInfo<BufferSourceKind>& source) {
  return std::array{"DmaHeap", "Udmabuf", "DrmDumb"}.at(source.index);
}

INSTANTIATE_TEST_SUITE_P(Source, OfKind, ::testing::ValuesIn(kSources), name_of);

TEST(Best, TakesTheFirstThatWorks) {
  EXPECT_STREQ(BufferSource::best().name(), "dma-heap");
  const Hidden heap("/dev/dma_heap/system");
  EXPECT_STREQ(BufferSource::best().name(), "udmabuf");
  const Hidden udmabuf("/dev/udmabuf");
  const BufferSource drm = BufferSource::best();
  EXPECT_STREQ(drm.name(), "drm-dumb");
  EXPECT_EQ(take(inspect(take(drm.allocate(100)).fd())).kind, MemoryKind::DmaBuf);
  const Hidden card("/dev/dri/card0");
  const BufferSource last = BufferSource::best();
  EXPECT_STREQ(last.name(), "memfd");
  EXPECT_EQ(take(inspect(take(last.allocate(100)).fd())).kind, MemoryKind::Memfd);
  // A source that is open stays what it is.
  EXPECT_EQ(take(inspect(take(drm.allocate(100)).fd())).kind, MemoryKind::DmaBuf);
}

/// A memfd is no DMA-BUF: the kernel has no SYNC for it.
TEST(Memfd, IsToldApart) {
  const DmaBuf memory = allocate(BufferSourceKind::Memfd, 4096);
  EXPECT_EQ(take(inspect(memory.fd())).kind, MemoryKind::Memfd);
  EXPECT_EQ(code_of(CpuAccess::begin(memory.fd(), MemoryKind::DmaBuf, CpuAccessMode::Read)),
            ErrorCode::SyncFailed);
}

[[maybe_unused]] const bool kWatched = [] {
  simaai::test::expect_no_dma_buf_left();
  return true;
}();

} // namespace
} // namespace simaai::runtime::test
