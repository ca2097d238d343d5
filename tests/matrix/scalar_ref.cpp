// SPDX-License-Identifier: LGPL-2.1-or-later
// The product against a scalar reference, on every instruction set of the machine.
#include "support.h"

using namespace matrix_test;

namespace {

template <class M> void expect_gemv(const M& a, const reference::Rows& rows, std::uint32_t seed) {
  reference::Random random(seed);
  const reference::Row x = random.rows(1, M::kCols).front();
  const auto expected = reference::product(rows, reference::column(x));
  const auto operand = narrow(x);
  const Requant requant(random.word() / 64, 40);
  std::array<std::int32_t, M::kRows> sums{};
  std::array<std::int8_t, M::kRows> elements{};
  gemv(a, std::span<const std::int8_t, M::kCols>(operand), sums);
  gemv_requantized(a, std::span<const std::int8_t, M::kCols>(operand), requant, elements);
  for (std::size_t row = 0; row < M::kRows; ++row) {
    ASSERT_EQ(sums[row], expected[row][0]) << "row " << row;
    ASSERT_EQ(elements[row],
              reference::requantized(expected[row][0], requant.multiplier(), requant.shift()))
        << "row " << row;
  }
}

template <std::size_t R, std::size_t C> void expect_gemv_in_all_orders(std::uint32_t seed) {
  const reference::Rows rows = reference::Random(seed).rows(R, C);
  on_each_backend([&] {
    expect_gemv(filled<Matrix<R, C, RowMajor>>(rows), rows, seed);
    expect_gemv(filled<Matrix<R, C, ColMajor>>(rows), rows, seed);
    expect_gemv(filled<Matrix<R, C, Reversed>>(rows), rows, seed);
  });
}

TEST(ScalarRef, HandWorkedProduct) {
  // (1 -2 3; 4 5 -6) * (7, 8, 9) = (7 - 16 + 27, 28 + 40 - 54).
  static constexpr Matrix<2, 3> a({{1, -2, 3}, {4, 5, -6}});
  static constexpr std::array<std::int8_t, 3> x = {7, 8, 9};
  on_each_backend([&] {
    std::array<std::int32_t, 2> y{};
    gemv(a, x, y);
    EXPECT_EQ(y, (std::array<std::int32_t, 2>{18, 14}));
  });
  constexpr auto at_compile_time = [] {
    std::array<std::int32_t, 2> y{};
    gemv(a, x, y);
    return y;
  }();
  static_assert(at_compile_time[0] == 18 && at_compile_time[1] == 14);
}

TEST(ScalarRef, LayerSizedProduct) {
  expect_gemv_in_all_orders<64, 256>(1);
  expect_gemv_in_all_orders<100, 300>(2);
}

TEST(ScalarRef, SmallAndUnevenShapes) {
  expect_gemv_in_all_orders<1, 1>(3);
  expect_gemv_in_all_orders<1, 17>(4);
  expect_gemv_in_all_orders<17, 1>(5);
  expect_gemv_in_all_orders<3, 31>(6);
  expect_gemv_in_all_orders<33, 15>(7);
  expect_gemv_in_all_orders<65, 63>(8);
}

TEST(ScalarRef, ForeignElements) {
  static_assert(Elements<Pattern<9, 40>> && !StoredElements<Pattern<9, 40>>);
  expect_gemv(Pattern<9, 40>{}, Pattern<9, 40>::rows(), 9);
}

template <class O> void expect_largest_sum(int a_value, int x_value, std::int32_t expected) {
  static Matrix<3, kCoordSpace, O> a;
  for (std::int8_t& element : a.storage_mut())
    element = static_cast<std::int8_t>(a_value);
  std::array<std::int8_t, kCoordSpace> x{};
  x.fill(static_cast<std::int8_t>(x_value));
  on_each_backend([&] {
    std::array<std::int32_t, 3> y{};
    gemv(a, x, y);
    EXPECT_EQ(y, (std::array<std::int32_t, 3>{expected, expected, expected}));
  });
}

TEST(ScalarRef, LargestAccumulatorFits) {
  expect_largest_sum<RowMajor>(-128, -128, 183'042'048);
  expect_largest_sum<ColMajor>(-128, -128, 183'042'048);
  expect_largest_sum<RowMajor>(-128, 127, -181'612'032);
  expect_largest_sum<ColMajor>(127, -128, -181'612'032);
}

TEST(ScalarRef, RandomShapes) {
  reference::Random random(10);
  on_each_backend([&] {
    for (int n = 0; n < 60; ++n) {
      const std::size_t rows = random.extent(150);
      const std::size_t cols = random.extent(n % 4 == 0 ? 2000 : 150);
      const reference::Rows a = random.rows(rows, cols);
      const reference::Row x = random.rows(1, cols).front();
      const auto expected = reference::product(a, reference::column(x));
      const Requant requant(random.word(), random.bits() % 63);
      for (const DynOrder order : kOrders) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << cols << " order " << int(order));
        const DynMatrix matrix = dyn_filled(a, order);
        std::vector<std::int32_t> sums(rows);
        std::vector<std::int8_t> elements(rows);
        gemv(matrix, narrow(x), sums);
        gemv_requantized(matrix, narrow(x), requant, elements);
        for (std::size_t row = 0; row < rows; ++row) {
          ASSERT_EQ(sums[row], expected[row][0]);
          ASSERT_EQ(elements[row], reference::requantized(expected[row][0], requant.multiplier(),
                                                          requant.shift()));
        }
      }
    }
  });
}

} // namespace
