// SPDX-License-Identifier: LGPL-2.1-or-later
// Relocation invariance: a physical order never shows in coordinates, products or bytes.
#include "support.h"

using namespace matrix_test;

namespace {

constexpr std::size_t kRows = 13;
constexpr std::size_t kCols = 29;
constexpr std::size_t kWireBytes = encoded_bytes(kRows, kCols);

const reference::Rows& rows() {
  static const reference::Rows values = reference::Random(21).rows(kRows, kCols);
  return values;
}

template <class M> std::array<std::byte, kWireBytes> wire_of(const M& matrix) {
  std::array<std::byte, kWireBytes> stream{};
  const auto written = encode(matrix, stream);
  EXPECT_TRUE(written.ok());
  EXPECT_EQ(written.value(), kWireBytes);
  return stream;
}

const auto kRowMajorMatrix = filled<Matrix<kRows, kCols, RowMajor>>(rows());
const auto kColMajorMatrix = filled<Matrix<kRows, kCols, ColMajor>>(rows());
const auto kReversedMatrix = filled<Matrix<kRows, kCols, Reversed>>(rows());

TEST(Relocation, OrdersAnswerTheSameCoordinates) {
  EXPECT_NE(kRowMajorMatrix.storage()[1], kColMajorMatrix.storage()[1]);
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t col = 0; col < kCols; ++col) {
      const CoordPath2 path = *kRowMajorMatrix.path_of(row, col);
      EXPECT_EQ(path, *kColMajorMatrix.path_of(row, col));
      EXPECT_EQ(*kRowMajorMatrix.at(path), rows()[row][col]);
      EXPECT_EQ(*kColMajorMatrix.at(path), rows()[row][col]);
      EXPECT_EQ(*kReversedMatrix.at(path), rows()[row][col]);
    }
}

TEST(Relocation, OneCoordinateHasTwoOffsets) {
  // Worked by hand for 2 x 3: (1, 0) is the fourth byte by rows and the second by columns.
  static_assert(RowMajor::offset(1, 0, 2, 3) == 3 && ColMajor::offset(1, 0, 2, 3) == 1);
  constexpr std::array<std::int8_t, 6> by_rows = {1, -2, 3, 4, 5, -6};
  constexpr std::array<std::int8_t, 6> by_cols = {1, 4, -2, 5, 3, -6};
  constexpr Matrix<2, 3> a({{1, -2, 3}, {4, 5, -6}});
  constexpr auto b = Matrix<2, 3, ColMajor>::relocated(a);
  EXPECT_TRUE(std::ranges::equal(a.storage(), by_rows));
  EXPECT_TRUE(std::ranges::equal(b.storage(), by_cols));
  EXPECT_TRUE(same_elements(a, b));
}

TEST(Relocation, OrdersGiveAByteIdenticalProduct) {
  const auto x = narrow(reference::Random(22).rows(1, kCols).front());
  const std::span<const std::int8_t, kCols> operand(x);
  on_each_backend([&] {
    std::array<std::int32_t, kRows> by_rows{};
    std::array<std::int32_t, kRows> by_cols{};
    std::array<std::int32_t, kRows> reversed{};
    gemv(kRowMajorMatrix, operand, by_rows);
    gemv(kColMajorMatrix, operand, by_cols);
    gemv(kReversedMatrix, operand, reversed);
    EXPECT_EQ(by_rows, by_cols);
    EXPECT_EQ(by_rows, reversed);
  });
}

TEST(Relocation, OrdersGiveAByteIdenticalRequantizedProduct) {
  const auto x = narrow(reference::Random(23).rows(1, kCols).front());
  const std::span<const std::int8_t, kCols> operand(x);
  on_each_backend([&] {
    for (const Requant& scale : {Requant(38'997'123, 32), Requant(-1, 1), Requant(1, 12)}) {
      std::array<std::int8_t, kRows> by_rows{};
      std::array<std::int8_t, kRows> by_cols{};
      gemv_requantized(kRowMajorMatrix, operand, scale, by_rows);
      gemv_requantized(kColMajorMatrix, operand, scale, by_cols);
      EXPECT_EQ(by_rows, by_cols);
    }
  });
}

TEST(Relocation, StreamDoesNotDependOnTheOrder) {
  const auto stream = wire_of(kRowMajorMatrix);
  EXPECT_EQ(stream, wire_of(kColMajorMatrix));
  EXPECT_EQ(stream, wire_of(kReversedMatrix));
  EXPECT_TRUE(std::ranges::equal(stream, bytes(reference::wire(rows()))));
}

TEST(Relocation, RoundTripCarriesTheMatrixIntoAnotherOrder) {
  const auto arrived = Matrix<kRows, kCols, ColMajor>::decode(wire_of(kRowMajorMatrix));
  ASSERT_TRUE(arrived.ok());
  EXPECT_TRUE(same_elements(arrived.value(), kRowMajorMatrix));
  const auto x = narrow(reference::Random(24).rows(1, kCols).front());
  const std::span<const std::int8_t, kCols> operand(x);
  on_each_backend([&] {
    std::array<std::int32_t, kRows> sent{};
    std::array<std::int32_t, kRows> received{};
    gemv(kRowMajorMatrix, operand, sent);
    gemv(arrived.value(), operand, received);
    EXPECT_EQ(sent, received);
  });
}

TEST(Relocation, RelocatedValueWritesTheBytesItArrivedIn) {
  const auto stream = wire_of(kColMajorMatrix);
  const auto first = Matrix<kRows, kCols, Reversed>::decode(stream);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(wire_of(first.value()), stream);
  const auto second = Matrix<kRows, kCols, RowMajor>::relocated(first.value());
  EXPECT_EQ(wire_of(second), stream);
}

TEST(Relocation, EveryOrderCombinationOfRandomProducts) {
  reference::Random random(25);
  on_each_backend([&] {
    for (int n = 0; n < 24; ++n) {
      const std::size_t inner = random.extent(90);
      const reference::Rows a = random.rows(random.extent(70), inner);
      const reference::Rows b = random.rows(inner, random.extent(70));
      expect_products({a, b}, random.word() >> 8, 24 + random.bits() % 20);
    }
  });
}

TEST(Relocation, RandomMatricesKeepTheirBytesOnEveryWay) {
  reference::Random random(26);
  for (int n = 0; n < 40; ++n) {
    const reference::Rows values = random.rows(random.extent(60), random.extent(60));
    const auto expected = bytes(reference::wire(values));
    for (const DynOrder from : kOrders)
      for (const DynOrder to : kOrders) {
        const auto arrived = DynMatrix::decode(expected, from);
        ASSERT_TRUE(arrived.ok());
        const DynMatrix moved = DynMatrix::relocated(arrived.value(), to);
        std::vector<std::byte> stream(expected.size());
        ASSERT_TRUE(moved.encode(stream).ok());
        ASSERT_EQ(stream, expected);
      }
  }
}

} // namespace
