// SPDX-License-Identifier: LGPL-2.1-or-later
// Allocation of fd-backed memory: DMA heap, udmabuf, DRM dumb buffers, sealed memfd.
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <linux/dma-heap.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#if SIMAAI_HAVE_LIBDRM
#include <xf86drm.h>
#endif

#include <simaai/runtime/dma_buf.h>

#include "runtime/common.h"

namespace simaai::runtime {
namespace {

constexpr std::array kHeaps{"/dev/dma_heap/linux,cma", "/dev/dma_heap/system"};
constexpr const char* kUdmabuf = "/dev/udmabuf";

std::uint64_t round_to_pages(std::uint64_t bytes) noexcept {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t wanted = bytes == 0 ? 1 : bytes;
  return (wanted + page - 1) / page * page;
}

UniqueFd memfd(std::uint64_t bytes) noexcept {
  UniqueFd fd(::memfd_create("simaai-buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0)
    return {};
  return fd;
}

UniqueFd heap_buffer(int device, std::uint64_t bytes) noexcept {
  dma_heap_allocation_data request{};
  request.len = bytes;
  request.fd_flags = O_CLOEXEC | O_RDWR;
  if (::ioctl(device, DMA_HEAP_IOCTL_ALLOC, &request) != 0)
    return {};
  return UniqueFd(static_cast<int>(request.fd));
}

UniqueFd udmabuf_buffer(int device, std::uint64_t bytes) noexcept {
  const UniqueFd pages = memfd(bytes);
  if (!pages)
    return {};
  udmabuf_create request{};
  request.memfd = static_cast<std::uint32_t>(pages.get());
  request.flags = UDMABUF_FLAGS_CLOEXEC;
  request.size = bytes;
  return UniqueFd(::ioctl(device, UDMABUF_CREATE, &request));
}

#if SIMAAI_HAVE_LIBDRM
/// A dumb buffer is a picture: one line of bytes a page, as many lines as pages.
UniqueFd drm_buffer(int device, std::uint64_t bytes) noexcept {
  const std::uint64_t page = round_to_pages(1);
  drm_mode_create_dumb create{};
  create.width = static_cast<std::uint32_t>(page);
  create.bpp = 8;
  if (bytes / page > UINT32_MAX) {
    errno = ENOMEM;
    return {};
  }
  create.height = static_cast<std::uint32_t>(bytes / page);
  if (drmIoctl(device, DRM_IOCTL_MODE_CREATE_DUMB, &create) != 0)
    return {};
  int exported = -1;
  const int failed = drmPrimeHandleToFD(device, create.handle, DRM_CLOEXEC | DRM_RDWR, &exported);
  drm_mode_destroy_dumb destroy{};
  destroy.handle = create.handle;
  const int reason = errno;
  (void)drmIoctl(device, DRM_IOCTL_MODE_DESTROY_DUMB, &destroy);
  errno = reason;
  return failed != 0 ? UniqueFd() : UniqueFd(exported);
}
#endif

UniqueFd open_device(const char* path) noexcept {
  return UniqueFd(::open(path, O_RDWR | O_CLOEXEC));
}

UniqueFd open_heap() noexcept {
  for (const char* path : kHeaps) {
    UniqueFd heap = open_device(path);
    if (heap && heap_buffer(heap.get(), round_to_pages(1)))
      return heap;
  }
  return {};
}

UniqueFd open_udmabuf() noexcept {
  UniqueFd device = open_device(kUdmabuf);
  if (device && udmabuf_buffer(device.get(), round_to_pages(1)))
    return device;
  return {};
}

UniqueFd open_drm() noexcept {
#if SIMAAI_HAVE_LIBDRM
  constexpr int kCards = 16;
  for (int card = 0; card < kCards; ++card) {
    std::array<char, 32> path{};
    (void)std::snprintf(path.data(), path.size(), "/dev/dri/card%d", card);
    UniqueFd device = open_device(path.data());
    // Whoever opens a display first is its master: that is for a display server.
    if (device)
      (void)drmDropMaster(device.get());
    // DRM_CAP_DUMB_BUFFER is answered by drivers with a display only, vgem has the buffers without it.
    if (device && drm_buffer(device.get(), round_to_pages(1)))
      return device;
  }
#endif
  return {};
}

UniqueFd allocate_from(BufferSourceKind kind, int device, std::uint64_t bytes) noexcept {
  switch (kind) {
  case BufferSourceKind::DmaHeap:
    return heap_buffer(device, bytes);
  case BufferSourceKind::Udmabuf:
    return udmabuf_buffer(device, bytes);
  case BufferSourceKind::DrmDumb:
#if SIMAAI_HAVE_LIBDRM
    return drm_buffer(device, bytes);
#else
    return {};
#endif
  case BufferSourceKind::Memfd:
    return memfd(bytes);
  }
  return {};
}

} // namespace

std::variant<BufferSource, Error> BufferSource::open(BufferSourceKind kind) noexcept {
  UniqueFd device;
  errno = ENODEV;
  switch (kind) {
  case BufferSourceKind::DmaHeap:
    device = open_heap();
    break;
  case BufferSourceKind::Udmabuf:
    device = open_udmabuf();
    break;
  case BufferSourceKind::DrmDumb:
    device = open_drm();
    break;
  case BufferSourceKind::Memfd:
    return BufferSource(kind, {});
  }
  if (!device)
    return make_error(ErrorCode::DeviceUnavailable, 0, 0, errno);
  return BufferSource(kind, std::move(device));
}

BufferSource BufferSource::best() noexcept {
  for (const BufferSourceKind kind :
       {BufferSourceKind::DmaHeap, BufferSourceKind::Udmabuf, BufferSourceKind::DrmDumb}) {
    auto opened = open(kind);
    if (auto* source = std::get_if<BufferSource>(&opened))
      return std::move(*source);
  }
  return {BufferSourceKind::Memfd, UniqueFd()};
}

const char* BufferSource::name() const noexcept {
  switch (kind_) {
  case BufferSourceKind::DmaHeap:
    return "dma-heap";
  case BufferSourceKind::Udmabuf:
    return "udmabuf";
  case BufferSourceKind::DrmDumb:
    return "drm-dumb";
  case BufferSourceKind::Memfd:
    return "memfd";
  }
  return "unknown";
}

std::variant<DmaBuf, Error> BufferSource::allocate(std::uint64_t bytes) const noexcept {
  if (bytes > INT64_MAX / 2)
    return make_error(ErrorCode::OutOfMemory, clamp(bytes), 0, ENOMEM);
  const std::uint64_t rounded = round_to_pages(bytes);
  UniqueFd fd = allocate_from(kind_, device_.get(), rounded);
  if (!fd)
    return make_error(ErrorCode::OutOfMemory, clamp(rounded), 0, errno);
  return DmaBuf(std::move(fd), 0, rounded, memory_kind());
}

} // namespace simaai::runtime
