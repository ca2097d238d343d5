// SPDX-License-Identifier: LGPL-2.1-or-later
// The one list of row kernels. Declarations, dispatch tables, tests and benchmarks expand it.
//
// X(name, from, to): `from` and `to` are scalar types i8, f16, bf16, f32. The function of a level
// is `<name>_row__<isa>`, and a name reads `<from>_<to>_<layout>`:
//   linear     contiguous to contiguous          strided   any strides
//   stream     like linear, around the caches    spread    every second scalar to contiguous
//   transposed columns to rows: scalars of a row are neighbours in the output, rows in the input
//   tiled      contiguous channels to tile       gather    any channel stride to tile
//   tiled_c<N> like tiled, exactly N channels    channels  one pixel of contiguous channels to tile
//   pad16_c<N> N channels in 16 stored ones, packed pixels to tile
//   untiled    tile to contiguous channels       scatter   tile to any channel stride
//   untiled_c<N> tile to contiguous channels, exactly N of them
//   planar     channels first to tile            unplanar  tile to channels first
//   spread_c4  every second scalar to tile       unspread_c4  tile to every second scalar
// `_c1` kernels ignore the channel stride. Kernels of linear rows take a LinearRow, gather and scatter
// a TileRow, the others a TilePanel.
#pragma once

// clang-format off
#define SIMAAI_A65_LINEAR_ROWS(X)            \
  X(f32_bf16_linear, f32, bf16)              \
  X(f32_bf16_stream, f32, bf16)              \
  X(f32_bf16_strided, f32, bf16)             \
  X(f32_bf16_transposed, f32, bf16)          \
  X(f32_bf16_spread, f32, bf16)              \
  X(bf16_f32_linear, bf16, f32)              \
  X(bf16_f32_stream, bf16, f32)              \
  X(bf16_f32_strided, bf16, f32)             \
  X(bf16_f32_transposed, bf16, f32)          \
  X(bf16_f32_spread, bf16, f32)

#define SIMAAI_A65_PANEL_WRITERS(X)          \
  X(f32_bf16_tiled, f32, bf16)               \
  X(f32_bf16_tiled_c1, f32, bf16)            \
  X(f32_bf16_tiled_c2, f32, bf16)            \
  X(f32_bf16_tiled_c3, f32, bf16)            \
  X(f32_bf16_channels, f32, bf16)            \
  X(f32_bf16_pad16_c1, f32, bf16)            \
  X(f32_bf16_pad16_c3, f32, bf16)            \
  X(f16_bf16_tiled, f16, bf16)               \
  X(f16_bf16_tiled_c1, f16, bf16)            \
  X(f16_bf16_tiled_c2, f16, bf16)            \
  X(f16_bf16_tiled_c3, f16, bf16)            \
  X(f16_bf16_channels, f16, bf16)            \
  X(bf16_bf16_tiled, bf16, bf16)             \
  X(bf16_bf16_tiled_c1, bf16, bf16)          \
  X(bf16_bf16_tiled_c2, bf16, bf16)          \
  X(bf16_bf16_tiled_c3, bf16, bf16)          \
  X(bf16_bf16_channels, bf16, bf16)          \
  X(bf16_bf16_pad16_c1, bf16, bf16)          \
  X(bf16_bf16_pad16_c3, bf16, bf16)          \
  X(i8_i8_tiled, i8, i8)                     \
  X(i8_i8_channels, i8, i8)

#define SIMAAI_A65_PANEL_READERS(X)          \
  X(bf16_f32_untiled, bf16, f32)             \
  X(bf16_f32_untiled_c1, bf16, f32)          \
  X(bf16_f32_untiled_c2, bf16, f32)          \
  X(bf16_f32_untiled_c3, bf16, f32)          \
  X(bf16_bf16_untiled, bf16, bf16)           \
  X(bf16_bf16_untiled_c1, bf16, bf16)        \
  X(bf16_bf16_untiled_c2, bf16, bf16)        \
  X(bf16_bf16_untiled_c3, bf16, bf16)        \
  X(i8_i8_untiled, i8, i8)

#define SIMAAI_A65_TILE_ROWS(X)              \
  X(f32_bf16_gather, f32, bf16)              \
  X(f16_bf16_gather, f16, bf16)              \
  X(bf16_bf16_gather, bf16, bf16)            \
  X(i8_i8_gather, i8, i8)                    \
  X(bf16_f32_scatter, bf16, f32)             \
  X(bf16_bf16_scatter, bf16, bf16)           \
  X(i8_i8_scatter, i8, i8)

// Channels first: pixels are neighbours in each channel, stored channels a multiple of 16. A level may
// lack them; gather and scatter serve then.
#define SIMAAI_A65_PLANAR_PANELS(X)          \
  X(f32_bf16_planar, f32, bf16)              \
  X(f16_bf16_planar, f16, bf16)              \
  X(bf16_bf16_planar, bf16, bf16)            \
  X(i8_i8_planar, i8, i8)                    \
  X(bf16_f32_unplanar, bf16, f32)            \
  X(bf16_bf16_unplanar, bf16, bf16)          \
  X(i8_i8_unplanar, i8, i8)

// Packed pixels of every second scalar, up to 4 channels, in 16 stored ones. A level may lack them, too.
#define SIMAAI_A65_SPREAD_PANELS(X)          \
  X(f32_bf16_spread_c4, f32, bf16)           \
  X(f16_bf16_spread_c4, f16, bf16)           \
  X(bf16_bf16_spread_c4, bf16, bf16)         \
  X(i8_i8_spread_c4, i8, i8)                 \
  X(bf16_f32_unspread_c4, bf16, f32)         \
  X(bf16_bf16_unspread_c4, bf16, bf16)       \
  X(i8_i8_unspread_c4, i8, i8)

#define SIMAAI_A65_PANEL_ROWS(X) SIMAAI_A65_PANEL_WRITERS(X) SIMAAI_A65_PANEL_READERS(X)
// clang-format on
