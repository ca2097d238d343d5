// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory under the hands of an application: what it keeps the pool does not hand out again, and what it maps is aligned.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gst/allocators/gstfdmemory.h>

#include "library_support.h"

namespace simaai::test {
namespace {

GstPtr<GstBufferPool> pool_of(const GstPtr<GstCaps>& caps, guint max_buffers = 0) {
  GstPtr<GstBufferPool> pool(gst_simaai_pool_new(caps.get(), nullptr, 0, max_buffers, nullptr));
  EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  return pool;
}

GstPtr<GstBuffer> acquire(const GstPtr<GstBufferPool>& pool) {
  GstBufferPoolAcquireParams now{};
  now.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  GstBuffer* buffer = nullptr;
  const GstFlowReturn flow = gst_buffer_pool_acquire_buffer(pool.get(), &buffer, &now);
  EXPECT_EQ(flow == GST_FLOW_OK, buffer != nullptr) << gst_flow_get_name(flow);
  return GstPtr<GstBuffer>(buffer);
}

/// How an application may hold on to a memory whose buffer it has let go.
enum class Hold { Reference, MappedRead, MappedWrite, MappedBoth, MappedOnly, Part };

struct Kept {
  Kept(GstMemory* of, Hold hold) : memory(of) {
    const bool maps = hold != Hold::Reference && hold != Hold::Part;
    const GstMapFlags flags = hold == Hold::MappedWrite  ? GST_MAP_WRITE
                              : hold == Hold::MappedBoth ? GST_MAP_READWRITE
                                                         : GST_MAP_READ;
    EXPECT_TRUE(!maps || gst_memory_map(memory, &map, flags));
    mapped = maps;
    if (hold == Hold::Part)
      memory = gst_memory_share(of, 1, 2);
    else if (hold != Hold::MappedOnly)
      gst_memory_ref(memory);
    owned = hold != Hold::MappedOnly;
  }
  ~Kept() {
    if (mapped)
      gst_memory_unmap(memory, &map);
    if (owned)
      gst_memory_unref(memory);
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  GstMemory* memory;
  GstMapInfo map{};
  bool mapped = false;
  bool owned = false;
};

TEST(LibraryMemory, WhatIsKeptIsNotHandedOutAgain) {
  const auto plain =
      caps_of("application/vnd.simaai.tensor,dtype=int8,shape=<100>,layout=contiguous");
  const auto several = caps_of(set_caps("dtype=int8,shape=<100>", "dtype=int32,shape=<50>"));
  for (const auto* caps : {&plain, &several})
    for (const Hold hold : {Hold::Reference, Hold::MappedRead, Hold::MappedWrite, Hold::MappedBoth,
                            Hold::MappedOnly, Hold::Part}) {
      SCOPED_TRACE(static_cast<int>(hold));
      const auto pool = pool_of(*caps);
      GstPtr<GstBuffer> buffer = acquire(pool);
      const guint last = gst_buffer_n_memory(buffer.get()) - 1;
      GstMemory* const memory = gst_buffer_peek_memory(buffer.get(), last);
      {
        const Kept kept(memory, hold);
        for (int round = 0; round < 3; ++round) {
          buffer.reset();
          buffer = acquire(pool);
          GstMemory* const other = gst_buffer_peek_memory(buffer.get(), last);
          EXPECT_NE(other, memory);
          for (const GstMapFlags flags : {GST_MAP_READ, GST_MAP_WRITE, GST_MAP_READWRITE}) {
            GstMapInfo map;
            ASSERT_TRUE(gst_memory_map(other, &map, flags));
            gst_memory_unmap(other, &map);
          }
        }
        EXPECT_EQ(gst_simaai_pool_get_allocations(pool.get()), 2U);
      }
      // What was let go is there again.
      const GstPtr<GstBuffer> again = acquire(pool);
      EXPECT_EQ(gst_buffer_peek_memory(again.get(), last), memory);
      EXPECT_EQ(gst_simaai_pool_get_allocations(pool.get()), 2U);
      gst_buffer_pool_set_active(pool.get(), FALSE);
    }
}

TEST(LibraryMemory, WhatIsKeptCountsAgainstTheLimit) {
  const auto pool =
      pool_of(caps_of("application/vnd.simaai.tensor,dtype=int8,shape=<8>,layout=contiguous"), 1);
  GstPtr<GstBuffer> buffer = acquire(pool);
  GstMemory* const memory = gst_buffer_peek_memory(buffer.get(), 0);
  GstBufferPoolAcquireParams now{};
  now.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  GstBuffer* none = nullptr;
  {
    const Kept kept(memory, Hold::MappedRead);
    buffer.reset();
    EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &none, &now), GST_FLOW_EOS);
    EXPECT_EQ(none, nullptr);
  }
  buffer = acquire(pool);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(gst_buffer_peek_memory(buffer.get(), 0), memory);
  buffer.reset();
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

TEST(LibraryMemory, ManyThatAreKeptCountToo) {
  constexpr guint kLimit = 100;
  const auto pool = pool_of(
      caps_of("application/vnd.simaai.tensor,dtype=int8,shape=<8>,layout=contiguous"), kLimit);
  {
    std::vector<GstPtr<GstMemory>> kept;
    for (guint i = 0; i < kLimit; ++i)
      kept.emplace_back(gst_buffer_get_memory(acquire(pool).get(), 0));
    GstBufferPoolAcquireParams now{};
    now.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
    GstBuffer* none = nullptr;
    EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &none, &now), GST_FLOW_EOS);
  }
  {
    std::vector<GstPtr<GstBuffer>> buffers;
    for (guint i = 0; i < kLimit; ++i)
      buffers.push_back(acquire(pool));
    EXPECT_EQ(gst_simaai_pool_get_allocations(pool.get()), kLimit);
  }
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

/// Memory of the application at a place of its own choice.
GstPtr<GstBuffer> foreign(guint8* at, gsize bytes) {
  return GstPtr<GstBuffer>(gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), at, bytes, 0,
                                                       bytes, nullptr, nullptr));
}

