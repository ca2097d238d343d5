// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps text and physical bytes of a tensor, written by the tests themselves.
#pragma once

#include <cstdint>
#include <string>

#include <simaai/kernels/tensor_spec.h>

#include "oracle/tensor.h"

namespace simaai::test {

/// Caps as a person would write them.
std::string caps_of(const kernels::TensorSpec& spec);

/// Bytes of a tensor in any layout. Gaps of strided storage read `poison`; channel padding reads
/// `channel_padding`.
oracle::Bytes physical(const oracle::Tensor& tensor, const kernels::Layout& layout,
                       std::uint8_t channel_padding = 0, std::uint8_t poison = 0xa5);

/// Reads the tensor back out of physical bytes.
oracle::Tensor logical(const oracle::Bytes& bytes, const kernels::TensorSpec& spec);

kernels::MlaTiled tiled(std::array<std::int32_t, 4> axes, std::array<std::int64_t, 4> tile,
                        kernels::ChannelStorage channels);

} // namespace simaai::test
