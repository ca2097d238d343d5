// SPDX-License-Identifier: LGPL-2.1-or-later
// Row kernels of linear views for AVX2. Integer lanes only. Built with -mavx2, so nothing here may
// be an inline function shared with other levels: tails go to the scalar kernels instead.
#include "a65/simd/lanes_avx2.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace avx2;

/// The last `row.count - done` elements.
void finish_linear(const LinearRow& row, std::int64_t done, LinearRowFn scalar) noexcept {
  if (done == row.count)
    return;
  LinearRow rest = row;
  rest.src += done * row.src_stride_bytes;
  rest.dst += done * row.dst_stride_bytes;
  rest.count -= done;
  scalar(rest);
}

} // namespace

void f32_bf16_linear_row__avx2(const LinearRow& row) noexcept {
  std::int64_t i = 0;
  for (; i + 16 <= row.count; i += 16)
    store_256(row.dst + 2 * i, load_16_f32(row.src + 4 * i));
  finish_linear(row, i, f32_bf16_linear_row__scalar);
}

void bf16_f32_linear_row__avx2(const LinearRow& row) noexcept {
  std::int64_t i = 0;
  for (; i + 16 <= row.count; i += 16)
    store_16_f32(row.dst + 4 * i, load_256(row.src + 2 * i));
  finish_linear(row, i, bf16_f32_linear_row__scalar);
}

namespace {
constexpr RowTable kRows{
    .f32_bf16_linear = f32_bf16_linear_row__avx2,
    .bf16_f32_linear = bf16_f32_linear_row__avx2,
};
} // namespace

const RowTable& avx2_linear_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
