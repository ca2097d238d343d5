// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile rows and panels of Armv8 Advanced SIMD that the table in rows_neon.cpp takes from other files.
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

void f32_bf16_planar_panel__neon(const TilePanel& panel) noexcept;
void f16_bf16_planar_panel__neon(const TilePanel& panel) noexcept;
void bf16_bf16_planar_panel__neon(const TilePanel& panel) noexcept;
void i8_i8_planar_panel__neon(const TilePanel& panel) noexcept;
void bf16_f32_unplanar_panel__neon(const TilePanel& panel) noexcept;
void bf16_bf16_unplanar_panel__neon(const TilePanel& panel) noexcept;
void i8_i8_unplanar_panel__neon(const TilePanel& panel) noexcept;

void f32_bf16_gather_row__neon(const TileRow& row) noexcept;
void f16_bf16_gather_row__neon(const TileRow& row) noexcept;
void bf16_bf16_gather_row__neon(const TileRow& row) noexcept;
void i8_i8_gather_row__neon(const TileRow& row) noexcept;
void bf16_f32_scatter_row__neon(const TileRow& row) noexcept;
void bf16_bf16_scatter_row__neon(const TileRow& row) noexcept;
void i8_i8_scatter_row__neon(const TileRow& row) noexcept;

} // namespace simaai::kernels::a65::detail
