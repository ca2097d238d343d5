// SPDX-License-Identifier: LGPL-2.1-or-later
// Objects behind descriptors: identification, mapping, CPU access.
#include <cerrno>
#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <simaai/runtime/dma_buf.h>

#include "runtime/common.h"

namespace simaai::runtime {
namespace {

constexpr std::int64_t kDmaBufMagic = 0x444d4142;    // "DMAB"
constexpr std::int64_t kHugePagesMagic = 0x958458f6; // hugetlbfs

Error bad_descriptor(int fd) noexcept { return make_error(ErrorCode::BadDescriptor, 0, fd, errno); }

std::uint64_t sync_flags(CpuAccessMode mode) noexcept {
  switch (mode) {
  case CpuAccessMode::Read:
    return DMA_BUF_SYNC_READ;
  case CpuAccessMode::Write:
    return DMA_BUF_SYNC_WRITE;
  case CpuAccessMode::ReadWrite:
    return DMA_BUF_SYNC_RW;
  }
  return DMA_BUF_SYNC_RW;
}

/// 0, or the errno.
int sync(int fd, std::uint64_t flags) noexcept {
  dma_buf_sync request{};
  request.flags = flags;
  while (::ioctl(fd, DMA_BUF_IOCTL_SYNC, &request) != 0)
    if (errno != EINTR && errno != EAGAIN)
      return errno;
  return 0;
}

} // namespace

const char* memory_kind_name(MemoryKind kind) noexcept {
  switch (kind) {
  case MemoryKind::DmaBuf:
    return "dma-buf";
  case MemoryKind::Memfd:
    return "memfd";
  }
  return "unknown";
}

std::variant<MemoryInfo, Error> inspect(int fd) noexcept {
  struct stat file {};
  if (::fstat(fd, &file) != 0)
    return bad_descriptor(fd);
  const int open_flags = ::fcntl(fd, F_GETFL);
  if (open_flags < 0)
    return bad_descriptor(fd);
  MemoryInfo info;
  info.device = file.st_dev;
  info.inode = file.st_ino;
  info.size_bytes = static_cast<std::uint64_t>(file.st_size);
  info.writable = (open_flags & O_ACCMODE) == O_RDWR;
  // Only memfds (and files of tmpfs and hugetlbfs, which behave alike) have seals.
  if (const int seals = ::fcntl(fd, F_GET_SEALS); seals >= 0) {
    // The seal keeps the length, not the pages: a hole in huge pages may find none any more, which ends whoever has them
    // mapped. Their blocks are larger than a page, as those of some other tmpfs are.
    struct statfs system {};
    if (file.st_blksize > ::getpagesize() && ::fstatfs(fd, &system) == 0 &&
        static_cast<std::int64_t>(system.f_type) == kHugePagesMagic)
      return make_error(ErrorCode::UnsupportedMemory, 0, kHugePagesMagic);
    info.kind = MemoryKind::Memfd;
    info.sealed = (seals & F_SEAL_SHRINK) != 0;
    info.writable = info.writable && (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == 0;
    return info;
  }
  struct statfs system {};
  if (::fstatfs(fd, &system) != 0)
    return bad_descriptor(fd);
  if (static_cast<std::int64_t>(system.f_type) != kDmaBufMagic)
    return make_error(ErrorCode::UnsupportedMemory, 0, static_cast<std::int64_t>(system.f_type));
  // Older kernels report no size in stat.
  const off_t end = ::lseek(fd, 0, SEEK_END);
  if (end < 0)
    return bad_descriptor(fd);
  info.kind = MemoryKind::DmaBuf;
  info.sealed = true;
  info.size_bytes = static_cast<std::uint64_t>(end);
  return info;
}

std::variant<CpuMapping, Error> CpuMapping::map(int fd, std::uint64_t offset_bytes,
                                                std::uint64_t length_bytes,
                                                bool writable) noexcept {
  // From the first byte of the object on: DRM drivers whose buffers are in shared memory ignore the offset of a mapping.
  const std::uint64_t size = offset_bytes + length_bytes;
  if (length_bytes == 0 || length_bytes > INT64_MAX || offset_bytes > INT64_MAX) {
    errno = EINVAL;
    return make_error(ErrorCode::OutOfMemory, clamp(length_bytes), 0, errno);
  }
  void* pages =
      ::mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (pages == MAP_FAILED)
    return make_error(ErrorCode::OutOfMemory, clamp(length_bytes), 0, errno);
  CpuMapping mapping;
  mapping.pages_ = pages;
  mapping.pages_bytes_ = size;
  mapping.data_ = static_cast<std::byte*>(pages) + offset_bytes;
  mapping.size_bytes_ = length_bytes;
  return mapping;
}

CpuMapping::CpuMapping(CpuMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)),
      pages_(std::exchange(other.pages_, nullptr)),
      pages_bytes_(std::exchange(other.pages_bytes_, 0)) {}

CpuMapping& CpuMapping::operator=(CpuMapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(pages_, other.pages_);
  std::swap(pages_bytes_, other.pages_bytes_);
  return *this;
}

CpuMapping::~CpuMapping() {
  if (pages_ != nullptr)
    ::munmap(pages_, pages_bytes_);
}

std::variant<CpuAccess, Error> CpuAccess::begin(int fd, MemoryKind kind,
                                                CpuAccessMode mode) noexcept {
  switch (kind) {
  case MemoryKind::Memfd:
    return CpuAccess(-1, 0);
  case MemoryKind::DmaBuf:
    break;
  }
  const std::uint64_t flags = sync_flags(mode);
  if (const int failed = sync(fd, DMA_BUF_SYNC_START | flags); failed != 0)
    return make_error(ErrorCode::SyncFailed, 0, 0, failed);
  return CpuAccess(fd, flags);
}

CpuAccess::CpuAccess(CpuAccess&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), flags_(other.flags_) {}

CpuAccess::~CpuAccess() { (void)end(); }

Status CpuAccess::end() noexcept {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0)
    return {};
  if (const int failed = sync(fd, DMA_BUF_SYNC_END | flags_); failed != 0)
    return make_error(ErrorCode::SyncFailed, 0, 0, failed);
  return {};
}

} // namespace simaai::runtime
