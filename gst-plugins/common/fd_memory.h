// SPDX-License-Identifier: LGPL-2.1-or-later
// GstMemory that a device can be given: an allocator of it, and what a buffer holds of it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include <gst/gst.h>

#include <simaai/runtime/dma_buf.h>

#include "export.h"
#include "gst_ptr.h"
#include "port_layout.h"

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_FD_ALLOCATOR (gst_simaai_fd_allocator_get_type())
SIMAAI_GST_API GType gst_simaai_fd_allocator_get_type(void);
G_END_DECLS

namespace simaai::gst {

/// An allocator of zeroed memory from the best source of this machine (runtime::BufferSource::best()). DMA-BUFs become
/// memories of GstDmaBufAllocator, which brackets CPU maps; memfds those of GstFdAllocator. Thread-safe.
[[nodiscard]] SIMAAI_GST_API GstPtr<GstAllocator> new_fd_allocator();

/// The allocator of all elements of this process, made when first needed and kept while somebody has it. Thread-safe.
[[nodiscard]] SIMAAI_GST_API GstPtr<GstAllocator> shared_fd_allocator();

/// True for allocators of these two; null is none.
[[nodiscard]] SIMAAI_GST_API bool is_fd_allocator(GstAllocator* allocator) noexcept;
/// Whether such an allocator gives DMA-BUFs.
[[nodiscard]] SIMAAI_GST_API bool gives_dma_bufs(GstAllocator* allocator) noexcept;
/// "dma-buf" or "memfd": what such an allocator gives; "system" for any other.
[[nodiscard]] SIMAAI_GST_API const char* fd_allocator_memory(GstAllocator* allocator) noexcept;
/// "dma-heap", "udmabuf", "drm-dumb" or "memfd": where it takes it from; "system" for any other.
[[nodiscard]] SIMAAI_GST_API const char* fd_allocator_source(GstAllocator* allocator) noexcept;

/// Why such an allocator failed on this thread since the last call; empty where none did.
[[nodiscard]] SIMAAI_GST_API std::string take_allocation_failure();

/// Why a buffer cannot be given to a device as it is.
enum class FdResult {
  Usable,
  SeveralMemories, ///< the bytes are spread over memories
  NoDescriptor,    ///< ordinary memory
  UnsuitableFd, ///< closed, of another kind, not sealed against shrinking, or not writable where it is written
  Misaligned, ///< the offset in the object is one that the op refuses
};

/// Sentence part for messages.
[[nodiscard]] SIMAAI_GST_API const char* fd_result_text(FdResult result) noexcept;

/// Where the bytes of a port are in an object. The memory is borrowed from the buffer.
struct FdRange {
  GstMemory* memory = nullptr;
  int fd = -1;
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  runtime::MemoryInfo object; ///< what the kernel says is behind the descriptor
};

/// False for memory that claims bytes beyond the end of the object behind its descriptor: whoever maps it and touches them
/// is killed. Objects that can be cut short may still become so afterwards.
[[nodiscard]] SIMAAI_GST_API bool has_its_bytes(GstMemory* memory) noexcept;

/// `bytes` from `offset` on in a memory, for a port of that alignment. Maps nothing.
[[nodiscard]] SIMAAI_GST_API std::variant<FdRange, FdResult>
fd_range(GstMemory* memory, std::uint64_t offset_bytes, std::uint64_t bytes,
         std::uint32_t alignment, bool writes) noexcept;
/// Looks for a tensor in a buffer whose size was checked.
[[nodiscard]] SIMAAI_GST_API std::variant<FdRange, FdResult>
fd_range(GstBuffer* buffer, const PortLayout& layout, std::size_t tensor, bool writes) noexcept;

} // namespace simaai::gst
