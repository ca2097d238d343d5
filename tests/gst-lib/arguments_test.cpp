// SPDX-License-Identifier: LGPL-2.1-or-later
// Arguments that only a mistake of the program can pass: each function says so in its own name, and returns.
#include <array>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "library_support.h"

namespace simaai::test {
namespace {

/// Collects the criticals of the library while it lives, whatever G_DEBUG makes fatal.
class Criticals {
public:
  Criticals()
      : fatal_(g_log_set_always_fatal(static_cast<GLogLevelFlags>(G_LOG_FATAL_MASK))),
        handler_(g_log_set_default_handler(take, this)) {}
  ~Criticals() {
    g_log_set_default_handler(handler_, nullptr);
    g_log_set_always_fatal(fatal_);
  }
  Criticals(const Criticals&) = delete;
  Criticals& operator=(const Criticals&) = delete;
  [[nodiscard]] std::vector<std::string> taken() { return std::exchange(texts_, {}); }

private:
  static void take(const gchar*, GLogLevelFlags, const gchar* text, gpointer self) {
    static_cast<Criticals*>(self)->texts_.emplace_back(text);
  }
  GLogLevelFlags fatal_;
  GLogFunc handler_;
  std::vector<std::string> texts_;
};

/// Functions that have no argument to get wrong, or take a null one.
std::set<std::string> functions_that_take_anything() {
  return {
      "gst_simaai_allocator_get_kind",   "gst_simaai_allocator_get_shared",
      "gst_simaai_allocator_get_source", "gst_simaai_dtype_get_bytes",
      "gst_simaai_dtype_get_name",       "gst_simaai_error_quark",
      "gst_simaai_tensor_info_free",     "gst_simaai_tensor_info_get_type",
      "gst_simaai_tensor_set_free",      "gst_simaai_tensor_set_get_type",
      "gst_simaai_tensor_set_new",
  };
}

struct Mistake {
  std::string function;
  std::function<void()> call;
};

std::vector<Mistake> mistakes_of_tensors(GstSimaaiTensorInfo* info) {
  static guint64 bytes = 0;
  static gsize count = 0;
  const auto no_dtype = static_cast<GstSimaaiDtype>(7);
  static const std::array<gint, 4> four{-1, -1, -1, 0};
#define CALL(name, ...)                                                                            \
  {                                                                                                \
    "gst_simaai_tensor_info_" #name, [=] { (void)gst_simaai_tensor_info_##name(__VA_ARGS__); }     \
  }
  return {
      CALL(new, no_dtype, nullptr, 0),
      CALL(new, GST_SIMAAI_DTYPE_INT8, nullptr, 2),
      CALL(new_from_caps, nullptr, nullptr),
      CALL(copy, nullptr),
      CALL(to_caps, nullptr, nullptr),
      CALL(get_size, nullptr, &bytes, nullptr),
      CALL(get_size, info, nullptr, nullptr),
      CALL(get_alignment, nullptr),
      CALL(get_dtype, nullptr),
      CALL(set_dtype, nullptr, GST_SIMAAI_DTYPE_INT8),
      CALL(set_dtype, info, no_dtype),
      CALL(get_shape, nullptr, &count),
      CALL(get_shape, info, nullptr),
      CALL(set_shape, nullptr, nullptr, 0),
      CALL(set_shape, info, nullptr, 2),
      CALL(get_layout, nullptr),
      CALL(set_contiguous, nullptr),
      CALL(get_strides, nullptr, &count),
      CALL(get_strides, info, nullptr),
      CALL(set_strided, nullptr, nullptr, 0),
      CALL(set_strided, info, nullptr, 1),
      CALL(get_tile_axes, nullptr),
      CALL(get_tile_axes_array, nullptr, &count),
      CALL(get_tile_axes_array, info, nullptr),
      CALL(get_tile_shape, nullptr),
      CALL(get_tile_shape_array, nullptr, &count),
      CALL(get_tile_shape_array, info, nullptr),
      CALL(get_channel_storage, nullptr),
      CALL(set_mla_tiled, nullptr, four.data(), four.data(), GST_SIMAAI_CHANNEL_STORAGE_COMPACT),
      CALL(set_mla_tiled, info, nullptr, four.data(), GST_SIMAAI_CHANNEL_STORAGE_COMPACT),
      CALL(set_mla_tiled, info, four.data(), nullptr, GST_SIMAAI_CHANNEL_STORAGE_COMPACT),
      CALL(set_mla_cblocked, nullptr, four.data()),
      CALL(set_mla_cblocked, info, nullptr),
      CALL(get_quantization, nullptr, nullptr, nullptr),
      CALL(set_quantization, nullptr, 1, 0),
      CALL(unset_quantization, nullptr),
      CALL(get_tensor_id, nullptr),
      CALL(set_tensor_id, nullptr, "a"),
      CALL(get_framerate, nullptr, nullptr, nullptr),
      CALL(set_framerate, nullptr, 1, 1),
      CALL(get_offset, nullptr),
      CALL(set_offset, nullptr, 0),
  };
#undef CALL
}

std::vector<Mistake> mistakes_of_sets(GstSimaaiTensorSet* set, GstSimaaiTensorInfo* info,
                                      GstBuffer* buffer, GBytes* content) {
  static guint64 bytes = 0;
  static GstSimaaiTensorMap map;
#define CALL(name, ...)                                                                            \
  {                                                                                                \
    "gst_simaai_tensor_set_" #name, [=] { (void)gst_simaai_tensor_set_##name(__VA_ARGS__); }       \
  }
  return {
      CALL(new_from_caps, nullptr, nullptr),
      CALL(copy, nullptr),
      CALL(is_plain, nullptr),
      CALL(get_length, nullptr),
      CALL(get_tensor, nullptr, 0),
      CALL(append, nullptr, info),
      CALL(append, set, nullptr),
      CALL(get_framerate, nullptr, nullptr, nullptr),
      CALL(set_framerate, nullptr, 1, 1),
      CALL(to_caps, nullptr, nullptr),
      CALL(get_size, nullptr, &bytes, nullptr),
      CALL(get_size, set, nullptr, nullptr),
      CALL(get_memory, nullptr, buffer, 0, nullptr, nullptr, nullptr),
      CALL(get_memory, set, nullptr, 0, nullptr, nullptr, nullptr),
      CALL(map, nullptr, buffer, 0, GST_MAP_READ, &map, nullptr),
      CALL(map, set, nullptr, 0, GST_MAP_READ, &map, nullptr),
      CALL(map, set, buffer, 0, GST_MAP_READ, nullptr, nullptr),
      CALL(map, set, buffer, 0, static_cast<GstMapFlags>(0), &map, nullptr),
      CALL(read, nullptr, buffer, 0, nullptr),
      CALL(read, set, nullptr, 0, nullptr),
      CALL(write, nullptr, buffer, 0, content, nullptr),
      CALL(write, set, nullptr, 0, content, nullptr),
      CALL(write, set, buffer, 0, nullptr, nullptr),
      {"gst_simaai_tensor_map_unmap", [] { gst_simaai_tensor_map_unmap(nullptr); }},
  };
#undef CALL
}

std::vector<Mistake> mistakes_of_memory(GstCaps* caps, GstBufferPool* pool) {
  auto* not_an_allocator = reinterpret_cast<GstAllocator*>(pool);
  return {
      {"gst_simaai_memory_get_kind", [] { (void)gst_simaai_memory_get_kind(nullptr); }},
      {"gst_simaai_pool_new", [] { (void)gst_simaai_pool_new(nullptr, nullptr, 0, 0, nullptr); }},
      {"gst_simaai_pool_new",
       [=] { (void)gst_simaai_pool_new(caps, not_an_allocator, 0, 0, nullptr); }},
      {"gst_simaai_pool_get_allocations", [] { (void)gst_simaai_pool_get_allocations(nullptr); }},
  };
}

TEST(LibraryArguments, EachFunctionNamesItself) {
  const GstPtr<GstCaps> caps =
      caps_of("application/vnd.simaai.tensor,dtype=int8,shape=<4>,layout=contiguous");
  const Info info = info_of(text_of(caps.get()));
  const Set set = set_of(text_of(caps.get()));
  const GstPtr<GstBuffer> buffer = buffer_of(Bytes(4));
  const GstPtr<GstBufferPool> pool(gst_buffer_pool_new());
  GBytes* content = g_bytes_new("abcd", 4);
  std::set<std::string> named = functions_that_take_anything();
  {
    Criticals criticals;
    for (const auto& mistakes : {mistakes_of_tensors(info.get()),
                                 mistakes_of_sets(set.get(), info.get(), buffer.get(), content),
                                 mistakes_of_memory(caps.get(), pool.get())})
      for (const Mistake& mistake : mistakes) {
        named.insert(mistake.function);
        mistake.call();
        const auto texts = criticals.taken();
        ASSERT_EQ(texts.size(), 1U) << mistake.function;
        // C++ writes the whole signature.
        const std::string where = texts.front().substr(0, texts.front().find(": assertion"));
        EXPECT_NE(where.find(" " + mistake.function + "("), std::string::npos)
            << mistake.function << ": " << texts.front();
      }
  }
  g_bytes_unref(content);
  // No function is forgotten.
  std::ifstream file(SIMAAI_LIBRARY_SYMBOLS);
  std::set<std::string> exported;
  for (std::string line; std::getline(file, line);)
    exported.insert(line);
  EXPECT_EQ(named, exported);
}

} // namespace
} // namespace simaai::test
