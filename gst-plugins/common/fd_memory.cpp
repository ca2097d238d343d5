// SPDX-License-Identifier: LGPL-2.1-or-later
// Fd-backed memory: the allocator, and the way from a buffer to a range of an object.
#include "fd_memory.h"

#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include <sys/stat.h>

#include <gst/allocators/gstdmabuf.h>
#include <gst/allocators/gstfdmemory.h>

namespace simaai::gst {
namespace {

constexpr const char* kSystemMemory = "system";

/// GstAllocator has no words for a failure: the element asks for them on the same thread.
thread_local std::string allocation_failure;

struct AllocatorState {
  AllocatorState()
      : source(runtime::BufferSource::best()),
        wrapper(source.memory_kind() == runtime::MemoryKind::DmaBuf ? gst_dmabuf_allocator_new()
                                                                    : gst_fd_allocator_new()) {}
  runtime::BufferSource source;
  GstPtr<GstAllocator> wrapper; ///< of descriptors into memories
};

} // namespace
} // namespace simaai::gst

struct GstSimaaiFdAllocator {
  GstAllocator parent;
};
struct GstSimaaiFdAllocatorClass {
  GstAllocatorClass parent;
};
struct GstSimaaiFdAllocatorPrivate {
  simaai::gst::AllocatorState* state;
};

G_DEFINE_TYPE_WITH_PRIVATE(GstSimaaiFdAllocator, gst_simaai_fd_allocator, GST_TYPE_ALLOCATOR)

