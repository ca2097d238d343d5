// SPDX-License-Identifier: LGPL-2.1-or-later
// Texts of the properties of the matrix elements.
#include "matrix_properties.h"

#include "common/element_stats.h"

namespace simaai::gst {

void install_matrix_stats_property(GObjectClass* klass, guint id) {
  install_stats_property(
      klass, id,
      "Counters since the element was started, all uint64: frames, bytes-in, bytes-out, copies "
      "(buffers that had to be copied because of their memory), conversions (buffers whose layout "
      "was changed), allocations, p50-ns, p95-ns, p99-ns and max-ns of the processing time; memory "
      "and "
      "memory-source (strings)");
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
