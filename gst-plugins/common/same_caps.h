// SPDX-License-Identifier: LGPL-2.1-or-later
// Whether caps are those of the last time.
#pragma once

#include <gst/gst.h>

namespace simaai::gst {

/// Equal, or both null.
[[nodiscard]] inline bool same_caps(const GstCaps* a, const GstCaps* b) noexcept {
  return a != nullptr && b != nullptr ? gst_caps_is_equal(a, b) != FALSE : a == b;
}

} // namespace simaai::gst
