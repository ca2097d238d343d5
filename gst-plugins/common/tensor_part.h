// SPDX-License-Identifier: LGPL-2.1-or-later
// Parts of buffers that go on alone or together: what the elements that combine and split sets share.
#pragma once

#include <cstddef>

#include <gst/gst.h>

#include "export.h"
#include "gst_ptr.h"
#include "port_layout.h"

namespace simaai::gst {

/// Caps of any tensor, in system memory and DMA-BUFs.
[[nodiscard]] SIMAAI_GST_API GstPtr<GstCaps> any_tensor_caps();
/// Caps of any set.
[[nodiscard]] SIMAAI_GST_API GstPtr<GstCaps> any_set_caps();

/// Exactly the bytes of a tensor: the memory itself, or a shared part of it. An empty memory for an empty tensor. Null where the
/// bytes are spread over several memories or cannot be shared. The buffer holds what its layout needs.
[[nodiscard]] SIMAAI_GST_API GstPtr<GstMemory>
share_tensor(GstBuffer* buffer, const PortLayout& layout, std::size_t tensor);

/// A copy of a tensor's bytes, aligned to 64; null without memory, or where the buffer cannot be read.
[[nodiscard]] SIMAAI_GST_API GstPtr<GstMemory>
copy_tensor(GstBuffer* buffer, const PortLayout& layout, std::size_t tensor);

/// Copies every meta that stays valid without the memory that it came with.
SIMAAI_GST_API void copy_metas(GstBuffer* from, GstBuffer* to);

/// Keeps a buffer of a pool away from it as long as somebody has its memory in `child`.
SIMAAI_GST_API void keep_parent(GstBuffer* child, GstBuffer* parent);

} // namespace simaai::gst
