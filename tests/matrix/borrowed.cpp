// SPDX-License-Identifier: LGPL-2.1-or-later
// The borrowed form against the owned one.
#include <type_traits>

#include "support.h"

using namespace matrix_test;

namespace {

// Weights as a linker would place them: constants with static storage.
constexpr std::array<std::int8_t, 6> kByRows = {1, -2, 3, 4, 5, -6};
constexpr std::array<std::int8_t, 6> kByCols = {1, 4, -2, 5, 3, -6};
constexpr Matrix<2, 3> kOwned({{1, -2, 3}, {4, 5, -6}});
constexpr MatrixRef<2, 3> kRowRef(kByRows);
constexpr MatrixRef<2, 3, ColMajor> kColRef(kByCols);

TEST(Borrowed, AnswersLikeTheOwnedForm) {
  static_assert(kRowRef.get(1, 2) == -6 && kColRef.get(0, 1) == -2);
  EXPECT_TRUE(same_elements(kRowRef, kOwned));
  EXPECT_TRUE(same_elements(kColRef, kOwned));
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t col = 0; col < 3; ++col) {
      EXPECT_EQ(kRowRef.path_of(row, col), kOwned.path_of(row, col));
      EXPECT_EQ(kColRef.at(*kColRef.path_of(row, col)), kOwned.get(row, col));
    }
}

TEST(Borrowed, ReadsTheBytesWhereTheyAre) {
  static std::array<std::int8_t, 6> live = kByRows;
  const MatrixRef<2, 3> view(live);
  EXPECT_EQ(view.storage().data(), live.data());
  live[4] = 99;
  EXPECT_EQ(view.get(1, 1), 99);
  const Matrix<2, 3> owner = kOwned;
  const MatrixRef<2, 3> of_owner = owner;
  EXPECT_EQ(of_owner.storage().data(), owner.storage().data());
  const DynMatrixRef dyn(owner);
  EXPECT_EQ(dyn.storage().data(), owner.storage().data());
}

TEST(Borrowed, ProductsEqualTheOwnedOnes) {
  constexpr std::array<std::int8_t, 3> x = {-128, 127, 5};
  constexpr Matrix<3, 2, ColMajor> b({{1, 2}, {-3, 4}, {5, -6}});
  on_each_backend([&] {
    std::array<std::int32_t, 2> owned{};
    std::array<std::int32_t, 2> by_rows{};
    std::array<std::int32_t, 2> by_cols{};
    gemv(kOwned, x, owned);
    gemv(kRowRef, x, by_rows);
    gemv(kColRef, x, by_cols);
    EXPECT_EQ(owned, (std::array<std::int32_t, 2>{-128 - 254 + 15, -512 + 635 - 30}));
    EXPECT_EQ(by_rows, owned);
    EXPECT_EQ(by_cols, owned);
    std::array<std::int32_t, 4> owned_product{};
    std::array<std::int32_t, 4> borrowed_product{};
    matmul(kOwned, b, owned_product);
    matmul(kColRef, MatrixRef<3, 2, ColMajor>(b), borrowed_product);
    EXPECT_EQ(owned_product, borrowed_product);
  });
}

TEST(Borrowed, WritesTheSameStream) {
  std::array<std::byte, 39> owned{};
  std::array<std::byte, 39> borrowed{};
  ASSERT_TRUE(kOwned.encode(owned).ok());
  ASSERT_TRUE(kColRef.encode(borrowed).ok());
  EXPECT_EQ(owned, borrowed);
  EXPECT_TRUE(std::ranges::equal(borrowed, bytes(reference::wire({{1, -2, 3}, {4, 5, -6}}))));
}

TEST(Borrowed, RefusesTemporariesAtCompileTime) {
  using Ref = MatrixRef<2, 3>;
  static_assert(!std::is_constructible_v<Ref, Matrix<2, 3>>);
  static_assert(!std::is_constructible_v<Ref, const Matrix<2, 3>>);
  static_assert(!std::is_constructible_v<Ref, std::array<std::int8_t, 6>>);
  static_assert(!std::is_constructible_v<Ref, std::int8_t(&&)[6]>);
  static_assert(!std::is_constructible_v<DynMatrixRef, Matrix<2, 3>>);
  static_assert(!std::is_constructible_v<DynMatrixRef, DynMatrix>);
  static_assert(std::is_constructible_v<Ref, const Matrix<2, 3>&>);
  static_assert(std::is_constructible_v<Ref, const std::array<std::int8_t, 6>&>);
  static_assert(std::is_constructible_v<Ref, const std::int8_t(&)[6]>);
  static_assert(std::is_constructible_v<DynMatrixRef, const DynMatrix&>);
  // Another length, another order or a writable alias of another type is no matrix either.
  static_assert(!std::is_constructible_v<Ref, const std::array<std::int8_t, 5>&>);
  static_assert(!std::is_constructible_v<Ref, const Matrix<2, 3, ColMajor>&>);
  static_assert(!std::is_constructible_v<Ref, const Matrix<3, 2>&>);
}

TEST(Borrowed, HoldsNothingButItsPointer) {
  static_assert(sizeof(MatrixRef<2, 3>) == sizeof(void*));
  static_assert(std::is_trivially_copyable_v<MatrixRef<64, 256>>);
  static_assert(std::is_trivially_copyable_v<Matrix<64, 256>>);
  static_assert(sizeof(Matrix<64, 256>) == 64 * 256 && alignof(Matrix<64, 256>) == 1);
  static_assert(sizeof(Matrix<1, 1>) == 1 && sizeof(Matrix<11172, 3, ColMajor>) == 11172 * 3);
  static_assert(std::is_trivially_copyable_v<DynMatrixRef>);
}

TEST(Borrowed, RunTimeViewRefusesWhatIsNoMatrix) {
  EXPECT_TRUE(DynMatrixRef::create(kByRows, 2, 3, DynOrder::RowMajor));
  EXPECT_FALSE(DynMatrixRef::create(kByRows, 2, 2, DynOrder::RowMajor));
  EXPECT_FALSE(DynMatrixRef::create(kByRows, 0, 3, DynOrder::RowMajor));
  EXPECT_FALSE(DynMatrixRef::create({}, 0, 0, DynOrder::RowMajor));
  const std::vector<std::int8_t> long_row(11173);
  EXPECT_FALSE(DynMatrixRef::create(long_row, 1, 11173, DynOrder::RowMajor));
  EXPECT_FALSE(DynMatrixRef::create(long_row, 11173, 1, DynOrder::ColMajor));
  EXPECT_TRUE(DynMatrixRef::create(std::span(long_row).first(11172), 1, 11172, DynOrder::ColMajor));
  EXPECT_FALSE(DynMatrix::create(0, 1, DynOrder::RowMajor));
  EXPECT_FALSE(DynMatrix::create(1, 11173, DynOrder::RowMajor));
}

} // namespace
