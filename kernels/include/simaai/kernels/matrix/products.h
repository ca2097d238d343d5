// SPDX-License-Identifier: LGPL-2.1-or-later
// The integer product and the contraction, int8 by int8 into int32, plain or rescaled.
//
// Operands are read through coordinates, so any Elements serve and no order changes a byte of the
// result. Where an operand states plain memory in a known order, faster code is selected; the
// choice never shows. Outputs are the caller's memory of fixed extent; nothing is allocated. An
// output that shares bytes with an operand stops the program (violation.h). All calls are
// reentrant and may be constant expressions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include <simaai/kernels/matrix/backend.h>
#include <simaai/kernels/matrix/elements.h>
#include <simaai/kernels/matrix/matrix_types.h>
#include <simaai/kernels/matrix/plain_loops.h>
#include <simaai/kernels/matrix/requant.h>

namespace simaai::kernels::matrix {

// The largest term is (-128) * (-128) and the longest sum has kCoordSpace of them.
static_assert(std::int64_t{128} * 128 * std::int64_t{kCoordSpace} == 183'042'048);
static_assert(std::int64_t{128} * 128 * std::int64_t{kCoordSpace} <=
                  std::numeric_limits<std::int32_t>::max(),
              "simaai matrix: an int32 accumulator holds every product");

namespace detail {

template <KnownOrder O>
constexpr PlainOutput plain_output(std::int32_t* sums, std::int8_t* elements,
                                   const Requant* requant, std::size_t rows,
                                   std::size_t cols) noexcept {
  constexpr bool kRowMajor = std::same_as<O, RowMajor>;
  return {sums, elements, requant, kRowMajor ? cols : 1, kRowMajor ? std::size_t{1} : rows};
}

inline void run_gemv(const PlainView& a, const std::int8_t* x, const PlainOutput& y) noexcept {
#if SIMAAI_MATRIX_USE_LIBRARY
  library::gemv(a, x, y);
#else
  plain_gemv(a, x, y);
#endif
}

inline void run_matmul(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept {
#if SIMAAI_MATRIX_USE_LIBRARY
  library::matmul(a, b, c);
#else
  plain_matmul(a, b, c);
#endif
}

template <Elements A, class X>
constexpr std::int32_t row_sum(const A& a, std::size_t row, const X& x) noexcept {
  std::int32_t sum = 0;
  for (std::size_t col = 0; col < A::kCols; ++col)
    sum += std::int32_t{a.element(row, col)} * x[col];
  return sum;
}

template <Elements A, Elements B>
constexpr std::int32_t contract(const A& a, const B& b, std::size_t row, std::size_t col) noexcept {
  std::int32_t sum = 0;
  for (std::size_t k = 0; k < A::kCols; ++k)
    sum += std::int32_t{a.element(row, k)} * b.element(k, col);
  return sum;
}

template <Elements A, Elements B> struct CheckedProduct {
  static_assert(CheckedDimensions<A::kRows, A::kCols>::kCount >= 1);
  static_assert(CheckedDimensions<B::kRows, B::kCols>::kCount >= 1);
  static_assert(A::kCols == B::kRows, "simaai matrix: inner dimensions of a contraction differ");
  static constexpr std::size_t kCount = A::kRows * B::kCols;
};

} // namespace detail

/// y[i] = sum over j of a(i, j) * x[j].
template <Elements A>
constexpr void gemv(const A& a, std::span<const std::int8_t, A::kCols> x,
                    std::span<std::int32_t, A::kRows> y) noexcept {
  static_assert(detail::CheckedDimensions<A::kRows, A::kCols>::kCount >= 1);
  if (!std::is_constant_evaluated()) {
    detail::refuse_overlap("gemv", y.data(), y.size_bytes(), a);
    detail::refuse_overlap("gemv", y.data(), y.size_bytes(), x.data(), x.size());
    if constexpr (PlainElements<A>)
      return detail::run_gemv(detail::plain_view(a), x.data(),
                              {y.data(), nullptr, nullptr, 1, A::kRows});
  }
  for (std::size_t row = 0; row < A::kRows; ++row)
    y[row] = detail::row_sum(a, row, x);
}

/// y[i] = requant of the sum over j of a(i, j) * x[j], taken as each sum completes.
template <Elements A>
constexpr void gemv_requantized(const A& a, std::span<const std::int8_t, A::kCols> x,
                                const Requant& requant,
                                std::span<std::int8_t, A::kRows> y) noexcept {
  static_assert(detail::CheckedDimensions<A::kRows, A::kCols>::kCount >= 1);
  if (!std::is_constant_evaluated()) {
    detail::refuse_overlap("gemv_requantized", y.data(), y.size_bytes(), a);
    detail::refuse_overlap("gemv_requantized", y.data(), y.size_bytes(), x.data(), x.size());
    if constexpr (PlainElements<A>)
      return detail::run_gemv(detail::plain_view(a), x.data(),
                              {nullptr, y.data(), &requant, 1, A::kRows});
  }
  for (std::size_t row = 0; row < A::kRows; ++row)
    y[row] = requant.requantize(detail::row_sum(a, row, x));
}

/// c(i, j) = sum over k of a(i, k) * b(k, j). `O` is the physical order of `c`.
template <Order O = RowMajor, Elements A, Elements B>
constexpr void matmul(const A& a, const B& b,
                      std::span<std::int32_t, A::kRows * B::kCols> c) noexcept {
  static_assert(detail::CheckedProduct<A, B>::kCount >= 1);
  if (!std::is_constant_evaluated()) {
    detail::refuse_overlap("matmul", c.data(), c.size_bytes(), a);
    detail::refuse_overlap("matmul", c.data(), c.size_bytes(), b);
    if constexpr (PlainElements<A> && PlainElements<B> && KnownOrder<O>)
      return detail::run_matmul(
          detail::plain_view(a), detail::plain_view(b),
          detail::plain_output<O>(c.data(), nullptr, nullptr, A::kRows, B::kCols));
  }
  for (std::size_t row = 0; row < A::kRows; ++row)
    for (std::size_t col = 0; col < B::kCols; ++col)
      c[O::offset(row, col, A::kRows, B::kCols)] = detail::contract(a, b, row, col);
}

/// The contraction with the rescale taken as each sum completes, into elements in the order `O`.
template <Order O = RowMajor, Elements A, Elements B>
constexpr void matmul_requantized(const A& a, const B& b, const Requant& requant,
                                  std::span<std::int8_t, A::kRows * B::kCols> c) noexcept {
  static_assert(detail::CheckedProduct<A, B>::kCount >= 1);
  if (!std::is_constant_evaluated()) {
    detail::refuse_overlap("matmul_requantized", c.data(), c.size_bytes(), a);
    detail::refuse_overlap("matmul_requantized", c.data(), c.size_bytes(), b);
    if constexpr (PlainElements<A> && PlainElements<B> && KnownOrder<O>)
      return detail::run_matmul(
          detail::plain_view(a), detail::plain_view(b),
          detail::plain_output<O>(nullptr, c.data(), &requant, A::kRows, B::kCols));
  }
  for (std::size_t row = 0; row < A::kRows; ++row)
    for (std::size_t col = 0; col < B::kCols; ++col)
      c[O::offset(row, col, A::kRows, B::kCols)] =
          requant.requantize(detail::contract(a, b, row, col));
}

/// The rescaled contraction into a matrix of its own order.
template <Elements A, Elements B, Order O>
constexpr void matmul_requantized(const A& a, const B& b, const Requant& requant,
                                  Matrix<A::kRows, B::kCols, O>& c) noexcept {
  matmul_requantized<O>(a, b, requant, c.storage_mut());
}

} // namespace simaai::kernels::matrix