TEST(LibraryMemory, MappedTensorsAreAligned) {
  struct Case {
    const char* caps;
    guint alignment;
  };
  const Case cases[] = {
      {"dtype=int8,shape=<3>,layout=contiguous", 1},
      {"dtype=bfloat16,shape=<3>,layout=contiguous", 2},
      {"dtype=float32,shape=<3>,layout=contiguous", 4},
      {"dtype=int32,shape=<3>,layout=strided,strides=(gint64)<8>", 4},
      {"dtype=int8,shape=<4,4,16>,layout=mla-tiled,tile-axes=<-1,0,1,2>,tile-shape=<1,2,2,16>,"
       "channel-storage=compact",
       16}};
  alignas(64) std::array<guint8, 512> room{};
  for (const Case& one : cases) {
    const Set set = set_of(std::string("application/vnd.simaai.tensor,") + one.caps);
    guint64 bytes = 0;
    ASSERT_TRUE(gst_simaai_tensor_set_get_size(set.get(), &bytes, nullptr));
    for (guint at = 0; at < 32; ++at) {
      const auto buffer = foreign(room.data() + at, static_cast<gsize>(bytes));
      for (const GstMapFlags flags : {GST_MAP_READ, GST_MAP_WRITE}) {
        GstSimaaiTensorMap map;
        Reason reason;
        const bool mapped =
            gst_simaai_tensor_set_map(set.get(), buffer.get(), 0, flags, &map, &reason) != FALSE;
        ASSERT_EQ(mapped, at % one.alignment == 0) << one.caps << " at " << at;
        if (mapped) {
          gst_simaai_tensor_map_unmap(&map);
          continue;
        }
        EXPECT_EQ(map.data, nullptr);
        EXPECT_EQ(reason.code(), GST_SIMAAI_ERROR_BUFFER);
        EXPECT_TRUE(mentions(reason.text(), {"aligned to " + std::to_string(one.alignment),
                                             std::to_string(at % one.alignment) + " modulo"}))
            << reason.text();
      }
      // Nothing stays locked, and copies need no alignment.
      GBytes* read = gst_simaai_tensor_set_read(set.get(), buffer.get(), 0, nullptr);
      ASSERT_NE(read, nullptr) << one.caps << " at " << at;
      EXPECT_TRUE(gst_simaai_tensor_set_write(set.get(), buffer.get(), 0, read, nullptr));
      g_bytes_unref(read);
    }
  }
}

TEST(LibraryMemory, ATensorOfASetIsNamed) {
  const Set set = set_of(set_caps("dtype=int8,shape=<3>", "dtype=float32,shape=<2>,tensor-id=b"));
  alignas(64) std::array<guint8, 64> room{};
  const auto buffer = foreign(room.data(), 11); // one behind the other: the second is at 3
  GstSimaaiTensorMap map;
  Reason reason;
  EXPECT_FALSE(gst_simaai_tensor_set_map(set.get(), buffer.get(), 1, GST_MAP_READ, &map, &reason));
  EXPECT_TRUE(mentions(reason.text(), {"tensor 1 (b)", "aligned to 4", "3 modulo 4", "read()"}))
      << reason.text();
}

/// Memory whose object is shorter than it claims would kill whoever touches its end.
TEST(LibraryMemory, BytesThatAreNotThereAreRefused) {
  const int fd = ::memfd_create("short", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(fd, 4096), 0);
  const GstPtr<GstAllocator> allocator(gst_fd_allocator_new());
  const GstPtr<GstBuffer> buffer(gst_buffer_new());
  gst_buffer_append_memory(
      buffer.get(), gst_fd_allocator_alloc(allocator.get(), fd, 12288, GST_FD_MEMORY_FLAG_NONE));
  const Set set =
      set_of("application/vnd.simaai.tensor,dtype=int8,shape=<12288>,layout=contiguous");
  GstSimaaiTensorMap map;
  Reason reason;
  EXPECT_FALSE(gst_simaai_tensor_set_map(set.get(), buffer.get(), 0, GST_MAP_READ, &map, &reason));
  EXPECT_EQ(reason.code(), GST_SIMAAI_ERROR_BUFFER);
  EXPECT_TRUE(mentions(reason.text(), {"descriptor", "shorter"})) << reason.text();
  EXPECT_EQ(gst_simaai_tensor_set_read(set.get(), buffer.get(), 0, &reason), nullptr);
}

} // namespace
} // namespace simaai::test
