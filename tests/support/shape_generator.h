// SPDX-License-Identifier: LGPL-2.1-or-later
// Seeded shapes and layouts that every operation admits.
#pragma once

#include <cstdint>

#include <simaai/kernels/tensor_spec.h>

#include "oracle/random_tensor.h"

namespace simaai::test {

/// Extents of `rank` axes with at most about `max_elements` elements. One axis (the likely channel
/// axis) takes extents around multiples of 16, the others are small, some are one; about one shape
/// in twenty-five has a zero extent.
kernels::Shape random_shape(oracle::Random& random, std::size_t rank, std::uint64_t max_elements);

/// A random map of the axes onto D, H, W and C (spatial ones may be absent, axes may stay unmapped)
/// and tile extents equal to, dividing, below and above the extents.
kernels::MlaTiled random_tiling(oracle::Random& random, const kernels::Shape& shape);

/// Tile extents over the last three axes; rank three to six.
kernels::MlaCBlocked random_blocking(oracle::Random& random, const kernels::Shape& shape);

/// Strides without overlap in a random physical order, with pitches and element steps; axes of
/// extent one have any aligned stride, zero included.
kernels::Strided random_strides(oracle::Random& random, const kernels::Shape& shape,
                                kernels::DType dtype);

} // namespace simaai::test
