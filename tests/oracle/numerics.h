// SPDX-License-Identifier: LGPL-2.1-or-later
// Scalar conversions, defined on integers and independently of the kernels.
#pragma once

#include <cstdint>

#include "tensor.h"

namespace simaai::oracle {

/// (bits + 0x7fff + ((bits >> 16) & 1)) >> 16 modulo 2^32, NaNs included.
std::uint16_t float32_to_bfloat16(std::uint32_t bits);

/// Nearest even on the exact value; infinities and signed zeros kept; NaNs quieted with their sign
/// and the upper seven fraction bits kept.
std::uint16_t float16_to_bfloat16(std::uint16_t bits);

/// The same value with sixteen more fraction bits, all zero.
std::uint32_t bfloat16_to_float32(std::uint16_t bits);

/// Converts each element by the rule for the pair; equal dtypes keep all bits. Throws
/// std::invalid_argument for a pair without a rule.
Tensor convert(const Tensor& source, kernels::DType to);

} // namespace simaai::oracle
