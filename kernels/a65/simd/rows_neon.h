// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile rows of Armv8 Advanced SIMD that the table in rows_neon.cpp takes from other files.
#pragma once

#include "a65/simd/row_args.h"

namespace simaai::kernels::a65::detail {

void bf16_f32_untiled_row__neon(const TileRow& row) noexcept;
void bf16_f32_untiled_c1_row__neon(const TileRow& row) noexcept;
void bf16_f32_untiled_c2_row__neon(const TileRow& row) noexcept;
void bf16_f32_untiled_c3_row__neon(const TileRow& row) noexcept;
void bf16_bf16_untiled_row__neon(const TileRow& row) noexcept;
void bf16_bf16_untiled_c1_row__neon(const TileRow& row) noexcept;
void bf16_bf16_untiled_c2_row__neon(const TileRow& row) noexcept;
void bf16_bf16_untiled_c3_row__neon(const TileRow& row) noexcept;
void i8_i8_tiled_row__neon(const TileRow& row) noexcept;
void i8_i8_untiled_row__neon(const TileRow& row) noexcept;

} // namespace simaai::kernels::a65::detail
