// SPDX-License-Identifier: LGPL-2.1-or-later
// A second definition of the arithmetic between samples and tensor elements.
//
// It rounds by another way than the elements: binary32 results are binary64 results rounded once more, which is the same
// for one operation on binary32 operands, because 53 >= 2 * 24 + 2; 16-bit types are found by search among all their values.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::reference {

struct Params {
  std::array<float, 4> mean{};
  std::array<float, 4> scale{1, 1, 1, 1};
  float quant_scale = 1;
  int zero_point = -128;
};

/// Nearest value of a 16-bit floating-point type, given as its field widths; ties to the even code.
std::uint16_t nearest_code(float value, unsigned exponent_bits, unsigned fraction_bits);
/// Value of a finite or infinite code.
double code_value(std::uint16_t code, unsigned exponent_bits, unsigned fraction_bits);

/// Bits of the element for one sample, in the low bytes.
std::uint32_t element_of(std::uint8_t sample, kernels::DType dtype, std::size_t channel,
                         const Params& params);
/// The sample for the bits of one element.
std::uint8_t sample_of(std::uint32_t bits, kernels::DType dtype, std::size_t channel,
                       const Params& params);

} // namespace simaai::reference
