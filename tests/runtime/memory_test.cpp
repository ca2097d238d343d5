// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory by descriptor: sources, identification, mapping, balanced CPU access. DMA-BUFs are simulated by answering the
// two system calls that tell them apart; that the kernel's own behave so is shown in a virtual machine.
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "jobs.h"

namespace {

std::set<int> pretended_dma_bufs;
std::vector<std::uint64_t> sync_flags;
int sync_failures = 0; ///< of the next calls, with sync_errno
int sync_errno = 0;

} // namespace

// Found by the library before those of the C library.
extern "C" __attribute__((visibility("default"))) int ioctl(int fd, unsigned long request,
                                                            ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (request != DMA_BUF_IOCTL_SYNC)
    return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
  if (pretended_dma_bufs.count(fd) == 0) {
    errno = ENOTTY;
    return -1;
  }
  if (sync_failures > 0) {
    --sync_failures;
    errno = sync_errno;
    return -1;
  }
  sync_flags.push_back(static_cast<const dma_buf_sync*>(argument)->flags);
  return 0;
}

extern "C" __attribute__((visibility("default"))) int fstatfs(int fd,
                                                              struct statfs* system) noexcept {
  if (pretended_dma_bufs.count(fd) == 0)
    return static_cast<int>(::syscall(SYS_fstatfs, fd, system));
  *system = {};
  system->f_type = 0x444d4142;
  return 0;
}

