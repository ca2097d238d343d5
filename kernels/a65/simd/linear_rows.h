// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels of linear views and strided channels, and vectors of them, that other files name.
#pragma once

#include "a65/simd/row_args.h"

namespace simaai::kernels::a65::detail {

#if defined(__x86_64__)
void f32_bf16_linear_row__avx2(const LinearRow& row) noexcept;
void bf16_f32_linear_row__avx2(const LinearRow& row) noexcept;
/// Thirty-two adjacent values by the full rule.
void f16_bf16_any_32__avx2(const std::byte* from, std::byte* to) noexcept;
void f32_bf16_gather_row__avx2(const TileRow& row) noexcept;
void f16_bf16_gather_row__avx2(const TileRow& row) noexcept;
void bf16_bf16_gather_row__avx2(const TileRow& row) noexcept;
void i8_i8_gather_row__avx2(const TileRow& row) noexcept;
void bf16_f32_scatter_row__avx2(const TileRow& row) noexcept;
void bf16_bf16_scatter_row__avx2(const TileRow& row) noexcept;
void i8_i8_scatter_row__avx2(const TileRow& row) noexcept;
#elif defined(__aarch64__)
void f32_bf16_linear_row__neon(const LinearRow& row) noexcept;
void bf16_f32_linear_row__neon(const LinearRow& row) noexcept;
void f32_bf16_strided_row__neon(const LinearRow& row) noexcept;
void f32_bf16_transposed_row__neon(const LinearRow& row) noexcept;
void bf16_f32_strided_row__neon(const LinearRow& row) noexcept;
void bf16_f32_transposed_row__neon(const LinearRow& row) noexcept;
#endif

} // namespace simaai::kernels::a65::detail
