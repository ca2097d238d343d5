// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory that a device can be given by file descriptor: what it is, where it comes from, how the CPU gets at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include <sys/types.h>

#include <simaai/runtime/error.h>
#include <simaai/runtime/export.h>
#include <simaai/runtime/unique_fd.h>

namespace simaai::runtime {

/// What a file descriptor refers to, whoever wrapped it.
enum class MemoryKind : std::uint8_t {
  DmaBuf, ///< a DMA-BUF of the kernel, recognised by its file-system magic 0x444d4142
  Memfd,  ///< anonymous shared memory; devices that are programs can map it, hardware cannot
};

/// "dma-buf" or "memfd". Reentrant.
[[nodiscard]] SIMAAI_RUNTIME_API const char* memory_kind_name(MemoryKind kind) noexcept;

/// What inspect() finds. Two descriptors of one object have equal device and inode.
struct MemoryInfo {
  MemoryKind kind = MemoryKind::Memfd;
  bool writable = false;
  bool sealed = false; ///< cannot get shorter: F_SEAL_SHRINK, or a DMA-BUF
  dev_t device = 0;
  ino_t inode = 0;
  std::uint64_t size_bytes = 0;
};

/// Identifies the object behind a descriptor by asking the kernel. Refusals: BadDescriptor,
/// UnsupportedMemory. Does not allocate. Reentrant.
[[nodiscard]] SIMAAI_RUNTIME_API std::variant<MemoryInfo, Error> inspect(int fd) noexcept;

/// A range of an object, and the descriptor that keeps the object alive. Move-only.
class DmaBuf {
public:
  DmaBuf() noexcept = default;
  DmaBuf(UniqueFd fd, std::uint64_t offset_bytes, std::uint64_t length_bytes,
         MemoryKind kind) noexcept
      : fd_(std::move(fd)), offset_bytes_(offset_bytes), length_bytes_(length_bytes), kind_(kind) {}

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::uint64_t offset_bytes() const noexcept { return offset_bytes_; }
  [[nodiscard]] std::uint64_t length_bytes() const noexcept { return length_bytes_; }
  [[nodiscard]] MemoryKind kind() const noexcept { return kind_; }
  /// Gives the descriptor up.
  [[nodiscard]] UniqueFd release_fd() noexcept { return std::move(fd_); }

private:
  UniqueFd fd_;
  std::uint64_t offset_bytes_ = 0;
  std::uint64_t length_bytes_ = 0;
  MemoryKind kind_ = MemoryKind::Memfd;
};

/// A range of an object in this process's address space. Move-only; unmaps when destroyed.
class CpuMapping {
public:
  /// Maps [offset, offset + length) of `fd`; the offset needs no page alignment. Refusals:
  /// OutOfMemory (any failure of mmap). Accesses to a DMA-BUF need a CpuAccess around them.
  [[nodiscard]] SIMAAI_RUNTIME_API static std::variant<CpuMapping, Error>
  map(int fd, std::uint64_t offset_bytes, std::uint64_t length_bytes, bool writable) noexcept;

  SIMAAI_RUNTIME_API CpuMapping(CpuMapping&& other) noexcept;
  SIMAAI_RUNTIME_API CpuMapping& operator=(CpuMapping&& other) noexcept;
  CpuMapping(const CpuMapping&) = delete;
  CpuMapping& operator=(const CpuMapping&) = delete;
  SIMAAI_RUNTIME_API ~CpuMapping();

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

private:
  CpuMapping() noexcept = default;
  std::byte* data_ = nullptr; ///< first byte asked for
  std::uint64_t size_bytes_ = 0;
  void* pages_ = nullptr;
  std::size_t pages_bytes_ = 0;
};

/// Direction of CPU accesses inside a CpuAccess.
enum class CpuAccessMode : std::uint8_t { Read, Write, ReadWrite };

/// Brackets CPU accesses to mapped memory: DMA_BUF_IOCTL_SYNC start when made, end when destroyed,
/// always in pairs. On a memfd both are nothing: it is ordinary cached memory that no device sees
/// past the CPU's caches, and the kernel has no such call for it. Move-only. Thread-bound.
class CpuAccess {
public:
  /// Refusal: SyncFailed; nothing is started then. `fd` stays open for the guard's life.
  [[nodiscard]] SIMAAI_RUNTIME_API static std::variant<CpuAccess, Error>
  begin(int fd, MemoryKind kind, CpuAccessMode mode) noexcept;

  SIMAAI_RUNTIME_API CpuAccess(CpuAccess&& other) noexcept;
  CpuAccess& operator=(CpuAccess&&) = delete;
  CpuAccess(const CpuAccess&) = delete;
  CpuAccess& operator=(const CpuAccess&) = delete;
  SIMAAI_RUNTIME_API ~CpuAccess();

  /// Ends the access now and tells whether the kernel accepted it. The destructor does nothing
  /// after it.
  SIMAAI_RUNTIME_API Status end() noexcept;

private:
  CpuAccess(int fd, std::uint64_t flags) noexcept : fd_(fd), flags_(flags) {}
  int fd_ = -1; ///< negative: nothing to end
  std::uint64_t flags_ = 0;
};

/// Where buffers come from, best first.
enum class BufferSourceKind : std::uint8_t { DmaHeap, Udmabuf, DrmDumb, Memfd };

/// Allocates fd-backed memory from one source of this machine. Move-only. Thread-safe.
class BufferSource {
public:
  /// The first that works of: DMA heap (`linux,cma`, then `system`), udmabuf, a DRM dumb buffer
  /// exported by PRIME, a memfd sealed against shrinking. A source works where it allocates one
  /// page; the last one always does, so that allocation never silently changes kind afterwards.
  [[nodiscard]] SIMAAI_RUNTIME_API static BufferSource best() noexcept;
  /// One source. Refusal: DeviceUnavailable with the errno.
  [[nodiscard]] SIMAAI_RUNTIME_API static std::variant<BufferSource, Error>
  open(BufferSourceKind kind) noexcept;

  [[nodiscard]] BufferSourceKind kind() const noexcept { return kind_; }
  [[nodiscard]] MemoryKind memory_kind() const noexcept {
    return kind_ == BufferSourceKind::Memfd ? MemoryKind::Memfd : MemoryKind::DmaBuf;
  }
  /// "dma-heap", "udmabuf", "drm-dumb" or "memfd".
  [[nodiscard]] SIMAAI_RUNTIME_API const char* name() const noexcept;

  /// Zeroed memory of at least `bytes`, rounded up to pages. Refusal: OutOfMemory.
  [[nodiscard]] SIMAAI_RUNTIME_API std::variant<DmaBuf, Error>
  allocate(std::uint64_t bytes) const noexcept;

private:
  BufferSource(BufferSourceKind kind, UniqueFd device) noexcept
      : kind_(kind), device_(std::move(device)) {}
  BufferSourceKind kind_;
  UniqueFd device_; ///< none for Memfd
};

} // namespace simaai::runtime
