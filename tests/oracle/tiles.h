// SPDX-License-Identifier: LGPL-2.1-or-later
// Tiled storage as a byte sequence: bytes are appended or consumed in the documented order, and no
// address is ever computed.
#pragma once

#include "tensor.h"

namespace simaai::oracle {

/// Values of the bytes that hold no element. Kernels write `gap` as zero; tests poison both.
struct Padding {
  std::uint8_t channel = 0; ///< channels added up to a multiple of 16
  std::uint8_t gap = 0;     ///< end of a tile up to a multiple of 16 bytes
};

/// The physical bytes of `tensor` (Int8, UInt8, Float16 or BFloat16) as MlaTiled or MlaCBlocked.
Bytes tile(const Tensor& tensor, const kernels::Layout& layout, Padding padding = {});

/// Reads a tensor out of its physical bytes; padding is skipped. Throws std::invalid_argument where
/// `bytes` is not exactly as long as the layout says.
Tensor untile(const Bytes& bytes, const kernels::Shape& shape, kernels::DType dtype,
              const kernels::Layout& layout);

/// Physical bytes, found by walking the layout.
std::uint64_t tiled_bytes(const kernels::Shape& shape, kernels::DType dtype,
                          const kernels::Layout& layout);

} // namespace simaai::oracle
