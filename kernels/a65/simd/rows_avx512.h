// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile row kernels of both AVX-512 levels: panels of 16 stored channels; others are AVX2's.
#pragma once

#include "a65/simd/isa_avx512.h"
#include "a65/simd/panel_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {

template <class Isa> struct Avx512Rows {
  using Rows = PanelRows<Isa>;

  /// Writes a panel of 16 stored channels; `kBelow` names the kernel for others.
  template <class From, TilePanelFn RowTable::*kBelow>
  static void write_tiled(const TilePanel& panel) noexcept {
    if (panel.row.stored_channels == 16 && (panel.runs != 1 || panel.row.channels == 16))
      Rows::template write_of_16<From>(panel);
    else
      (avx2_rows().*kBelow)(panel);
  }

  template <class To, TilePanelFn RowTable::*kBelow>
  static void read_tiled(const TilePanel& panel) noexcept {
    if (panel.row.stored_channels == 16)
      Rows::template read_of_16<To>(panel);
    else
      (avx2_reader_rows().*kBelow)(panel);
  }

  static constexpr RowTable kTable{
      .f32_bf16_tiled = write_tiled<typename Isa::F32, &RowTable::f32_bf16_tiled>,
      .f16_bf16_tiled = write_tiled<typename Isa::F16, &RowTable::f16_bf16_tiled>,
      .bf16_bf16_tiled = write_tiled<typename Isa::BF16, &RowTable::bf16_bf16_tiled>,
      .bf16_f32_untiled = read_tiled<typename Isa::F32, &RowTable::bf16_f32_untiled>,
      .bf16_bf16_untiled = read_tiled<typename Isa::BF16, &RowTable::bf16_bf16_untiled>,
  };
};

} // namespace simaai::kernels::a65::detail
