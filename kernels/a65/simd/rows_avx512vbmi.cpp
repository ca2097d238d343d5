// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile row kernels for AVX-512 with VBMI.
#include "a65/simd/rows_avx512.h"

namespace simaai::kernels::a65::detail {

const RowTable& avx512vbmi_rows() noexcept { return Avx512Rows<Avx512<true>>::kTable; }

} // namespace simaai::kernels::a65::detail
