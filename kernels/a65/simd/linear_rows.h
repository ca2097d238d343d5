// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels of contiguous vectors that tile kernels of the same level hand packed single channels to.
#pragma once

#include "a65/simd/row_args.h"

namespace simaai::kernels::a65::detail {

#if defined(__x86_64__)
void f32_bf16_linear_row__avx2(const LinearRow& row) noexcept;
void bf16_f32_linear_row__avx2(const LinearRow& row) noexcept;
#elif defined(__aarch64__)
void f32_bf16_linear_row__neon(const LinearRow& row) noexcept;
void bf16_f32_linear_row__neon(const LinearRow& row) noexcept;
#endif

} // namespace simaai::kernels::a65::detail
