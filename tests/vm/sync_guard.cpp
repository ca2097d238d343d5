// SPDX-License-Identifier: LGPL-2.1-or-later
// Preloaded into programs of the virtual machine: takes CPU mappings of DMA-BUFs away except between SYNC start and end.
//
// A program that touches a DMA-BUF outside of such a bracket, or writes inside one for reading, is killed by SIGSEGV. The file
// that SIMAAI_SYNC_LOG names gets a line for each call: PID INODE start|end read|write|both, and "PID INODE left" at the end of a
// process for each object whose calls did not balance.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace {

struct Mapping {
  void* address;
  std::size_t bytes;
  int rights;
};

struct Object {
  int readers = 0; ///< brackets that are open
  int writers = 0;
  std::vector<Mapping> mappings;
};

struct Guard {
  std::mutex mutex;
  std::map<ino_t, Object> objects;
};

/// Never destroyed: libraries unmap until the very end.
Guard& guard() {
  static auto* only = new Guard();
  return *only;
}

void log(const char* line, int bytes) {
  const char* path = std::getenv("SIMAAI_SYNC_LOG");
  if (path == nullptr || bytes <= 0)
    return;
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file >= 0) {
    (void)!::write(file, line, static_cast<std::size_t>(bytes));
    ::close(file);
  }
}

/// 0 for what is no DMA-BUF.
ino_t dma_buf_inode(int fd) {
  struct statfs system {};
  struct stat file {};
  constexpr long kDmaBufMagic = 0x444d4142;
  if (::fstatfs(fd, &system) != 0 || system.f_type != kDmaBufMagic || ::fstat(fd, &file) != 0)
    return 0;
  return file.st_ino;
}

int rights_now(const Object& object) {
  return (object.readers > 0 || object.writers > 0 ? PROT_READ : PROT_NONE) |
         (object.writers > 0 ? PROT_WRITE : PROT_NONE);
}

void protect(const Object& object) {
  for (const Mapping& mapping : object.mappings)
    if (::syscall(SYS_mprotect, mapping.address, mapping.bytes,
                  rights_now(object) & mapping.rights) != 0)
      std::abort();
}

void count(ino_t inode, std::uint64_t flags, int by) {
  Guard& all = guard();
  const std::lock_guard lock(all.mutex);
  Object& object = all.objects[inode];
  if ((flags & DMA_BUF_SYNC_READ) != 0)
    object.readers += by;
  if ((flags & DMA_BUF_SYNC_WRITE) != 0)
    object.writers += by;
  protect(object);
}

int sync(int fd, dma_buf_sync* request) {
  const ino_t inode = dma_buf_inode(fd);
  const std::uint64_t flags = request->flags;
  const bool ends = (flags & DMA_BUF_SYNC_END) != 0;
  if (ends && inode != 0)
    count(inode, flags, -1);
  const long result = ::syscall(SYS_ioctl, fd, DMA_BUF_IOCTL_SYNC, request);
  const int reason = errno;
  if (inode != 0 && (result == 0) != ends) // a start that worked, an end that did not
    count(inode, flags, 1);
  if (result == 0) {
    const std::uint64_t way = flags & DMA_BUF_SYNC_RW;
    std::array<char, 96> line{};
    const char* mode = way == DMA_BUF_SYNC_RW     ? "both"
                       : way == DMA_BUF_SYNC_READ ? "read"
                                                  : "write";
    log(line.data(),
        std::snprintf(line.data(), line.size(), "%d %lu %s %s\n", ::getpid(),
                      static_cast<unsigned long>(inode), ends ? "end" : "start", mode));
  }
  errno = reason;
  return static_cast<int>(result);
}

void* map(void* address, std::size_t bytes, int rights, int flags, int fd, off_t offset) {
  void* mapped =
      reinterpret_cast<void*>(::syscall(SYS_mmap, address, bytes, rights, flags, fd, offset));
  if (mapped == MAP_FAILED || fd < 0 || (flags & MAP_ANONYMOUS) != 0)
    return mapped;
  const ino_t inode = dma_buf_inode(fd);
  if (inode == 0)
    return mapped;
  Guard& all = guard();
  const std::lock_guard lock(all.mutex);
  Object& object = all.objects[inode];
  object.mappings.push_back({mapped, bytes, rights});
  protect(object);
  return mapped;
}

/// A call that was started and not ended, or ended and not started.
__attribute__((destructor)) void report() {
  Guard& all = guard();
  const std::lock_guard lock(all.mutex);
  for (const auto& [inode, object] : all.objects) {
    if (object.readers == 0 && object.writers == 0)
      continue;
    std::array<char, 96> line{};
    log(line.data(), std::snprintf(line.data(), line.size(), "%d %lu left\n", ::getpid(),
                                   static_cast<unsigned long>(inode)));
  }
}

} // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (request == DMA_BUF_IOCTL_SYNC)
    return sync(fd, static_cast<dma_buf_sync*>(argument));
  return static_cast<int>(::syscall(SYS_ioctl, fd, request, argument));
}

// Both names of the call: which one a program uses depends on how it counts file offsets.
EXPORT void* map_plain(void*, std::size_t, int, int, int, off_t) noexcept __asm__("mmap");
EXPORT void* map_large(void*, std::size_t, int, int, int, off_t) noexcept __asm__("mmap64");
void* map_plain(void* address, std::size_t bytes, int rights, int flags, int fd,
                off_t offset) noexcept {
  return map(address, bytes, rights, flags, fd, offset);
}
void* map_large(void* address, std::size_t bytes, int rights, int flags, int fd,
                off_t offset) noexcept {
  return map(address, bytes, rights, flags, fd, offset);
}

/// GStreamer changes the rights of mappings that it keeps.
EXPORT int mprotect(void* address, std::size_t bytes, int rights) noexcept {
  Guard& all = guard();
  const std::lock_guard lock(all.mutex);
  for (auto& [inode, object] : all.objects)
    for (Mapping& mapping : object.mappings)
      if (mapping.address == address) {
        mapping.rights = rights;
        protect(object);
        return 0;
      }
  return static_cast<int>(::syscall(SYS_mprotect, address, bytes, rights));
}

EXPORT int munmap(void* address, std::size_t bytes) noexcept {
  {
    Guard& all = guard();
    const std::lock_guard lock(all.mutex);
    for (auto& [inode, object] : all.objects) {
      const auto gone = std::find_if(object.mappings.begin(), object.mappings.end(),
                                     [&](const Mapping& one) { return one.address == address; });
      if (gone != object.mappings.end()) {
        object.mappings.erase(gone);
        break;
      }
    }
  }
  return static_cast<int>(::syscall(SYS_munmap, address, bytes));
}
