// SPDX-License-Identifier: LGPL-2.1-or-later
// Contiguous and strided storage, read and written by walking every coordinate.
#pragma once

#include "tensor.h"

namespace simaai::oracle {

/// Bytes from the base to the end of the last element; 0 for an empty tensor.
std::uint64_t linear_span(const kernels::Shape& shape, kernels::DType dtype,
                          const kernels::Layout& layout);

/// Reads a Contiguous or Strided tensor out of `storage`, which holds at least the span.
Tensor gather(const std::uint8_t* storage, const kernels::Shape& shape, kernels::DType dtype,
              const kernels::Layout& layout);

/// Writes the elements of `tensor` in Contiguous or Strided form; other bytes keep their value.
void scatter(const Tensor& tensor, const kernels::Layout& layout, std::uint8_t* storage);

} // namespace simaai::oracle
