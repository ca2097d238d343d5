// SPDX-License-Identifier: LGPL-2.1-or-later
// Row kernels of linear views for Armv8 Advanced SIMD. Integer lanes only.
#include "a65/simd/lanes_neon.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace neon;

/// Groups of eight; the last group overlaps the one before. Fewer than eight are left to `scalar`.
template <class From, class To>
void convert_linear(const LinearRow& row, LinearRowFn scalar) noexcept {
  if (row.count < 8) {
    scalar(row);
    return;
  }
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  std::int64_t left = row.count;
  for (; left >= 32; left -= 32) {
    const uint16x8_t first = From::load_8(&src);
    const uint16x8_t second = From::load_8(&src);
    const uint16x8_t third = From::load_8(&src);
    const uint16x8_t fourth = From::load_8(&src);
    To::store_8(dst, first);
    To::store_8(dst + 8 * To::kBytes, second);
    To::store_8(dst + 16 * To::kBytes, third);
    To::store_8(dst + 24 * To::kBytes, fourth);
    dst += 32 * To::kBytes;
  }
  for (; left >= 8; left -= 8) {
    To::store_8(dst, From::load_8(&src));
    dst += 8 * To::kBytes;
  }
  if (left != 0) {
    src -= (8 - left) * From::kBytes;
    To::store_8(dst - (8 - left) * To::kBytes, From::load_8(&src));
  }
}

} // namespace

void f32_bf16_linear_row__neon(const LinearRow& row) noexcept {
  convert_linear<F32, BF16>(row, f32_bf16_linear_row__scalar);
}
void bf16_f32_linear_row__neon(const LinearRow& row) noexcept {
  convert_linear<BF16, F32>(row, bf16_f32_linear_row__scalar);
}

namespace {
// No stores around the caches: a Cortex-A65 detects streams of writes itself.
constexpr RowTable kRows{
    .f32_bf16_linear = f32_bf16_linear_row__neon,
    .f32_bf16_stream = f32_bf16_linear_row__neon,
    .f32_bf16_strided = f32_bf16_strided_row__neon,
    .f32_bf16_transposed = f32_bf16_transposed_row__neon,
    .f32_bf16_spread = f32_bf16_strided_row__neon,
    .bf16_f32_linear = bf16_f32_linear_row__neon,
    .bf16_f32_stream = bf16_f32_linear_row__neon,
    .bf16_f32_strided = bf16_f32_strided_row__neon,
    .bf16_f32_transposed = bf16_f32_transposed_row__neon,
    .bf16_f32_spread = bf16_f32_strided_row__neon,
};
} // namespace

const RowTable& neon_linear_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
