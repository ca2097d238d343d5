// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of matrix elements: layouts that a port takes, and fixed caps for an offer.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>

#include <gst/gst.h>

#include <simaai/kernels/tensor_spec.h>

#include "common/caps_spec.h"
#include "common/gst_ptr.h"

namespace simaai::gst {

/// Every layout of int8 tensors that DenseSource reads.
[[nodiscard]] GstPtr<GstCaps> any_layout_caps();
/// Layouts that DenseTarget writes: linear ones, and mla-tiled where `tiled`; in system memory and, where wanted, in
/// DMA-BUFs.
[[nodiscard]] GstPtr<GstCaps> output_layout_caps(kernels::DType dtype, bool tiled,
                                                 bool dma_bufs = false);

/// Sets `shape` in every structure.
void set_shape(GstCaps* caps, const kernels::Shape& shape);
/// Shape of a structure; nothing where it is missing or not fixed.
[[nodiscard]] std::optional<kernels::Shape> shape_of(const GstStructure* structure);

/// Fixed caps of the first structure of `offered`: layout fields that nobody fixed get their
/// defaults (row-major strides; trailing axes as tile axes, tiles of up to 16, pad16 where there is
/// a fill and compact otherwise). `shape` is used where the structure has none.
[[nodiscard]] GstPtr<GstCaps> fixate_output(GstPtr<GstCaps> offered, const kernels::Shape& shape,
                                            bool has_fill);

/// Copies what describes the stream and not the tensor's values: framerate, tensor-id.
void copy_stream_fields(const GstStructure* from, GstCaps* to);

} // namespace simaai::gst