namespace simaai::runtime::test {
namespace {

struct Pretend {
  explicit Pretend(int fd) : fd_(fd) {
    pretended_dma_bufs.insert(fd);
    sync_flags.clear();
    sync_failures = 0;
  }
  ~Pretend() { pretended_dma_bufs.erase(fd_); }
  Pretend(const Pretend&) = delete;
  Pretend& operator=(const Pretend&) = delete;

private:
  int fd_;
};

TEST(UniqueFd, ClosesOnce) {
  const int raw = ::dup(0);
  {
    UniqueFd first(raw);
    UniqueFd second(std::move(first));
    EXPECT_FALSE(first);
    first = std::move(second);
    EXPECT_EQ(first.get(), raw);
    EXPECT_GE(::fcntl(raw, F_GETFD), 0);
  }
  EXPECT_EQ(::fcntl(raw, F_GETFD), -1);
  UniqueFd kept(::dup(0));
  const int released = kept.release();
  kept.reset();
  EXPECT_GE(::fcntl(released, F_GETFD), 0);
  ::close(released);
}

TEST(Source, OfLastResortGivesSealedZeroedPages) {
  const BufferSource source = take(BufferSource::open(BufferSourceKind::Memfd));
  EXPECT_STREQ(source.name(), "memfd");
  EXPECT_EQ(source.memory_kind(), MemoryKind::Memfd);
  const DmaBuf buffer = take(source.allocate(5000));
  EXPECT_EQ(buffer.kind(), MemoryKind::Memfd);
  EXPECT_EQ(buffer.length_bytes() % 4096, 0U);
  EXPECT_GE(buffer.length_bytes(), 5000U);
  EXPECT_TRUE(::fcntl(buffer.fd(), F_GETFD) & FD_CLOEXEC);
  EXPECT_NE(::ftruncate(buffer.fd(), 0), 0);
  const CpuMapping mapping = take(CpuMapping::map(buffer.fd(), 0, 5000, true));
  for (std::size_t i = 0; i < 5000; ++i)
    ASSERT_EQ(mapping.data()[i], std::byte{0});
  EXPECT_EQ(code_of(source.allocate(UINT64_MAX)), ErrorCode::OutOfMemory);
}

TEST(Source, BestIsWhatItSaysItIs) {
  const BufferSource source = BufferSource::best();
  const DmaBuf buffer = take(source.allocate(4096));
  EXPECT_EQ(take(inspect(buffer.fd())).kind, source.memory_kind());
  for (const BufferSourceKind kind :
       {BufferSourceKind::DmaHeap, BufferSourceKind::Udmabuf, BufferSourceKind::DrmDumb}) {
    auto opened = BufferSource::open(kind);
    if (const auto* better = std::get_if<BufferSource>(&opened)) {
      EXPECT_LE(source.kind(), kind);
      EXPECT_EQ(take(inspect(take(better->allocate(100)).fd())).kind, MemoryKind::DmaBuf);
    } else {
      EXPECT_EQ(code_of(opened), ErrorCode::DeviceUnavailable);
      EXPECT_NE(std::get<Error>(opened).system_error, 0);
    }
  }
}

TEST(Inspect, TellsObjectsApartAndDuplicatesNot) {
  const DmaBuf first = memory(4096);
  const DmaBuf second = memory(4096);
  const UniqueFd duplicate(::dup(first.fd()));
  const MemoryInfo a = take(inspect(first.fd()));
  const MemoryInfo b = take(inspect(second.fd()));
  const MemoryInfo c = take(inspect(duplicate.get()));
  EXPECT_EQ(a.size_bytes, 4096U);
  EXPECT_TRUE(a.sealed && a.writable);
  EXPECT_NE(a.inode, b.inode);
  EXPECT_EQ(a.inode, c.inode);
  EXPECT_EQ(a.device, c.device);
}

TEST(Inspect, KnowsDmaBufsByTheirFileSystem) {
  // An object without seals, as DMA-BUFs have none.
  const UniqueFd file(::open("/dev/zero", O_RDWR | O_CLOEXEC));
  const Pretend pretend(file.get());
  if (::fcntl(file.get(), F_GET_SEALS) >= 0)
    GTEST_SKIP() << "the device files of this machine have seals";
  const MemoryInfo info = take(inspect(file.get()));
  EXPECT_EQ(info.kind, MemoryKind::DmaBuf);
  EXPECT_TRUE(info.sealed);
}

TEST(Inspect, RefusesHugePages) {
  // A hole that is punched into them may find no page again, whatever the seals: a SIGBUS for whoever has them mapped.
  const UniqueFd huge(::memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
  if (!huge || ::ftruncate(huge.get(), 1 << 30) != 0)
    GTEST_SKIP() << "no huge pages in this kernel";
  ASSERT_EQ(::fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_EQ(code_of(inspect(huge.get())), ErrorCode::UnsupportedMemory);
}

TEST(Mapping, StartsAtAnyOffset) {
  const DmaBuf buffer = memory(3 * 4096);
  {
    const CpuMapping whole = take(CpuMapping::map(buffer.fd(), 0, 3 * 4096, true));
    for (std::size_t i = 0; i < 3 * 4096; ++i)
      whole.data()[i] = static_cast<std::byte>(i % 251);
  }
  CpuMapping part = take(CpuMapping::map(buffer.fd(), 4099, 5000, false));
  EXPECT_EQ(part.size_bytes(), 5000U);
  for (std::size_t i = 0; i < 5000; ++i)
    ASSERT_EQ(part.data()[i], static_cast<std::byte>((i + 4099) % 251));
  const std::byte* address = part.data();
  const CpuMapping moved(std::move(part));
  EXPECT_EQ(moved.data(), address);
  EXPECT_EQ(code_of(CpuMapping::map(buffer.fd(), 0, 0, false)), ErrorCode::OutOfMemory);
  EXPECT_EQ(code_of(CpuMapping::map(buffer.fd(), UINT64_MAX, 8, false)), ErrorCode::OutOfMemory);
  EXPECT_EQ(code_of(CpuMapping::map(-1, 0, 8, false)), ErrorCode::OutOfMemory);
}

TEST(CpuAccess, OfAMemfdAsksTheKernelNothing) {
  const DmaBuf buffer = memory(4096);
  sync_flags.clear();
  {
    CpuAccess access = take(CpuAccess::begin(buffer.fd(), buffer.kind(), CpuAccessMode::Read));
    EXPECT_TRUE(access.end().ok());
  }
  EXPECT_TRUE(sync_flags.empty());
}

TEST(CpuAccess, OfADmaBufIsBalanced) {
  const DmaBuf buffer = memory(4096);
  const Pretend pretend(buffer.fd());
  const std::pair<CpuAccessMode, std::uint64_t> modes[] = {
      {CpuAccessMode::Read, DMA_BUF_SYNC_READ},
      {CpuAccessMode::Write, DMA_BUF_SYNC_WRITE},
      {CpuAccessMode::ReadWrite, DMA_BUF_SYNC_RW}};
  for (const auto& [mode, flags] : modes) {
    sync_flags.clear();
    {
      CpuAccess access = take(CpuAccess::begin(buffer.fd(), MemoryKind::DmaBuf, mode));
      const CpuAccess moved(std::move(access));
      EXPECT_EQ(sync_flags.size(), 1U);
    }
    EXPECT_EQ(sync_flags,
              (std::vector<std::uint64_t>{DMA_BUF_SYNC_START | flags, DMA_BUF_SYNC_END | flags}));
    sync_flags.clear();
    {
      CpuAccess access = take(CpuAccess::begin(buffer.fd(), MemoryKind::DmaBuf, mode));
      EXPECT_TRUE(access.end().ok());
      EXPECT_TRUE(access.end().ok());
    }
    EXPECT_EQ(sync_flags.size(), 2U);
  }
}

TEST(CpuAccess, TriesAgainWhenInterruptedAndTellsWhenItFailed) {
  const DmaBuf buffer = memory(4096);
  const Pretend pretend(buffer.fd());
  sync_failures = 3;
  sync_errno = EINTR;
  {
    const CpuAccess access =
        take(CpuAccess::begin(buffer.fd(), MemoryKind::DmaBuf, CpuAccessMode::Read));
    EXPECT_EQ(sync_flags.size(), 1U);
    sync_failures = 1;
    sync_errno = EAGAIN;
  }
  EXPECT_EQ(sync_flags.size(), 2U);
  sync_failures = 1;
  sync_errno = EIO;
  EXPECT_EQ(code_of(CpuAccess::begin(buffer.fd(), MemoryKind::DmaBuf, CpuAccessMode::Read)),
            ErrorCode::SyncFailed);
  // What was never started is not ended.
  EXPECT_EQ(sync_flags.size(), 2U);
}

} // namespace
} // namespace simaai::runtime::test
