// SPDX-License-Identifier: LGPL-2.1-or-later
// Elements of a linear tensor in logical row-major order. Knows no GLib.
#pragma once

#include <cstddef>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::gst {

/// Copies every element of `src`, which lies as `spec` says (Contiguous, or Strided with a rank of at most kMaxRank and
/// extents that fit the buffers), to `dst` without gaps. Gaps of `src` are not read.
void gather_row_major(const kernels::TensorSpec& spec, const std::byte* src, std::byte* dst);

} // namespace simaai::gst
