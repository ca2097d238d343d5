// SPDX-License-Identifier: LGPL-2.1-or-later
// Which metas stay valid when an element writes new memory or reads the old one as something else.
#pragma once

#include <gst/gst.h>

#include "export.h"

namespace simaai::gst {

/// All but those that describe memory, or how a picture or tensors lie in it. Regions of interest, time codes
/// and metas of applications pass.
[[nodiscard]] SIMAAI_GST_API bool meta_survives(const GstMetaInfo* info) noexcept;

} // namespace simaai::gst
