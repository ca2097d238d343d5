// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers of the programs that measure elements.
#pragma once

#include <cstdint>

#include "oracle/numerics.h"
#include "oracle/tiles.h"

namespace simaai::bench {

/// Bytes of a dense little-endian tensor.
[[nodiscard]] inline oracle::Bytes dense(const oracle::Tensor& tensor) {
  oracle::Bytes bytes;
  for (const std::uint32_t bits : tensor.bits)
    for (std::uint32_t i = 0; i < kernels::scalar_bytes(tensor.dtype); ++i)
      bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  return bytes;
}

} // namespace simaai::bench
