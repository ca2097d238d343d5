// SPDX-License-Identifier: LGPL-2.1-or-later
// The refusals at the boundary: two surfaces that fail differently, and overlapping outputs.
#include <limits>

#include "support.h"

using namespace matrix_test;

namespace {

constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();

template <class M> void expect_reads_refused(const M& matrix) {
  // (0, 3) of a 2 x 3 row-major matrix has the offset of (1, 0): it must not read it.
  EXPECT_DEATH((void)matrix.get(0, 3), "get: position \\(0, 3\\) is outside a 2 x 3 matrix");
  EXPECT_DEATH((void)matrix.get(2, 0), "get: position \\(2, 0\\) is outside a 2 x 3 matrix");
  EXPECT_DEATH((void)matrix.get(kHuge, kHuge), "get: position");
  EXPECT_FALSE(matrix.path_of(0, 3));
  EXPECT_FALSE(matrix.path_of(2, 0));
  EXPECT_FALSE(matrix.path_of(kHuge, 0));
  EXPECT_FALSE(matrix.path_of(0, 11172));
  EXPECT_FALSE(matrix.at({*Coord::from_index(0), *Coord::from_index(3)}));
  EXPECT_FALSE(matrix.at({*Coord::from_index(2), *Coord::from_index(0)}));
  EXPECT_FALSE(matrix.at({*Coord::from_index(11171), *Coord::from_index(11171)}));
  EXPECT_EQ(matrix.at(*matrix.path_of(1, 2)), -6);
}

TEST(AddressingDeathTest, ReadsOutsideAreRefusedInEveryOrder) {
  constexpr Matrix<2, 3> by_rows({{1, -2, 3}, {4, 5, -6}});
  const auto by_cols = Matrix<2, 3, ColMajor>::relocated(by_rows);
  expect_reads_refused(by_rows);
  expect_reads_refused(by_cols);
  expect_reads_refused(Matrix<2, 3, Reversed>::relocated(by_rows));
  expect_reads_refused(MatrixRef<2, 3>(by_rows));
  expect_reads_refused(MatrixRef<2, 3, ColMajor>(by_cols));
  expect_reads_refused(DynMatrixRef(by_rows));
  expect_reads_refused(DynMatrix::relocated(DynMatrixRef(by_rows), DynOrder::ColMajor));
}

TEST(AddressingDeathTest, WritesOutsideAreRefusedInEveryOrder) {
  Matrix<2, 3> by_rows;
  Matrix<2, 3, ColMajor> by_cols;
  DynMatrix dyn = *DynMatrix::create(2, 3, DynOrder::RowMajor);
  EXPECT_DEATH(by_rows.set(0, 3, 1), "set: position \\(0, 3\\) is outside a 2 x 3 matrix");
  EXPECT_DEATH(by_cols.set(0, 3, 1), "set: position \\(0, 3\\) is outside a 2 x 3 matrix");
  EXPECT_DEATH(by_cols.set(2, 0, 1), "set: position \\(2, 0\\) is outside a 2 x 3 matrix");
  EXPECT_DEATH(dyn.set(0, 3, 1), "set: position \\(0, 3\\) is outside a 2 x 3 matrix");
}

TEST(Addressing, CoordinatesEndWithTheSpace) {
  static_assert(kCoordSpace == 19 * 21 * 28);
  static_assert(Coord::from_index(0)->index() == 0);
  static_assert(Coord::from_index(11171)->index() == 11171);
  static_assert(!Coord::from_index(11172));
  EXPECT_FALSE(Coord::from_index(kHuge));
  static Matrix<kCoordSpace, 2, ColMajor> tall;
  tall.set(11171, 1, 7);
  EXPECT_EQ(tall.at(*tall.path_of(11171, 1)), 7);
  EXPECT_FALSE(tall.path_of(11172, 1));
}

TEST(Addressing, EveryPositionHasAnOffsetOfItsOwn) {
  reference::Random random(51);
  for (int n = 0; n < 20; ++n) {
    const std::size_t rows = random.extent(30);
    const std::size_t cols = random.extent(30);
    for (const DynOrder order : kOrders) {
      std::vector<int> hits(rows * cols);
      for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t col = 0; col < cols; ++col)
          ++hits.at(dyn_offset(order, row, col, rows, cols));
      EXPECT_EQ(hits, std::vector<int>(rows * cols, 1));
    }
  }
}

TEST(AddressingDeathTest, OverlappingOutputsStopTheProgram) {
  static std::array<std::int32_t, 64> memory{};
  auto* base = reinterpret_cast<std::int8_t*>(memory.data());
  const std::span<std::int32_t, 4> sums(memory.data() + 4, 4); // bytes 16 to 31
  const auto matrix_at = [&](std::size_t byte) {
    return MatrixRef<4, 4>(std::span<const std::int8_t, 16>(base + byte, 16));
  };
  const std::array<std::int8_t, 4> x = {1, 2, 3, 4};
  const Matrix<4, 1> column({{1}, {2}, {3}, {4}});
  for (const std::size_t byte : {1U, 16U, 31U})
    EXPECT_DEATH(gemv(matrix_at(byte), x, sums), "gemv: the output \\(16 bytes\\) overlaps");
  EXPECT_DEATH(matmul(matrix_at(20), column, sums), "matmul: the output");
  EXPECT_DEATH(matmul(Matrix<1, 4>{}, matrix_at(20), sums), "matmul: the output");
  const std::span<const std::int8_t, 4> inside(base + 30, 4);
  EXPECT_DEATH(gemv(Matrix<4, 4>{}, inside, sums), "gemv: the output");
  const std::span<std::int8_t, 4> elements(base + 18, 4);
  EXPECT_DEATH(gemv_requantized(matrix_at(20), x, Requant(1, 1), elements), "gemv_requantized: ");
  EXPECT_DEATH(matmul_requantized(matrix_at(20), column, Requant(1, 1), elements),
               "matmul_requantized: ");
  Matrix<4, 4> square;
  EXPECT_DEATH(matmul_requantized(square, square, Requant(1, 1), square), "matmul_requantized: ");
  EXPECT_DEATH(requantize_into(sums, Requant(1, 1), elements), "requantize_into: ");
  gemv(matrix_at(0), x, sums); // ranges that only touch are apart
  gemv(matrix_at(32), x, sums);
}

TEST(AddressingDeathTest, RunTimeBuffersMustFitTheirProduct) {
  const DynMatrix a = *DynMatrix::create(2, 3, DynOrder::RowMajor);
  const std::vector<std::int8_t> x(3);
  std::vector<std::int32_t> y(2);
  gemv(a, x, y);
  std::vector<std::int32_t> wrong(4);
  EXPECT_DEATH(gemv(a, x, wrong), "gemv: 4 elements were given, 2 are expected");
  EXPECT_DEATH(gemv(a, std::span(x).first(2), y), "gemv: 2 elements were given, 3 are expected");
  EXPECT_DEATH(matmul(a, a, wrong, DynOrder::RowMajor), "matmul: 2 elements were given, 3 are");
  const DynMatrix b = *DynMatrix::create(3, 3, DynOrder::ColMajor);
  EXPECT_DEATH(matmul(a, b, wrong, DynOrder::RowMajor), "matmul: 4 elements were given, 6 are");
}

} // namespace
