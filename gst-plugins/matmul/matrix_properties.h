// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties that the matrix elements have in common, and why they copy.
#pragma once

#include <gst/gst.h>

namespace simaai::gst {

/// Why memory cannot be used in place.
inline constexpr const char* kSeveralMemories = "several memories";
inline constexpr const char* kMisaligned = "misaligned memory";

void install_matrix_stats_property(GObjectClass* klass, guint id);
void install_zero_copy_property(GObjectClass* klass, guint id);

} // namespace simaai::gst
