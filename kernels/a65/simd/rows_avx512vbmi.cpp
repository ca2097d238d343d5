// SPDX-License-Identifier: LGPL-2.1-or-later
// Row kernels for AVX-512 with VBMI.
#include "a65/simd/bytes_avx512vbmi.h"
#include "a65/simd/linear_avx512vbmi.h"
#include "a65/simd/planar_few_avx512vbmi.h"
#include "a65/simd/read_pixels_avx512vbmi.h"
#include "a65/simd/spread_avx512vbmi.h"
#include "a65/simd/write_pixels_avx512vbmi.h"

namespace simaai::kernels::a65::detail {
namespace {

using Writers = Avx512VbmiWriters;
using Readers = Avx512VbmiReaders;
using Spread = Avx512VbmiSpread;
using Linear = Avx512VbmiLinear;
using Planar = Avx512VbmiFewPlanes;

#define SIMAAI_A65_WRITE(name, type) .name = Writers::write<Writers::type, &RowTable::name>
#define SIMAAI_A65_READ(name, type) .name = Readers::read<Readers::type, &RowTable::name>
// clang-format off
constexpr RowTable kRows{
    .f32_bf16_linear = Linear::row<Linear::Narrowing, false, &RowTable::f32_bf16_linear>,
    .f32_bf16_stream = Linear::row<Linear::Narrowing, true, &RowTable::f32_bf16_stream>,
    .bf16_f32_linear = Linear::row<Linear::Widening, false, &RowTable::bf16_f32_linear>,
    .bf16_f32_stream = Linear::row<Linear::Widening, true, &RowTable::bf16_f32_stream>,
    SIMAAI_A65_WRITE(f32_bf16_tiled, F32),
    SIMAAI_A65_WRITE(f32_bf16_tiled_c1, F32),
    SIMAAI_A65_WRITE(f32_bf16_tiled_c2, F32),
    SIMAAI_A65_WRITE(f32_bf16_tiled_c3, F32),
    SIMAAI_A65_WRITE(f32_bf16_channels, F32),
    SIMAAI_A65_WRITE(f32_bf16_pad16_c1, F32),
    SIMAAI_A65_WRITE(f32_bf16_pad16_c3, F32),
    SIMAAI_A65_WRITE(f16_bf16_tiled, F16),
    SIMAAI_A65_WRITE(f16_bf16_tiled_c1, F16),
    SIMAAI_A65_WRITE(f16_bf16_tiled_c2, F16),
    SIMAAI_A65_WRITE(f16_bf16_tiled_c3, F16),
    SIMAAI_A65_WRITE(f16_bf16_channels, F16),
    SIMAAI_A65_WRITE(bf16_bf16_tiled, BF16),
    SIMAAI_A65_WRITE(bf16_bf16_tiled_c1, BF16),
    SIMAAI_A65_WRITE(bf16_bf16_tiled_c2, BF16),
    SIMAAI_A65_WRITE(bf16_bf16_tiled_c3, BF16),
    SIMAAI_A65_WRITE(bf16_bf16_channels, BF16),
    SIMAAI_A65_WRITE(bf16_bf16_pad16_c1, BF16),
    SIMAAI_A65_WRITE(bf16_bf16_pad16_c3, BF16),
    .i8_i8_tiled = Avx512VbmiBytes::write,
    .i8_i8_channels = Avx512VbmiBytes::write,
    SIMAAI_A65_READ(bf16_f32_untiled, F32),
    SIMAAI_A65_READ(bf16_f32_untiled_c1, F32),
    SIMAAI_A65_READ(bf16_f32_untiled_c2, F32),
    SIMAAI_A65_READ(bf16_f32_untiled_c3, F32),
    SIMAAI_A65_READ(bf16_bf16_untiled, BF16),
    SIMAAI_A65_READ(bf16_bf16_untiled_c1, BF16),
    SIMAAI_A65_READ(bf16_bf16_untiled_c2, BF16),
    SIMAAI_A65_READ(bf16_bf16_untiled_c3, BF16),
    .i8_i8_untiled = Avx512VbmiBytes::read,
    .f32_bf16_gather = Spread::write<4, Spread::write_row<Spread::F32>, &RowTable::f32_bf16_gather>,
    .f16_bf16_gather = Spread::write<2, Spread::write_row<Spread::F16>, &RowTable::f16_bf16_gather>,
    .bf16_bf16_gather = Spread::write<2, Spread::write_row<Spread::BF16>, &RowTable::bf16_bf16_gather>,
    .i8_i8_gather = Spread::write<1, Spread::write_bytes_row, &RowTable::i8_i8_gather>,
    .bf16_f32_scatter = Spread::read<4, Spread::read_row<Spread::F32>, &RowTable::bf16_f32_scatter>,
    .bf16_bf16_scatter = Spread::read<2, Spread::read_row<Spread::BF16>, &RowTable::bf16_bf16_scatter>,
    .i8_i8_scatter = Spread::read<1, Spread::read_bytes_row, &RowTable::i8_i8_scatter>,
    .f32_bf16_planar = Planar::write<Planar::F32>,
    .f16_bf16_planar = Planar::write<Planar::F16>,
    .bf16_bf16_planar = Planar::write<Planar::BF16>,
    .i8_i8_planar = Planar::write<Planar::I8>,
    .bf16_f32_unplanar = Planar::read<Planar::F32>,
    .bf16_bf16_unplanar = Planar::read<Planar::BF16>,
    .i8_i8_unplanar = Planar::read<Planar::I8>,
    .f32_bf16_spread_c4 = Writers::write_spread<Writers::SpreadF32>,
    .f16_bf16_spread_c4 = Writers::write_spread<Writers::SpreadF16>,
    .bf16_bf16_spread_c4 = Writers::write_spread<Writers::SpreadBF16>,
    .i8_i8_spread_c4 = Avx512VbmiBytes::write_spread,
    .bf16_f32_unspread_c4 = Readers::read_spread<Readers::SpreadF32>,
    .bf16_bf16_unspread_c4 = Readers::read_spread<Readers::SpreadBF16>,
    .i8_i8_unspread_c4 = Avx512VbmiBytes::read_spread,
    .takes_boxes = true,
};
// clang-format on
#undef SIMAAI_A65_WRITE
#undef SIMAAI_A65_READ

} // namespace

const RowTable& avx512vbmi_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
