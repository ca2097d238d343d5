// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters of the matrix elements.
#include "matrix_stats.h"

#include <string>

#include "common/errors.h"

namespace simaai::gst {

void MatrixStats::reset() noexcept {
  frames_ = 0;
  bytes_in_ = 0;
  bytes_out_ = 0;
  copies_ = 0;
  conversions_ = 0;
  copy_announced_ = false;
  processing_.reset();
}

void MatrixStats::count_frame(std::uint64_t bytes_in, std::uint64_t bytes_out,
                              std::chrono::steady_clock::time_point begun) noexcept {
  const auto spent = std::chrono::steady_clock::now() - begun;
  frames_.fetch_add(1, std::memory_order_relaxed);
  bytes_in_.fetch_add(bytes_in, std::memory_order_relaxed);
  bytes_out_.fetch_add(bytes_out, std::memory_order_relaxed);
  processing_.record(static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count()));
}

bool MatrixStats::allow_copy(GstElement* element, const char* port, const char* why,
                             std::uint64_t bytes, bool forbidden) {
  if (forbidden) {
    Report report;
    report.reason = std::string("the ") + port + " buffer must be copied (" + why +
                    "), which require-zero-copy forbids";
    report.needed_bytes = bytes;
    post_error(element, ErrorKind::Data, report);
    return false;
  }
  count_copy();
  if (!copy_announced_) {
    copy_announced_ = true;
    post_notice(element, gst_structure_new("simaai-copy", "port", G_TYPE_STRING, port, "reason",
                                           G_TYPE_STRING, why, "bytes", G_TYPE_UINT64,
                                           guint64{bytes}, nullptr));
  }
  return true;
}

GstStructure* MatrixStats::structure() const {
  return gst_structure_new(
      "simaai-stats", "frames", G_TYPE_UINT64, guint64{frames_.load()}, "bytes-in", G_TYPE_UINT64,
      guint64{bytes_in_.load()}, "bytes-out", G_TYPE_UINT64, guint64{bytes_out_.load()}, "copies",
      G_TYPE_UINT64, guint64{copies_.load()}, "conversions", G_TYPE_UINT64,
      guint64{conversions_.load()}, "p50-ns", G_TYPE_UINT64, guint64{processing_.percentile_ns(50)},
      "p95-ns", G_TYPE_UINT64, guint64{processing_.percentile_ns(95)}, "p99-ns", G_TYPE_UINT64,
      guint64{processing_.percentile_ns(99)}, "max-ns", G_TYPE_UINT64,
      guint64{processing_.max_ns()}, nullptr);
}

void install_stats_property(GObjectClass* klass, guint id) {
  g_object_class_install_property(
      klass, id,
      g_param_spec_boxed("stats", "Statistics",
                         "Counters since the element was started, all uint64: frames, bytes-in, "
                         "bytes-out, copies (buffers that had to be copied because of their "
                         "memory), conversions (buffers whose layout was changed), p50-ns, p95-ns, "
                         "p99-ns and max-ns of the processing time",
                         GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

void install_zero_copy_property(GObjectClass* klass, guint id) {
  g_object_class_install_property(
      klass, id,
      g_param_spec_boolean("require-zero-copy", "Require zero copy",
                           "Stop with an error where a buffer would have to be copied (several "
                           "memories, misaligned memory) instead of copying it and counting the "
                           "copy in stats. A change of layout is no copy",
                           FALSE,
                           static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                    GST_PARAM_MUTABLE_READY)));
}

} // namespace simaai::gst
