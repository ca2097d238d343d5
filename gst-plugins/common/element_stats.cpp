// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters as a structure, and what is said of copies.
#include "element_stats.h"

#include <string>
#include <utility>

#include <gst/allocators/allocators.h>

namespace simaai::gst {

void ElementStats::reset() noexcept {
  for (auto* counter : {&frames_, &bytes_in_, &bytes_out_, &copies_, &conversions_, &allocations_})
    counter->store(0, std::memory_order_relaxed);
  memory_.store(nullptr, std::memory_order_relaxed);
  announced_ = false;
  processing_.reset();
}

void ElementStats::note_memory(GstBuffer* buffer) noexcept {
  if (gst_buffer_n_memory(buffer) == 0)
    return;
  GstMemory* const memory = gst_buffer_peek_memory(buffer, 0);
  const char* const kind = gst_is_dmabuf_memory(memory) != FALSE ? "dma-buf"
                           : gst_is_fd_memory(memory) != FALSE   ? "memfd"
                                                                 : "system";
  memory_.store(kind, std::memory_order_relaxed);
}

void ElementStats::note_copy(GstElement* element, const char* port, const char* why,
                             std::uint64_t bytes) {
  count_copy();
  if (announced_.exchange(true))
    return;
  post_notice(element,
              gst_structure_new("simaai-copy", "port", G_TYPE_STRING, port, "reason", G_TYPE_STRING,
                                why, "bytes", G_TYPE_UINT64, guint64{bytes}, nullptr));
}

bool ElementStats::allow_copy(GstElement* element, const char* port, const char* why,
                              std::uint64_t bytes, bool forbidden, Report context) {
  if (!forbidden) {
    note_copy(element, port, why, bytes);
    return true;
  }
  context.reason = std::string("the ") + port + " buffer must be copied (" + why +
                   "), which require-zero-copy forbids";
  context.needed_bytes = bytes;
  post_error(element, ErrorKind::Data, context);
  return false;
}

GstStructure* ElementStats::structure() const {
  const auto value = [](const std::atomic<std::uint64_t>& counter) {
    return guint64{counter.load(std::memory_order_relaxed)};
  };
  return gst_structure_new("simaai-stats", "frames", G_TYPE_UINT64, value(frames_), "bytes-in",
                           G_TYPE_UINT64, value(bytes_in_), "bytes-out", G_TYPE_UINT64,
                           value(bytes_out_), "copies", G_TYPE_UINT64, value(copies_),
                           "allocations", G_TYPE_UINT64, value(allocations_), "p50-ns",
                           G_TYPE_UINT64, guint64{processing_.percentile_ns(50)}, "p95-ns",
                           G_TYPE_UINT64, guint64{processing_.percentile_ns(95)}, "p99-ns",
                           G_TYPE_UINT64, guint64{processing_.percentile_ns(99)}, "max-ns",
                           G_TYPE_UINT64, guint64{processing_.max_ns()}, nullptr);
}

GstStructure* ElementStats::structure_with_conversions() const {
  GstStructure* stats = structure();
  gst_structure_set(stats, "conversions", G_TYPE_UINT64, guint64{conversions_.load()}, nullptr);
  return stats;
}

void ElementStats::describe_memory(GstStructure* stats) const {
  const char* const memory = memory_.load(std::memory_order_relaxed);
  gst_structure_set(stats, "memory", G_TYPE_STRING, memory != nullptr ? memory : "none", nullptr);
}

void install_stats_property(GObjectClass* klass, guint id, const char* blurb) {
  g_object_class_install_property(
      klass, id,
      g_param_spec_boxed("stats", "Statistics", blurb, GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

} // namespace simaai::gst
