// SPDX-License-Identifier: LGPL-2.1-or-later
// GstTensorMeta of GStreamer 1.26 and later, by which elements of others find tensors in a buffer whatever its caps.
#pragma once

#include <gst/gst.h>

#include "caps_spec.h"
#include "export.h"
#include "port_layout.h"

namespace simaai::gst {

/// Whether this build knows the meta: it was made against GStreamer 1.26 or later.
[[nodiscard]] SIMAAI_GST_API bool knows_tensor_meta() noexcept;

/// Whether the answer to an ALLOCATION query asks for the meta.
[[nodiscard]] SIMAAI_GST_API bool wants_tensor_meta(GstQuery* query) noexcept;

/// Adds the meta to a writable buffer that holds these tensors, if all of them are dense and nobody added one before; it shares their
/// memory. Nothing happens where this build does not know it, or where a tensor is spread over several memories.
SIMAAI_GST_API void add_tensor_meta(GstBuffer* buffer, const TensorSet& set,
                                    const PortLayout& layout);

} // namespace simaai::gst