namespace simaai::gst {
namespace {

GstSimaaiFdAllocatorPrivate& private_of(gpointer allocator) noexcept {
  return *static_cast<GstSimaaiFdAllocatorPrivate*>(
      gst_simaai_fd_allocator_get_instance_private(static_cast<GstSimaaiFdAllocator*>(allocator)));
}

GQuark object_quark() noexcept {
  static const GQuark quark = g_quark_from_static_string("simaai-fd-object");
  return quark;
}

/// Keeps with a memory of ours what is behind its descriptor: the memory owns that, so it stays true.
void remember_object(GstMemory* memory, int fd) {
  const auto found = runtime::inspect(fd);
  if (const auto* object = std::get_if<runtime::MemoryInfo>(&found))
    gst_mini_object_set_qdata(
        GST_MINI_OBJECT_CAST(memory), object_quark(), new runtime::MemoryInfo(*object),
        [](gpointer kept) { delete static_cast<runtime::MemoryInfo*>(kept); });
}

/// Of a memory of ours, or a part of one; null for others.
const runtime::MemoryInfo* remembered_object(GstMemory* memory) noexcept {
  GstMemory* const whole = memory->parent != nullptr ? memory->parent : memory;
  return static_cast<const runtime::MemoryInfo*>(
      gst_mini_object_get_qdata(GST_MINI_OBJECT_CAST(whole), object_quark()));
}

/// What is behind the descriptor of a memory. The kernel is asked for memories of others, whoever may have done what with
/// their descriptors.
std::optional<runtime::MemoryInfo> object_of(GstMemory* memory, int fd) noexcept {
  if (const auto* kept = remembered_object(memory); kept != nullptr)
    return *kept;
  const auto found = runtime::inspect(fd);
  const auto* object = std::get_if<runtime::MemoryInfo>(&found);
  return object != nullptr ? std::optional(*object) : std::nullopt;
}

GstMemory* allocate(GstAllocator* allocator, gsize size, GstAllocationParams* params) noexcept {
  const AllocatorState& state = *private_of(allocator).state;
  // Objects begin at a page: any alignment below that is met.
  const gsize room = size + params->prefix + params->padding;
  auto allocated = state.source.allocate(room);
  auto* buffer = std::get_if<runtime::DmaBuf>(&allocated);
  if (buffer == nullptr) {
    allocation_failure = std::get<runtime::Error>(allocated).message();
    return nullptr;
  }
  const gsize whole = buffer->length_bytes();
  runtime::UniqueFd fd = buffer->release_fd();
  GstMemory* memory =
      gst_fd_allocator_alloc(state.wrapper.get(), fd.get(), whole, GST_FD_MEMORY_FLAG_KEEP_MAPPED);
  if (memory == nullptr)
    return nullptr;
  remember_object(memory, fd.get());
  (void)fd.release(); // the memory closes it
  gst_memory_resize(memory, static_cast<gssize>(params->prefix), size);
  return memory;
}

void finalize(GObject* object) noexcept {
  delete private_of(object).state;
  G_OBJECT_CLASS(gst_simaai_fd_allocator_parent_class)->finalize(object);
}

bool suits(const runtime::MemoryInfo& object, bool writes) noexcept {
  return object.sealed && (!writes || object.writable);
}

} // namespace

GstPtr<GstAllocator> new_fd_allocator() {
  auto* allocator = GST_ALLOCATOR_CAST(g_object_new(GST_TYPE_SIMAAI_FD_ALLOCATOR, nullptr));
  gst_object_ref_sink(allocator);
  return GstPtr<GstAllocator>(allocator);
}

GstPtr<GstAllocator> shared_fd_allocator() {
  static std::mutex mutex;
  static GWeakRef shared; // zero is a valid empty reference
  const std::lock_guard lock(mutex);
  auto* kept = static_cast<GstAllocator*>(g_weak_ref_get(&shared));
  if (kept != nullptr)
    return GstPtr<GstAllocator>(kept);
  auto made = new_fd_allocator();
  g_weak_ref_set(&shared, made.get());
  return made;
}

bool is_fd_allocator(GstAllocator* allocator) noexcept {
  return allocator != nullptr &&
         G_TYPE_CHECK_INSTANCE_TYPE(allocator, GST_TYPE_SIMAAI_FD_ALLOCATOR) != FALSE;
}

bool gives_dma_bufs(GstAllocator* allocator) noexcept {
  return is_fd_allocator(allocator) &&
         private_of(allocator).state->source.memory_kind() == runtime::MemoryKind::DmaBuf;
}

const char* fd_allocator_memory(GstAllocator* allocator) noexcept {
  return is_fd_allocator(allocator)
             ? runtime::memory_kind_name(private_of(allocator).state->source.memory_kind())
             : kSystemMemory;
}

const char* fd_allocator_source(GstAllocator* allocator) noexcept {
  return is_fd_allocator(allocator) ? private_of(allocator).state->source.name() : kSystemMemory;
}

std::string take_allocation_failure() { return std::exchange(allocation_failure, {}); }

const char* fd_result_text(FdResult result) noexcept {
  switch (result) {
  case FdResult::Usable:
    return "usable";
  case FdResult::SeveralMemories:
    return "its bytes are spread over several memories";
  case FdResult::NoDescriptor:
    return "its memory has no file descriptor";
  case FdResult::UnsuitableFd:
    return "its file descriptor is no DMA-BUF and no memfd that is sealed against shrinking and "
           "open for this access";
  case FdResult::Misaligned:
    return "its offset is not aligned for this operation";
  }
  return "unknown";
}

bool has_its_bytes(GstMemory* memory) noexcept {
  if (!gst_is_fd_memory(memory) || remembered_object(memory) != nullptr)
    return true;
  const std::uint64_t end = memory->offset + memory->size;
  const int fd = gst_fd_memory_get_fd(memory);
  struct stat file {};
  if (::fstat(fd, &file) == 0 && static_cast<std::uint64_t>(file.st_size) >= end)
    return true;
  // Older kernels report no size of DMA-BUFs there. What devices of video have is theirs to know.
  const auto found = runtime::inspect(fd);
  const auto* object = std::get_if<runtime::MemoryInfo>(&found);
  return object == nullptr || object->size_bytes >= end;
}

std::variant<FdRange, FdResult> fd_range(GstMemory* memory, std::uint64_t offset_bytes,
                                         std::uint64_t bytes, std::uint32_t alignment,
                                         bool writes) noexcept {
  if (!gst_is_fd_memory(memory))
    return FdResult::NoDescriptor;
  FdRange range;
  range.memory = memory;
  range.fd = gst_fd_memory_get_fd(memory);
  // A shared part counts from the start of the object too.
  range.offset_bytes = memory->offset + offset_bytes;
  range.length_bytes = bytes;
  const auto object = object_of(memory, range.fd);
  if (!object || !suits(*object, writes))
    return FdResult::UnsuitableFd;
  range.object = *object;
  if (range.offset_bytes % alignment != 0)
    return FdResult::Misaligned;
  return range;
}

std::variant<FdRange, FdResult> fd_range(GstBuffer* buffer, const PortLayout& layout,
                                         std::size_t tensor, bool writes) noexcept {
  const TensorPlace place = layout.locate(buffer, tensor);
  if (place.memory == nullptr)
    return FdResult::SeveralMemories;
  const auto& needs = layout.needs(tensor);
  // Of a set no more than the tensor: its neighbours may be written at the same time.
  const std::uint64_t bytes =
      layout.count() > 1 ? needs.bytes : place.memory->size - place.offset_bytes;
  return fd_range(place.memory, place.offset_bytes, bytes, needs.alignment, writes);
}

} // namespace simaai::gst

static void gst_simaai_fd_allocator_init(GstSimaaiFdAllocator* self) {
  simaai::gst::private_of(self).state = new simaai::gst::AllocatorState();
  GST_ALLOCATOR_CAST(self)->mem_type = "SimaaiFd";
}

static void gst_simaai_fd_allocator_class_init(GstSimaaiFdAllocatorClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = simaai::gst::finalize;
  GST_ALLOCATOR_CLASS(klass)->alloc = simaai::gst::allocate;
}
