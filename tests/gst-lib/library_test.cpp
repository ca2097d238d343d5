// SPDX-License-Identifier: LGPL-2.1-or-later
// libgstsimaaitensor-1.0 as an application uses it: caps and back, sizes against the oracle, places of tensors in buffers, refusals.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/caps_spec.h"
#include "library_support.h"
#include "oracle/linear.h"
#include "oracle/tiles.h"

namespace simaai::test {
namespace {

using namespace kernels;

constexpr const char* kTiled =
    "application/vnd.simaai.tensor, dtype=(string)int8, shape=(int)< 2, 5, 7, 17 >, "
    "layout=(string)mla-tiled, tile-axes=(int)< 0, 1, 2, 3 >, "
    "tile-shape=(int)< 1, 2, 3, 16 >, channel-storage=(string)pad16, "
    "quant-scale=(double)0.5, quant-zero-point=(int)-3, "
    "tensor-id=(string)boxes, framerate=(fraction)30/1";

TEST(Library, SettersBuildTheCapsThatAPersonWouldWrite) {
  const std::array<gint, 4> shape{2, 5, 7, 17};
  const Info info(gst_simaai_tensor_info_new(GST_SIMAAI_DTYPE_FLOAT32, shape.data(), 4));
  const std::array<gint, 4> axes{0, 1, 2, 3};
  const std::array<gint, 4> tile{1, 2, 3, 16};
  gst_simaai_tensor_info_set_dtype(info.get(), GST_SIMAAI_DTYPE_INT8);
  gst_simaai_tensor_info_set_mla_tiled(info.get(), axes.data(), tile.data(),
                                       GST_SIMAAI_CHANNEL_STORAGE_PAD16);
  gst_simaai_tensor_info_set_quantization(info.get(), 0.5, -3);
  gst_simaai_tensor_info_set_tensor_id(info.get(), "boxes");
  gst_simaai_tensor_info_set_framerate(info.get(), 30, 1);
  const GstPtr<GstCaps> caps(gst_simaai_tensor_info_to_caps(info.get(), nullptr));
  ASSERT_NE(caps, nullptr);
  EXPECT_EQ(text_of(caps.get()), kTiled);

  gst_simaai_tensor_info_unset_quantization(info.get());
  gst_simaai_tensor_info_set_tensor_id(info.get(), nullptr);
  gst_simaai_tensor_info_set_framerate(info.get(), 0, 0);
  const std::array<gint64, 4> strides{10000, 1000, 20, 1};
  ASSERT_TRUE(gst_simaai_tensor_info_set_strided(info.get(), strides.data(), 4));
  const GstPtr<GstCaps> strided(gst_simaai_tensor_info_to_caps(info.get(), nullptr));
  EXPECT_EQ(text_of(strided.get()),
            "application/vnd.simaai.tensor, dtype=(string)int8, shape=(int)< 2, 5, 7, 17 >, "
            "layout=(string)strided, strides=(gint64)< 10000, 1000, 20, 1 >");
  gst_simaai_tensor_info_set_mla_cblocked(info.get(), tile.data());
  const GstPtr<GstCaps> blocked(gst_simaai_tensor_info_to_caps(info.get(), nullptr));
  EXPECT_EQ(text_of(blocked.get()),
            "application/vnd.simaai.tensor, dtype=(string)int8, shape=(int)< 2, 5, 7, 17 >, "
            "layout=(string)mla-cblocked, tile-shape=(int)< 1, 2, 3, 16 >");
}

TEST(Library, GettersReadEveryField) {
  const Info original = info_of(kTiled);
  ASSERT_NE(original, nullptr);
  const Info info(gst_simaai_tensor_info_copy(original.get()));
  EXPECT_EQ(gst_simaai_tensor_info_get_dtype(info.get()), GST_SIMAAI_DTYPE_INT8);
  EXPECT_EQ(shape_of(info), (std::vector<gint>{2, 5, 7, 17}));
  EXPECT_EQ(gst_simaai_tensor_info_get_layout(info.get()), GST_SIMAAI_LAYOUT_MLA_TILED);
  EXPECT_EQ(gst_simaai_tensor_info_get_channel_storage(info.get()),
            GST_SIMAAI_CHANNEL_STORAGE_PAD16);
  const gint* axes = gst_simaai_tensor_info_get_tile_axes(info.get());
  const gint* tile = gst_simaai_tensor_info_get_tile_shape(info.get());
  EXPECT_EQ((std::vector<gint>{axes, axes + 4}), (std::vector<gint>{0, 1, 2, 3}));
  EXPECT_EQ((std::vector<gint>{tile, tile + 4}), (std::vector<gint>{1, 2, 3, 16}));
  EXPECT_EQ(strides_of(info), std::vector<gint64>{});
  EXPECT_EQ(gst_simaai_tensor_info_get_alignment(info.get()), 16U);
  EXPECT_STREQ(gst_simaai_tensor_info_get_tensor_id(info.get()), "boxes");
  EXPECT_EQ(gst_simaai_tensor_info_get_offset(info.get()), -1);
  gdouble scale = 0;
  gint zero_point = 0;
  EXPECT_TRUE(gst_simaai_tensor_info_get_quantization(info.get(), &scale, &zero_point));
  EXPECT_EQ(std::pair(scale, zero_point), std::pair(0.5, -3));
  gint numerator = 0;
  gint denominator = 0;
  EXPECT_TRUE(gst_simaai_tensor_info_get_framerate(info.get(), &numerator, &denominator));
  EXPECT_EQ(std::pair(numerator, denominator), std::pair(30, 1));

  gst_simaai_tensor_info_set_contiguous(info.get());
  EXPECT_EQ(strides_of(info), (std::vector<gint64>{595, 119, 17, 1}));
  EXPECT_EQ(gst_simaai_tensor_info_get_tile_axes(info.get()), nullptr);
  EXPECT_EQ(gst_simaai_tensor_info_get_tile_shape(info.get()), nullptr);
  EXPECT_EQ(gst_simaai_tensor_info_get_alignment(info.get()), 1U);
  // The copy is one.
  EXPECT_EQ(gst_simaai_tensor_info_get_layout(original.get()), GST_SIMAAI_LAYOUT_MLA_TILED);
}

TEST(Library, BlockedChannelsHaveTrailingAxes) {
  const Info info = info_of("application/vnd.simaai.tensor,dtype=bfloat16,shape=<2,8,8,20>,"
                            "layout=mla-cblocked,tile-shape=<1,4,4,16>");
  const gint* axes = gst_simaai_tensor_info_get_tile_axes(info.get());
  ASSERT_NE(axes, nullptr);
  EXPECT_EQ((std::vector<gint>{axes, axes + 4}), (std::vector<gint>{-1, 1, 2, 3}));
}

TEST(Library, SizesAreThoseOfTheOracle) {
  const Layout layouts[] = {Contiguous{}, Strided{{9000, 700, 40, 2}},
                            MlaTiled{{-1, 1, 2, 3}, {1, 4, 3, 5}, ChannelStorage::Compact},
                            MlaTiled{{-1, 1, 2, 3}, {1, 4, 3, 5}, ChannelStorage::PadTo16},
                            MlaCBlocked{{1, 4, 3, 16}}};
  const Shape shape{2, 9, 7, 19};
  for (const Layout& layout : layouts) {
    gst::TensorInfo tensor;
    tensor.spec = {shape, DType::BFloat16, layout};
    const GstPtr<GstCaps> caps(gst::to_caps(tensor));
    const Info info(gst_simaai_tensor_info_new_from_caps(caps.get(), nullptr));
    const bool linear = layout.index() < 2;
    EXPECT_EQ(size_of(info), linear ? oracle::linear_span(shape, DType::BFloat16, layout)
                                    : oracle::tiled_bytes(shape, DType::BFloat16, layout))
        << text_of(caps.get());
    // The way back.
    const GstPtr<GstCaps> again(gst_simaai_tensor_info_to_caps(info.get(), nullptr));
    EXPECT_TRUE(gst_caps_is_strictly_equal(again.get(), caps.get())) << text_of(again.get());
  }
}

TEST(Library, DtypesHaveTheWordsOfCaps) {
  const std::pair<const char*, guint> expected[] = {
      {"int8", 1}, {"uint8", 1}, {"int32", 4}, {"float16", 2}, {"bfloat16", 2}, {"float32", 4}};
  for (int i = 0; i < 6; ++i) {
    const auto dtype = static_cast<GstSimaaiDtype>(i);
    EXPECT_STREQ(gst_simaai_dtype_get_name(dtype), expected[i].first);
    EXPECT_EQ(gst_simaai_dtype_get_bytes(dtype), expected[i].second);
  }
  EXPECT_STREQ(gst_simaai_dtype_get_name(static_cast<GstSimaaiDtype>(6)), "unknown");
  EXPECT_EQ(gst_simaai_dtype_get_bytes(static_cast<GstSimaaiDtype>(6)), 0U);
}

TEST(Library, RefusalsSayWhatWasFound) {
  Reason reason;
  EXPECT_EQ(gst_simaai_tensor_info_new_from_caps(caps_of("video/x-raw").get(), &reason), nullptr);
  EXPECT_EQ(reason.code(), GST_SIMAAI_ERROR_CAPS);
  EXPECT_TRUE(mentions(reason.text(), {"video/x-raw", "application/vnd.simaai.tensor"}));
  EXPECT_EQ(
      gst_simaai_tensor_set_new_from_caps(
          caps_of("application/vnd.simaai.tensor,dtype=int8,layout=contiguous").get(), &reason),
      nullptr);
  EXPECT_TRUE(mentions(reason.text(), {"'shape' is missing"}));

  const std::array<gint, 7> shape{1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(gst_simaai_tensor_info_new(GST_SIMAAI_DTYPE_INT8, shape.data(), 7), nullptr);
  const Info info(gst_simaai_tensor_info_new(GST_SIMAAI_DTYPE_INT8, shape.data(), 2));
  EXPECT_FALSE(gst_simaai_tensor_info_set_shape(info.get(), shape.data(), 7));
  const std::array<gint64, 3> strides{4, 1, 1};
  EXPECT_FALSE(gst_simaai_tensor_info_set_strided(info.get(), strides.data(), 3));
  EXPECT_EQ(shape_of(info), (std::vector<gint>{1, 2}));
  EXPECT_EQ(gst_simaai_tensor_info_get_layout(info.get()), GST_SIMAAI_LAYOUT_CONTIGUOUS);

  // Tiles that do not fit the rank, and extents that no memory can hold.
  const std::array<gint, 4> axes{-1, -1, 0, 5};
  const std::array<gint, 4> tile{1, 1, 1, 1};
  gst_simaai_tensor_info_set_mla_tiled(info.get(), axes.data(), tile.data(),
                                       GST_SIMAAI_CHANNEL_STORAGE_COMPACT);
  guint64 bytes = 77;
  EXPECT_FALSE(gst_simaai_tensor_info_get_size(info.get(), &bytes, &reason));
  EXPECT_EQ(reason.code(), GST_SIMAAI_ERROR_TENSOR);
  EXPECT_TRUE(mentions(reason.text(), {"axis C", "found 5"}));
  EXPECT_EQ(bytes, 77U);
  EXPECT_EQ(gst_simaai_tensor_info_to_caps(info.get(), &reason), nullptr);
  const std::array<gint, 3> huge{2147483647, 2147483647, 2147483647};
  const Info large(gst_simaai_tensor_info_new(GST_SIMAAI_DTYPE_FLOAT32, huge.data(), 3));
  EXPECT_FALSE(gst_simaai_tensor_info_get_size(large.get(), &bytes, &reason));
  EXPECT_EQ(strides_of(large), std::vector<gint64>{});
}

TEST(Library, SetsKeepTheirTensorsAndFramerate) {
  const std::string text = set_caps("dtype=int8,shape=<5>,tensor-id=a", "dtype=int32,shape=<3>");
  const Set read = set_of(text);
  EXPECT_FALSE(gst_simaai_tensor_set_is_plain(read.get()));
  EXPECT_EQ(gst_simaai_tensor_set_get_length(read.get()), 2U);
  EXPECT_EQ(gst_simaai_tensor_set_get_tensor(read.get(), 2), nullptr);

  const Set built(gst_simaai_tensor_set_new());
  Reason reason;
  EXPECT_EQ(gst_simaai_tensor_set_to_caps(built.get(), &reason), nullptr);
  EXPECT_TRUE(mentions(reason.text(), {"no tensors"}));
  for (guint i = 0; i < 2; ++i) {
    const Info info(gst_simaai_tensor_set_get_tensor(read.get(), i));
    EXPECT_TRUE(gst_simaai_tensor_set_append(built.get(), info.get()));
  }
  gst_simaai_tensor_set_set_framerate(built.get(), 25, 1);
  const GstPtr<GstCaps> caps(gst_simaai_tensor_set_to_caps(built.get(), nullptr));
  EXPECT_TRUE(gst_caps_is_equal(caps.get(), caps_of(text).get())) << text_of(caps.get());

  // Offsets in some tensors only are no set.
  const Info info(gst_simaai_tensor_set_get_tensor(read.get(), 0));
  gst_simaai_tensor_info_set_offset(info.get(), 64);
  EXPECT_TRUE(gst_simaai_tensor_set_append(built.get(), info.get()));
  EXPECT_EQ(gst_simaai_tensor_set_to_caps(built.get(), &reason), nullptr);
  EXPECT_TRUE(mentions(reason.text(), {"'offset' is missing"}));

  gst_simaai_tensor_info_set_offset(info.get(), -1);
  for (guint i = 3; i < 16; ++i)
    EXPECT_TRUE(gst_simaai_tensor_set_append(built.get(), info.get()));
  EXPECT_FALSE(gst_simaai_tensor_set_append(built.get(), info.get()));
  EXPECT_EQ(gst_simaai_tensor_set_get_length(built.get()), 16U);
}

TEST(Library, APlainTensorIsASetOfOne) {
  const Set set = set_of(kTiled);
  EXPECT_TRUE(gst_simaai_tensor_set_is_plain(set.get()));
  gst_simaai_tensor_set_set_framerate(set.get(), 50, 1);
  const GstPtr<GstCaps> caps(gst_simaai_tensor_set_to_caps(set.get(), nullptr));
  std::string expected = kTiled;
  expected.replace(expected.find("30/1"), 4, "50/1");
  EXPECT_EQ(text_of(caps.get()), expected);
}

/// Bytes of a tensor by way of the library.
Bytes read(const Set& set, GstBuffer* buffer, guint index) {
  GstSimaaiTensorMap map;
  Reason reason;
  if (!gst_simaai_tensor_set_map(set.get(), buffer, index, GST_MAP_READ, &map, &reason)) {
    ADD_FAILURE() << reason.text();
    return {};
  }
  Bytes bytes(map.data, map.data + map.size);
  gst_simaai_tensor_map_unmap(&map);
  return bytes;
}

TEST(Library, FindsTensorsWhereverTheyAre) {
  const Set apart = set_of(set_caps("dtype=int8,shape=<3>", "dtype=int8,shape=<2>"));
  const GstPtr<GstBuffer> one = buffer_of({9, 9, 1, 2, 3, 4, 5}, 2); // an offset of the memory
  gst_buffer_resize(one.get(), 2, 5);
  EXPECT_EQ(read(apart, one.get(), 0), (Bytes{1, 2, 3}));
  EXPECT_EQ(read(apart, one.get(), 1), (Bytes{4, 5}));
  const GstPtr<GstBuffer> two = buffer_of({1, 2, 3});
  const GstPtr<GstBuffer> second = buffer_of({4, 5});
  gst_buffer_append_memory(two.get(), gst_buffer_get_memory(second.get(), 0));
  EXPECT_EQ(read(apart, two.get(), 0), (Bytes{1, 2, 3}));
  EXPECT_EQ(read(apart, two.get(), 1), (Bytes{4, 5}));
  gsize offset = 99;
  gsize size = 0;
  const GstPtr<GstMemory> memory(
      gst_simaai_tensor_set_get_memory(apart.get(), two.get(), 1, &offset, &size, nullptr));
  EXPECT_EQ(memory.get(), gst_buffer_peek_memory(two.get(), 1));
  EXPECT_EQ(std::pair(offset, size), std::pair(gsize{0}, gsize{2}));

  const Set inside = set_of(
      set_caps("dtype=int8,shape=<2>,offset=(gint64)3", "dtype=int8,shape=<0>,offset=(gint64)0"));
  EXPECT_EQ(read(inside, one.get(), 0), (Bytes{4, 5}));
  EXPECT_EQ(read(inside, one.get(), 1), Bytes{});

  // Cut in the middle of a tensor, too short, no such tensor: errors, and no copy.
  Reason reason;
  const Set other = set_of(set_caps("dtype=int8,shape=<2>", "dtype=int8,shape=<3>"));
  GstSimaaiTensorMap map;
  EXPECT_FALSE(gst_simaai_tensor_set_map(other.get(), two.get(), 1, GST_MAP_READ, &map, &reason));
  EXPECT_EQ(reason.code(), GST_SIMAAI_ERROR_BUFFER);
  EXPECT_TRUE(mentions(reason.text(), {"tensor 1", "several memories"}));
  EXPECT_EQ(map.data, nullptr);
  EXPECT_FALSE(
      gst_simaai_tensor_set_map(apart.get(), second.get(), 0, GST_MAP_READ, &map, &reason));
  EXPECT_TRUE(mentions(reason.text(), {"needed 5 bytes", "found 2"}));
  EXPECT_FALSE(gst_simaai_tensor_set_map(apart.get(), one.get(), 2, GST_MAP_READ, &map, &reason));
  EXPECT_TRUE(mentions(reason.text(), {"tensor 2", "below 2"}));
}

TEST(Library, WritesOneTensorAndNothingElse) {
  const Set set = set_of(set_caps("dtype=int8,shape=<3>", "dtype=int8,shape=<2>"));
  const GstPtr<GstBuffer> buffer = buffer_of({1, 2, 3, 4, 5});
  GBytes* wrong = g_bytes_new("abcd", 4);
  GBytes* right = g_bytes_new("xy", 2);
  Reason reason;
  EXPECT_FALSE(gst_simaai_tensor_set_write(set.get(), buffer.get(), 1, wrong, &reason));
  EXPECT_TRUE(mentions(reason.text(), {"tensor 1", "needed 2 bytes, found 4"}));
  EXPECT_EQ(bytes_of(buffer.get()), (Bytes{1, 2, 3, 4, 5}));
  EXPECT_TRUE(gst_simaai_tensor_set_write(set.get(), buffer.get(), 1, right, nullptr));
  EXPECT_EQ(bytes_of(buffer.get()), (Bytes{1, 2, 3, 'x', 'y'}));
  gst_buffer_ref(buffer.get());
  EXPECT_FALSE(gst_simaai_tensor_set_write(set.get(), buffer.get(), 1, right, &reason));
  EXPECT_TRUE(mentions(reason.text(), {"shared"}));
  gst_buffer_unref(buffer.get());
  GBytes* found = gst_simaai_tensor_set_read(set.get(), buffer.get(), 1, nullptr);
  EXPECT_TRUE(g_bytes_equal(found, right));
  for (GBytes* bytes : {wrong, right, found})
    g_bytes_unref(bytes);
}

TEST(Library, PoolsFollowCaps) {
  const GstPtr<GstAllocator> allocator(gst_simaai_allocator_get_shared());
  const GstPtr<GstAllocator> again(gst_simaai_allocator_get_shared());
  EXPECT_EQ(allocator.get(), again.get());
  const auto caps = caps_of(set_caps("dtype=int8,shape=<100>", "dtype=int32,shape=<50>"));
  for (GstAllocator* from : {allocator.get(), static_cast<GstAllocator*>(nullptr)}) {
    const GstPtr<GstBufferPool> pool(gst_simaai_pool_new(caps.get(), from, 1, 2, nullptr));
    ASSERT_NE(pool, nullptr);
    gst_buffer_pool_set_active(pool.get(), TRUE);
    for (int round = 0; round < 5; ++round) {
      GstBuffer* buffer = nullptr;
      ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
      const GstPtr<GstBuffer> owned(buffer);
      ASSERT_EQ(gst_buffer_n_memory(buffer), 2U);
      for (guint i = 0; i < 2; ++i) {
        GstMemory* memory = gst_buffer_peek_memory(buffer, i);
        EXPECT_GE(memory->size, i == 0 ? 100U : 200U);
        EXPECT_EQ(gst_simaai_memory_get_kind(memory), gst_simaai_allocator_get_kind(from));
        GstMapInfo map;
        ASSERT_TRUE(gst_memory_map(memory, &map, GST_MAP_WRITE));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map.data) % 64, 0U);
        gst_memory_unmap(memory, &map);
      }
    }
    EXPECT_EQ(gst_simaai_pool_get_allocations(pool.get()), 1U);
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
  EXPECT_STREQ(gst_simaai_allocator_get_source(nullptr), "system");
  EXPECT_NE(gst_simaai_allocator_get_kind(allocator.get()), GST_SIMAAI_MEMORY_KIND_SYSTEM);
  EXPECT_STRNE(gst_simaai_allocator_get_source(allocator.get()), "system");

  Reason reason;
  // A limit is no room that is taken.
  EXPECT_TRUE(
      GstPtr<GstBufferPool>(gst_simaai_pool_new(caps.get(), nullptr, 0, G_MAXUINT, nullptr)));
  EXPECT_EQ(gst_simaai_pool_new(caps.get(), nullptr, 3, 2, &reason), nullptr);
  EXPECT_EQ(reason.code(), GST_SIMAAI_ERROR_POOL);
  EXPECT_TRUE(mentions(reason.text(), {"max_buffers is 2", "at least 3"}));
  EXPECT_EQ(gst_simaai_pool_new(caps_of("video/x-raw").get(), nullptr, 0, 0, &reason), nullptr);
  EXPECT_EQ(reason.code(), GST_SIMAAI_ERROR_CAPS);
  const auto empty =
      caps_of("application/vnd.simaai.tensor,dtype=int8,shape=<0>,layout=contiguous");
  EXPECT_EQ(gst_simaai_pool_new(empty.get(), nullptr, 0, 0, &reason), nullptr);
  EXPECT_TRUE(mentions(reason.text(), {"no bytes"}));
  const GstPtr<GstBufferPool> foreign(gst_buffer_pool_new());
  EXPECT_EQ(gst_simaai_pool_get_allocations(foreign.get()), 0U);
}

} // namespace
} // namespace simaai::test
