// SPDX-License-Identifier: LGPL-2.1-or-later
// Programs that the compiler must refuse. negative.py compiles one CASE at a time and looks for the
// message behind its number; the text after #else is the nearest program that must compile.
#include <simaai/kernels/matrix/dyn_matrix.h>
#include <simaai/kernels/matrix/matrix.h>

using namespace simaai::kernels::matrix;

namespace {

template <std::size_t R, std::size_t C> struct Foreign {
  static constexpr std::size_t kRows = R;
  static constexpr std::size_t kCols = C;
  std::int8_t element(std::size_t, std::size_t) const { return 1; }
};

struct NoOrder {};

constexpr Matrix<2, 3> kMatrix({{1, -2, 3}, {4, 5, -6}});
std::array<std::int8_t, 3> x;
std::array<std::int8_t, 2> two_elements;
std::array<std::int32_t, 2> y;
std::array<std::int32_t, 4> four;
std::span<const std::int8_t> unknown_length(x);
std::span<std::byte> stream;

// case 1: a matrix has at least one row
#if CASE == 1
Matrix<0, 3> case_1;
#else
Matrix<1, 3> case_1;
#endif

// case 2: a matrix has at least one column
#if CASE == 2
Matrix<3, 0> case_2;
#else
Matrix<3, 1> case_2;
#endif

// case 3: at most 11172 rows can be addressed
#if CASE == 3
Matrix<11173, 1> case_3;
#else
Matrix<11172, 1> case_3;
#endif

// case 4: at most 11172 columns can be addressed
#if CASE == 4
Matrix<1, 11173, ColMajor> case_4;
#else
Matrix<1, 11172, ColMajor> case_4;
#endif

// case 5: at most 11172 rows can be addressed
#if CASE == 5
using Case5 = MatrixRef<11173, 1>;
#else
using Case5 = MatrixRef<11172, 1>;
#endif
constexpr std::size_t case_5 = sizeof(Case5);

// case 6: at most 11172 columns can be addressed
void case_6(std::span<std::int32_t, 1> sums) {
#if CASE == 6
  constexpr std::size_t kCols = 11173;
#else
  constexpr std::size_t kCols = 11172;
#endif
  static const std::array<std::int8_t, kCols> operand{};
  gemv(Foreign<1, kCols>{}, operand, sums);
}

// case 7: a matrix has at least one column
std::size_t case_7() {
#if CASE == 7
  return encode(Foreign<1, 0>{}, stream).value();
#else
  return encode(Foreign<1, 1>{}, stream).value();
#endif
}

// case 8: use of deleted function
#if CASE == 8
const MatrixRef<2, 3> case_8(Matrix<2, 3>{});
const std::int8_t case_8_read = case_8.get(0, 0);
#else
const MatrixRef<2, 3> case_8(kMatrix);
#endif

// case 9: use of deleted function
#if CASE == 9
const auto case_9 = MatrixRef<1, 3>(std::array<std::int8_t, 3>{1, 2, 3});
#else
const auto case_9 = MatrixRef<1, 3>(x);
#endif

// case 10: use of deleted function
#if CASE == 10
const auto case_10 = DynMatrixRef(Matrix<2, 3>{});
#else
const auto case_10 = DynMatrixRef(kMatrix);
#endif

// case 11: use of deleted function
#if CASE == 11
const auto case_11 = Matrix<2, 3>{}.storage();
#else
const auto case_11 = kMatrix.storage();
#endif

// case 12: call to non-'constexpr' function
#if CASE == 12
constexpr Requant case_12(1, 63);
#else
constexpr Requant case_12(1, 62);
#endif

// case 13: a rescale shift is at most 62
#if CASE == 13
const Requant case_13 = Requant::fixed<1, 63>();
#else
const Requant case_13 = Requant::fixed<1, 62>();
#endif

// case 14: call to non-'constexpr' function
#if CASE == 14
constexpr std::int8_t case_14 = kMatrix.get(0, 3);
#else
constexpr std::int8_t case_14 = kMatrix.get(0, 2);
#endif

// case 15: no matching function for call to 'gemv
void case_15() {
#if CASE == 15
  gemv(kMatrix, x, four);
#else
  gemv(kMatrix, x, y);
#endif
}

// case 16: no matching function for call to 'gemv
void case_16() {
#if CASE == 16
  gemv(kMatrix, unknown_length, y);
#else
  gemv(kMatrix, unknown_length.first<3>(), y);
#endif
}

// case 17: inner dimensions of a contraction differ
void case_17() {
#if CASE == 17
  matmul(kMatrix, Matrix<2, 2>{}, four);
#else
  matmul(kMatrix, Matrix<3, 2>{}, four);
#endif
}

// case 18: no matching function for call to 'matmul
void case_18() {
#if CASE == 18
  matmul(kMatrix, Matrix<3, 3>{}, four);
#else
  matmul(kMatrix, Matrix<3, 2>{}, four);
#endif
}

// case 19: rescale runs differ in length
void case_19() {
#if CASE == 19
  requantize_into(four, case_12, two_elements);
#else
  requantize_into(y, case_12, two_elements);
#endif
}

// case 20: shapes differ
bool case_20() {
#if CASE == 20
  return same_elements(kMatrix, Matrix<3, 2>{});
#else
  return same_elements(kMatrix, Matrix<2, 3, ColMajor>{});
#endif
}

// case 21: constraint failure
#if CASE == 21
Matrix<2, 3, NoOrder> case_21;
#else
Matrix<2, 3, RowMajor> case_21;
#endif

// case 22: is private within this context
#if CASE == 22
const Coord case_22(std::uint16_t{3});
#else
const Coord case_22 = *Coord::from_index(3);
#endif

// case 23: no matching function for call to 'decode_into
void case_23() {
#if CASE == 23
  (void)decode_into(stream, kMatrix);
#else
  (void)decode_into(stream, case_21);
#endif
}

} // namespace
