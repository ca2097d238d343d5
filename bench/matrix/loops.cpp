// SPDX-License-Identifier: LGPL-2.1-or-later
// The loops. SIMAAI_BENCH_LOOPS names the set that this compilation defines.
#include "loops.h"

#include <algorithm>

namespace matrix_bench {
namespace {

void gemv(const std::int8_t* a, const std::int8_t* x, std::int32_t* y, std::size_t rows,
          std::size_t cols) {
  for (std::size_t row = 0; row < rows; ++row) {
    std::int32_t sum = 0;
    for (std::size_t col = 0; col < cols; ++col)
      sum += std::int32_t{a[row * cols + col]} * x[col];
    y[row] = sum;
  }
}

void matmul(const std::int8_t* a, const std::int8_t* b, std::int32_t* c, std::size_t rows,
            std::size_t inner, std::size_t cols) {
  std::fill_n(c, rows * cols, 0);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t col = 0; col < cols; ++col)
        c[row * cols + col] += std::int32_t{a[row * inner + k]} * b[k * cols + col];
}

void requantize(const std::int32_t* src, std::int8_t* dst, std::size_t count,
                std::int32_t multiplier, unsigned shift) {
  const std::int64_t half = shift == 0 ? 0 : std::int64_t{1} << (shift - 1);
  for (std::size_t n = 0; n < count; ++n)
    dst[n] = static_cast<std::int8_t>(
        std::clamp<std::int64_t>((std::int64_t{src[n]} * multiplier + half) >> shift, -128, 127));
}

void encode(const std::int8_t* a, std::uint8_t* dst, std::size_t rows, std::size_t cols,
            std::size_t row_step, std::size_t col_step) {
  const std::uint8_t header[9] = {'T',
                                  'G',
                                  'M',
                                  'X',
                                  1,
                                  static_cast<std::uint8_t>(rows & 0xFF),
                                  static_cast<std::uint8_t>(rows >> 8),
                                  static_cast<std::uint8_t>(cols & 0xFF),
                                  static_cast<std::uint8_t>(cols >> 8)};
  dst = std::copy_n(header, sizeof header, dst);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t col = 0; col < cols; ++col, dst += 5) {
      dst[0] = static_cast<std::uint8_t>(row & 0xFF);
      dst[1] = static_cast<std::uint8_t>(row >> 8);
      dst[2] = static_cast<std::uint8_t>(col & 0xFF);
      dst[3] = static_cast<std::uint8_t>(col >> 8);
      dst[4] = static_cast<std::uint8_t>(a[row * row_step + col * col_step]);
    }
}

bool decode(const std::uint8_t* src, std::int8_t* a, std::size_t rows, std::size_t cols,
            std::size_t row_step, std::size_t col_step) {
  const auto found = [](const std::uint8_t* at) {
    return static_cast<std::size_t>(at[0] | at[1] << 8);
  };
  const std::uint8_t* record = src + 9;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t col = 0; col < cols; ++col, record += 5)
      if (found(record) != row || found(record + 2) != col)
        return false;
  record = src + 9;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t col = 0; col < cols; ++col, record += 5)
      a[row * row_step + col * col_step] = static_cast<std::int8_t>(record[4]);
  return true;
}

} // namespace

const Loops SIMAAI_BENCH_LOOPS = {gemv, matmul, requantize, encode, decode};

} // namespace matrix_bench
