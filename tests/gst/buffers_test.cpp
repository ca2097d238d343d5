// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers of every kind: several memories, offsets, shared, timestamps, flags, metas.
#include <algorithm>

#include <gtest/gtest.h>

#include "element_harness.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "tensor_text.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;
namespace oracle = simaai::oracle;

const TensorSpec kInput{{2, 17}, DType::Float32};
const TensorSpec kOutput{
    {2, 17}, DType::BFloat16, tiled({-1, -1, 0, 1}, {1, 1, 2, 16}, ChannelStorage::PadTo16)};

struct Fixture {
  oracle::Tensor source = oracle::random_tensor(kInput.shape, DType::Float32, 11);
  Bytes input = physical(source, kInput.layout);
  Bytes wanted = physical(oracle::convert(source, DType::BFloat16), kOutput.layout);
};

/// The bytes in memories of these sizes, each behind `offset` unused bytes.
GstPtr<GstBuffer> split(const Bytes& bytes, const std::vector<std::size_t>& sizes,
                        std::size_t offset) {
  GstPtr<GstBuffer> buffer(gst_buffer_new());
  std::size_t at = 0;
  for (const std::size_t size : sizes) {
    GstMemory* memory = gst_allocator_alloc(nullptr, size + offset, nullptr);
    GstMapInfo map;
    gst_memory_map(memory, &map, GST_MAP_WRITE);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size, map.data + offset);
    gst_memory_unmap(memory, &map);
    gst_memory_resize(memory, static_cast<gssize>(offset), size);
    gst_buffer_append_memory(buffer.get(), memory);
    at += size;
  }
  return buffer;
}

std::size_t notices(ElementHarness& harness, const char* name) {
  std::size_t count = 0;
  for (const auto& message : harness.take_messages()) {
    const GstStructure* structure = gst_message_get_structure(message.get());
    if (structure != nullptr && gst_structure_has_name(structure, name))
      ++count;
  }
  return count;
}

TEST(Buffers, SeveralMemoriesAreCopiedAndCounted) {
  const Fixture f;
  ElementHarness harness("simaaicasttess");
  harness.accept_downstream(caps_of(kOutput).c_str());
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(harness.push(split(f.input, {5, 1, 130}, 3)), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), f.wanted);
  }
  EXPECT_EQ(harness.stat("copies"), 3u);
  EXPECT_EQ(notices(harness, "simaai-copy"), 1u) << "one notice for a caps pair";
}

TEST(Buffers, SeveralMemoriesFailUnderRequireZeroCopy) {
  const Fixture f;
  ElementHarness harness("simaaicasttess", {{"require-zero-copy", "true"}});
  harness.accept_downstream(caps_of(kOutput).c_str());
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  EXPECT_EQ(harness.push(split(f.input, {100, 36}, 0)), GST_FLOW_ERROR);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_TRUE(mentions(errors[0], {"input", "several memories", "require-zero-copy"})) << errors[0];
  EXPECT_EQ(harness.stat("copies"), 0u);
}

TEST(Buffers, FirstMemoryThatHoldsEverythingIsUsedInPlace) {
  const Fixture f;
  ElementHarness harness("simaaicasttess", {{"require-zero-copy", "true"}});
  harness.accept_downstream(caps_of(kOutput).c_str());
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  Bytes longer = f.input;
  longer.resize(f.input.size() + 8, 0xff);
  ASSERT_EQ(harness.push(split(longer, {f.input.size(), 8}, 0)), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), f.wanted);
}

TEST(Buffers, OffsetMemoryIsUsedInPlaceWhereAligned) {
  const Fixture f;
  ElementHarness harness("simaaicasttess");
  harness.accept_downstream(caps_of(kOutput).c_str());
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  ASSERT_EQ(harness.push(buffer_of(f.input, 12)), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), f.wanted);
  EXPECT_EQ(harness.stat("copies"), 0u);
  ASSERT_EQ(harness.push(buffer_of(f.input, 3)), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), f.wanted);
  EXPECT_EQ(harness.stat("copies"), 1u);
}

TEST(Buffers, TiledInputNeedsSixteenByteAlignment) {
  const Fixture f;
  const TensorSpec back{{2, 17}, DType::BFloat16};
  const Bytes wanted = physical(oracle::convert(f.source, DType::BFloat16), back.layout);
  ElementHarness harness("simaaidetess");
  ASSERT_TRUE(harness.send_caps(caps_of(kOutput)));
  ASSERT_EQ(harness.push(buffer_of(f.wanted, 16)), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), wanted);
  EXPECT_EQ(harness.stat("copies"), 0u);
  ASSERT_EQ(harness.push(buffer_of(f.wanted, 8)), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), wanted);
  EXPECT_EQ(harness.stat("copies"), 1u);
}

TEST(Buffers, LongerBuffersAndSharedOnesWork) {
  const Fixture f;
  ElementHarness harness("simaaicasttess");
  harness.accept_downstream(caps_of(kOutput).c_str());
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  Bytes longer = f.input;
  longer.resize(1000, 0xee);
  const auto shared = buffer_of(longer);
  const GstPtr<GstBuffer> other_owner(gst_buffer_copy(shared.get()));
  ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(shared.get()))), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), f.wanted);
  EXPECT_EQ(bytes_of(other_owner.get()), longer);
}

TEST(Buffers, ReadOnlyMemoryIsFineAsInput) {
  const Fixture f;
  ElementHarness harness("simaaicasttess");
  harness.accept_downstream(caps_of(kOutput).c_str());
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  std::vector<std::uint8_t> storage = f.input;
  GstPtr<GstBuffer> buffer(gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, storage.data(),
                                                       storage.size(), 0, storage.size(), nullptr,
                                                       nullptr));
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), f.wanted);
}

