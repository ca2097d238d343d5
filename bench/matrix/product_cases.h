// SPDX-License-Identifier: LGPL-2.1-or-later
// Cases of the integer products.
#pragma once

#include "cases.h"

namespace matrix_bench {

/// Instantiated for 64 x 256 and 1024 x 1024.
template <std::size_t R, std::size_t C> [[nodiscard]] Case gemv_case(std::string name);
/// Square operands.
[[nodiscard]] Case matmul_case(std::size_t extent);

} // namespace matrix_bench
