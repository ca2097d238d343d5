// SPDX-License-Identifier: LGPL-2.1-or-later
// The portable instruction set: the loops of the header-only core, compiled once.
#include <simaai/kernels/matrix/plain_loops.h>

#include "matrix/backends.h"

namespace simaai::kernels::matrix::detail {
namespace {

void requantize_scalar(const std::int32_t* src, std::size_t count, const Requant& requant,
                       std::int8_t* dst) noexcept {
  for (std::size_t n = 0; n < count; ++n)
    dst[n] = requant.requantize(src[n]);
}

} // namespace

const Backend scalar_backend = {"scalar", plain_gemv, plain_matmul, requantize_scalar};

} // namespace simaai::kernels::matrix::detail