/// The pool has one buffer: what was in it, and what somebody wrote into its padding, must not show.
TEST(Buffers, RecycledOnesHoldNothingOfBefore) {
  ElementHarness harness("simaaicasttess");
  harness.accept_downstream(caps_of(kOutput).c_str());
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  for (std::uint64_t round = 0; round < 20; ++round) {
    const auto source = oracle::random_tensor(kInput.shape, DType::Float32, round);
    ASSERT_EQ(harness.push(physical(source, kInput.layout)), GST_FLOW_OK);
    const GstPtr<GstBuffer> output(gst_harness_pull(harness.get()));
    EXPECT_EQ(bytes_of(output.get()),
              physical(oracle::convert(source, DType::BFloat16), kOutput.layout));
    gst_buffer_memset(output.get(), 0, 0xee, gst_buffer_get_size(output.get()));
  }
  EXPECT_EQ(harness.stat("allocations"), 1U);
}

TEST(Buffers, OutputMemoryIsAlignedAndSingle) {
  const Fixture f;
  for (const char* element : {"simaaicasttess", "simaaicast"}) {
    ElementHarness harness(element);
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    ASSERT_EQ(harness.push(f.input), GST_FLOW_OK);
    const auto buffer = harness.pull_buffer();
    ASSERT_EQ(gst_buffer_n_memory(buffer.get()), 1u);
    const simaai::gst::MapGuard map(gst_buffer_peek_memory(buffer.get(), 0), GST_MAP_READ);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map.data()) % 64, 0u);
  }
}

TEST(Buffers, TimestampsAndFlagsPass) {
  const Fixture f;
  ElementHarness harness("simaaicasttess");
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  auto buffer = buffer_of(f.input);
  GST_BUFFER_PTS(buffer.get()) = 5 * GST_SECOND;
  GST_BUFFER_DTS(buffer.get()) = 4 * GST_SECOND;
  GST_BUFFER_DURATION(buffer.get()) = 40 * GST_MSECOND;
  GST_BUFFER_OFFSET(buffer.get()) = 17;
  GST_BUFFER_OFFSET_END(buffer.get()) = 18;
  const guint flags = GST_BUFFER_FLAG_MARKER | GST_BUFFER_FLAG_DELTA_UNIT | GST_BUFFER_FLAG_HEADER |
                      GST_BUFFER_FLAG_CORRUPTED;
  GST_BUFFER_FLAGS(buffer.get()) |= flags;
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
  const auto out = harness.pull_buffer();
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 5 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DTS(out.get()), 4 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DURATION(out.get()), 40 * GST_MSECOND);
  EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), 17u);
  EXPECT_EQ(GST_BUFFER_OFFSET_END(out.get()), 18u);
  EXPECT_EQ(GST_BUFFER_FLAGS(out.get()) & flags, flags);
}

const GstMetaInfo* register_meta(const char* api, const char* name, const gchar** tags) {
  const GType type = gst_meta_api_type_register(api, tags);
  return gst_meta_register(
      type, name, sizeof(GstMeta), [](GstMeta*, gpointer, GstBuffer*) -> gboolean { return TRUE; },
      nullptr,
      [](GstBuffer* to, GstMeta* meta, GstBuffer*, GQuark, gpointer) -> gboolean {
        return gst_buffer_add_meta(to, meta->info, nullptr) != nullptr;
      });
}

TEST(Buffers, MetasPassUnlessTheyDescribeMemory) {
  static const gchar* none[] = {nullptr};
  static const gchar* video[] = {"video", "orientation", nullptr};
  static const gchar* memory[] = {"memory", nullptr};
  static const gchar* reference[] = {"memory-reference", nullptr};
  const GstMetaInfo* plain = register_meta("TestPlainAPI", "TestPlain", none);
  const GstMetaInfo* region = register_meta("TestRegionAPI", "TestRegion", video);
  const GstMetaInfo* layout = register_meta("TestLayoutAPI", "TestLayout", memory);
  const GstMetaInfo* parent = register_meta("TestParentAPI", "TestParent", reference);
  const Fixture f;
  ElementHarness harness("simaaicasttess");
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  auto buffer = buffer_of(f.input);
  for (const GstMetaInfo* info : {plain, region, layout, parent})
    gst_buffer_add_meta(buffer.get(), info, nullptr);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
  const auto out = harness.pull_buffer();
  EXPECT_NE(gst_buffer_get_meta(out.get(), plain->api), nullptr);
  EXPECT_NE(gst_buffer_get_meta(out.get(), region->api), nullptr);
  EXPECT_EQ(gst_buffer_get_meta(out.get(), layout->api), nullptr);
  EXPECT_EQ(gst_buffer_get_meta(out.get(), parent->api), nullptr);
}

TEST(Buffers, AllocationQueryProposesSizeAndAlignment) {
  ElementHarness harness("simaaidetess");
  ASSERT_TRUE(harness.send_caps(caps_of(kOutput)));
  const GstPtr<GstCaps> caps(gst_caps_from_string(caps_of(kOutput).c_str()));
  const GstPtr<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
  ASSERT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  ASSERT_EQ(gst_query_get_n_allocation_pools(query.get()), 1u);
  GstBufferPool* raw = nullptr;
  guint size = 0;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &raw, &size, nullptr, nullptr);
  const GstPtr<GstBufferPool> pool(raw);
  EXPECT_NE(pool, nullptr);
  EXPECT_EQ(size, 128u);
  GstAllocationParams params;
  ASSERT_GE(gst_query_get_n_allocation_params(query.get()), 1u);
  gst_query_parse_nth_allocation_param(query.get(), 0, nullptr, &params);
  EXPECT_EQ(params.align & 15u, 15u);
}

} // namespace
