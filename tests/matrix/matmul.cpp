// SPDX-License-Identifier: LGPL-2.1-or-later
// The contraction against the reference, across the orders of both operands and the destination.
#include "support.h"

using namespace matrix_test;

namespace {

constexpr Requant kScale(38'997'123, 27);

template <class OA, class OB, class OC, std::size_t M, std::size_t K, std::size_t N>
void expect_contraction(std::uint32_t seed) {
  reference::Random random(seed);
  const reference::Rows a_rows = random.rows(M, K);
  const reference::Rows b_rows = random.rows(K, N);
  const auto expected = reference::product(a_rows, b_rows);
  const auto a = filled<Matrix<M, K, OA>>(a_rows);
  const auto b = filled<Matrix<K, N, OB>>(b_rows);
  std::array<std::int32_t, M * N> sums{};
  Matrix<M, N, OC> elements;
  matmul<OC>(a, b, sums);
  matmul_requantized(a, b, kScale, elements);
  for (std::size_t row = 0; row < M; ++row)
    for (std::size_t col = 0; col < N; ++col) {
      ASSERT_EQ(sums[OC::offset(row, col, M, N)], expected[row][col]) << row << ", " << col;
      ASSERT_EQ(elements.get(row, col),
                reference::requantized(expected[row][col], kScale.multiplier(), kScale.shift()));
    }
}

template <class OA, class OB, std::size_t M, std::size_t K, std::size_t N>
void expect_in_destination_orders(std::uint32_t seed) {
  expect_contraction<OA, OB, RowMajor, M, K, N>(seed);
  expect_contraction<OA, OB, ColMajor, M, K, N>(seed);
  expect_contraction<OA, OB, Reversed, M, K, N>(seed);
}

template <std::size_t M, std::size_t K, std::size_t N>
void expect_in_all_orders(std::uint32_t seed) {
  on_each_backend([&] {
    expect_in_destination_orders<RowMajor, RowMajor, M, K, N>(seed);
    expect_in_destination_orders<RowMajor, ColMajor, M, K, N>(seed);
    expect_in_destination_orders<ColMajor, RowMajor, M, K, N>(seed);
    expect_in_destination_orders<ColMajor, ColMajor, M, K, N>(seed);
    expect_in_destination_orders<Reversed, ColMajor, M, K, N>(seed);
    expect_in_destination_orders<RowMajor, Reversed, M, K, N>(seed);
  });
}

TEST(Matmul, HandWorkedContraction) {
  // (1 2; 3 4) * (5 -6; 7 8) = (19 10; 43 14).
  constexpr Matrix<2, 2> a({{1, 2}, {3, 4}});
  constexpr Matrix<2, 2, ColMajor> b({{5, -6}, {7, 8}});
  on_each_backend([&] {
    std::array<std::int32_t, 4> row_major{};
    std::array<std::int32_t, 4> col_major{};
    matmul(a, b, row_major);
    matmul<ColMajor>(a, b, col_major);
    EXPECT_EQ(row_major, (std::array<std::int32_t, 4>{19, 10, 43, 14}));
    EXPECT_EQ(col_major, (std::array<std::int32_t, 4>{19, 43, 10, 14}));
  });
}

TEST(Matmul, OrdersOfOperandsAndDestination) {
  expect_in_all_orders<5, 7, 9>(11);
  expect_in_all_orders<16, 32, 16>(12);
}

TEST(Matmul, LayerSizedContraction) { expect_in_all_orders<64, 64, 64>(13); }

TEST(Matmul, IdentityKeepsTheMatrix) {
  const reference::Rows rows = reference::Random(14).rows(24, 24);
  const auto a = filled<Matrix<24, 24>>(rows);
  Matrix<24, 24, ColMajor> identity;
  for (std::size_t n = 0; n < 24; ++n)
    identity.set(n, n, 1);
  on_each_backend([&] {
    Matrix<24, 24, ColMajor> left;
    Matrix<24, 24> right;
    matmul_requantized(identity, a, Requant::fixed<1, 0>(), left);
    matmul_requantized(a, identity, Requant::fixed<1, 0>(), right);
    EXPECT_TRUE(same_elements(left, a));
    EXPECT_TRUE(same_elements(right, a));
  });
}

TEST(Matmul, ForeignElements) {
  const Pattern<6, 50> a;
  const reference::Rows b_rows = reference::Random(15).rows(50, 11);
  const auto b = filled<Matrix<50, 11, ColMajor>>(b_rows);
  const auto expected = reference::product(Pattern<6, 50>::rows(), b_rows);
  std::array<std::int32_t, 66> sums{};
  matmul(a, b, sums);
  for (std::size_t n = 0; n < sums.size(); ++n)
    EXPECT_EQ(sums[n], expected[n / 11][n % 11]);
}

TEST(Matmul, LargestAccumulatorFits) {
  for (const auto& [left, right, sum] :
       {std::array{-128, -128, 183'042'048}, std::array{-128, 127, -181'612'032},
        std::array{127, -128, -181'612'032}}) {
    for (const std::size_t rows : {7U, 18U}) { // tiles need sixteen
      const Case extreme{reference::Rows(rows, reference::Row(kCoordSpace, left)),
                         reference::Rows(kCoordSpace, reference::Row(19, right))};
      ASSERT_EQ(reference::product(extreme.a, extreme.b)[6][18], sum);
      on_each_backend([&] { expect_products(extreme, 1'000'003, 30); });
    }
  }
}

TEST(Matmul, DepthsThatAreCutInBlocks) {
  reference::Random random(17);
  const Case turned{random.rows(33, 2100), random.rows(2100, 70)};
  const Case deep{random.rows(18, 6000), random.rows(6000, 33)};
  on_each_backend([&] {
    expect_products(turned, 38'997'123, 36);
    expect_products(deep, 38'997'123, 37);
  });
}

TEST(Matmul, RandomShapes) {
  reference::Random random(16);
  on_each_backend([&] {
    for (int n = 0; n < 40; ++n) {
      const std::size_t inner = random.extent(n % 4 == 0 ? 700 : 70);
      const Case shape{random.rows(random.extent(n % 5 == 0 ? 210 : 40), inner),
                       random.rows(inner, random.extent(n % 3 == 0 ? 150 : 40))};
      expect_products(shape, random.word(), random.bits() % 63);
    }
  });
}

} // namespace
