// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile row kernels for AVX-512 (F, BW, VL): panels of 16 stored channels; others are AVX2's.
#include "a65/simd/isa_avx512.h"
#include "a65/simd/panel_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using Isa = Avx512<false>;
using Rows = PanelRows<Isa>;

/// Writes a panel of 16 stored channels; `kBelow` names the kernel for others.
template <class From, TilePanelFn RowTable::*kBelow>
void write_tiled(const TilePanel& panel) noexcept {
  if (panel.row.stored_channels == 16 && (panel.runs != 1 || panel.row.channels == 16))
    Rows::write_of_16<From>(panel);
  else
    (avx2_rows().*kBelow)(panel);
}

template <class To, TilePanelFn RowTable::*kBelow>
void read_tiled(const TilePanel& panel) noexcept {
  if (panel.row.stored_channels == 16)
    Rows::read_of_16<To>(panel);
  else
    (avx2_reader_rows().*kBelow)(panel);
}

constexpr RowTable kRows{
    .f32_bf16_tiled = write_tiled<Isa::F32, &RowTable::f32_bf16_tiled>,
    .f16_bf16_tiled = write_tiled<Isa::F16, &RowTable::f16_bf16_tiled>,
    .bf16_bf16_tiled = write_tiled<Isa::BF16, &RowTable::bf16_bf16_tiled>,
    .bf16_f32_untiled = read_tiled<Isa::F32, &RowTable::bf16_f32_untiled>,
    .bf16_bf16_untiled = read_tiled<Isa::BF16, &RowTable::bf16_bf16_untiled>,
};

} // namespace

const RowTable& avx512_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
