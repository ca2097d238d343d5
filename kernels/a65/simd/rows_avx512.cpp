// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile row kernels for AVX-512 (F, BW, VL).
#include "a65/simd/rows_avx512.h"

namespace simaai::kernels::a65::detail {

const RowTable& avx512_rows() noexcept { return Avx512Rows<Avx512<false>>::kTable; }

} // namespace simaai::kernels::a65::detail
