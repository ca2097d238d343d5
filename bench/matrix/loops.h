// SPDX-License-Identifier: LGPL-2.1-or-later
// Loops that an engine without this library would write: elements by flat offset, records byte by
// byte. Compiled twice: for the baseline of the architecture and for this machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace matrix_bench {

/// One set of the loops.
struct Loops {
  void (*gemv)(const std::int8_t* a, const std::int8_t* x, std::int32_t* y, std::size_t rows,
               std::size_t cols);
  void (*matmul)(const std::int8_t* a, const std::int8_t* b, std::int32_t* c, std::size_t rows,
                 std::size_t inner, std::size_t cols);
  void (*requantize)(const std::int32_t* src, std::int8_t* dst, std::size_t count,
                     std::int32_t multiplier, unsigned shift);
  /// Offset of element (row, col): row * row_step + col * col_step.
  void (*encode)(const std::int8_t* a, std::uint8_t* dst, std::size_t rows, std::size_t cols,
                 std::size_t row_step, std::size_t col_step);
  /// False where a record does not name its own position.
  bool (*decode)(const std::uint8_t* src, std::int8_t* a, std::size_t rows, std::size_t cols,
                 std::size_t row_step, std::size_t col_step);
};

extern const Loops flat_loops;  ///< -O3
extern const Loops plain_loops; ///< -O3 -march=native

} // namespace matrix_bench
