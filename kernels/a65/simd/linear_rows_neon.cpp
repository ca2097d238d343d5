// SPDX-License-Identifier: LGPL-2.1-or-later
// Row kernels of linear views for Armv8 Advanced SIMD. Integer lanes only.
#include "a65/simd/lanes_neon.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace neon;

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

template <class From, class To>
void convert_linear(const LinearRow& row, LinearRowFn scalar) noexcept {
  std::int64_t i = 0;
  for (; i + 8 <= row.count; i += 8)
    To::store_8(row.dst + To::kBytes * i, From::load_8(row.src + From::kBytes * i));
  finish_linear(row, i, scalar);
}

} // namespace

void f32_bf16_linear_row__neon(const LinearRow& row) noexcept {
  convert_linear<F32, BF16>(row, f32_bf16_linear_row__scalar);
}
void bf16_f32_linear_row__neon(const LinearRow& row) noexcept {
  convert_linear<BF16, F32>(row, bf16_f32_linear_row__scalar);
}

namespace {
constexpr RowTable kRows{
    .f32_bf16_linear = f32_bf16_linear_row__neon,
    .bf16_f32_linear = bf16_f32_linear_row__neon,
};
} // namespace

const RowTable& neon_linear_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
