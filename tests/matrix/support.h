// SPDX-License-Identifier: LGPL-2.1-or-later
// Glue between the matrix suites' reference and the library: construction, foreign types, backends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <simaai/kernels/matrix/dyn_matrix.h>
#include <simaai/kernels/matrix/matrix.h>

#include "matrix/backends.h"
#include "reference.h"

namespace matrix_test {

using namespace simaai::kernels::matrix;

/// Runs `body` once an instruction set of this machine, and restores the chosen one.
template <class Body> void on_each_backend(Body&& body) {
  const detail::Backend& chosen = detail::current_backend();
  for (const detail::Backend* backend : detail::available_backends()) {
    SCOPED_TRACE(std::string("instruction set ") + backend->name);
    detail::use_backend(*backend);
    body();
  }
  detail::use_backend(chosen);
}

/// A user's own order: the last logical element comes first.
struct Reversed {
  static constexpr std::size_t offset(std::size_t row, std::size_t col, std::size_t rows,
                                      std::size_t cols) noexcept {
    return rows * cols - 1 - (row * cols + col);
  }
};

/// A user's own matrix type: elements computed on demand, in no memory at all.
template <std::size_t R, std::size_t C> struct Pattern {
  static constexpr std::size_t kRows = R;
  static constexpr std::size_t kCols = C;
  [[nodiscard]] std::int8_t element(std::size_t row, std::size_t col) const noexcept {
    return static_cast<std::int8_t>(static_cast<int>((row * 37 + col * 11) % 256) - 128);
  }
  [[nodiscard]] static reference::Rows rows() {
    reference::Rows result(R, reference::Row(C));
    for (std::size_t row = 0; row < R; ++row)
      for (std::size_t col = 0; col < C; ++col)
        result[row][col] = static_cast<int>((row * 37 + col * 11) % 256) - 128;
    return result;
  }
};

template <class M> M filled(const reference::Rows& rows) {
  M matrix;
  for (std::size_t row = 0; row < M::kRows; ++row)
    for (std::size_t col = 0; col < M::kCols; ++col)
      matrix.set(row, col, static_cast<std::int8_t>(rows[row][col]));
  return matrix;
}

inline DynMatrix dyn_filled(const reference::Rows& rows, DynOrder order) {
  DynMatrix matrix = *DynMatrix::create(rows.size(), rows.front().size(), order);
  for (std::size_t row = 0; row < matrix.rows(); ++row)
    for (std::size_t col = 0; col < matrix.cols(); ++col)
      matrix.set(row, col, static_cast<std::int8_t>(rows[row][col]));
  return matrix;
}

inline std::vector<std::int8_t> narrow(const reference::Row& values) {
  std::vector<std::int8_t> result;
  for (const int value : values)
    result.push_back(static_cast<std::int8_t>(value));
  return result;
}

inline constexpr std::array kOrders = {DynOrder::RowMajor, DynOrder::ColMajor};

inline std::vector<std::byte> bytes(const std::vector<std::uint8_t>& values) {
  const auto view = std::as_bytes(std::span(values));
  return {view.begin(), view.end()};
}

/// Products of random shapes and operands through run-time views against the reference.
struct Case {
  reference::Rows a;
  reference::Rows b;
};

/// Expects both product forms of `c` in every combination of orders to be the reference's numbers.
inline void expect_products(const Case& c, std::int32_t multiplier, unsigned shift) {
  const auto expected = reference::product(c.a, c.b);
  const std::size_t rows = expected.size();
  const std::size_t cols = expected.front().size();
  const Requant requant(multiplier, shift);
  for (const DynOrder a_order : kOrders)
    for (const DynOrder b_order : kOrders)
      for (const DynOrder c_order : kOrders) {
        SCOPED_TRACE(::testing::Message()
                     << rows << " x " << c.b.size() << " x " << cols << ", orders " << int(a_order)
                     << int(b_order) << int(c_order) << ", multiplier " << multiplier << ", shift "
                     << shift);
        const DynMatrix a = dyn_filled(c.a, a_order);
        const DynMatrix b = dyn_filled(c.b, b_order);
        std::vector<std::int32_t> sums(rows * cols, -1);
        std::vector<std::int8_t> elements(rows * cols, -1);
        matmul(a, b, sums, c_order);
        matmul_requantized(a, b, requant, elements, c_order);
        std::size_t wrong = 0;
        for (std::size_t row = 0; row < rows; ++row)
          for (std::size_t col = 0; col < cols; ++col) {
            const std::size_t n =
                c_order == DynOrder::RowMajor ? row * cols + col : col * rows + row;
            wrong += sums[n] != expected[row][col];
            wrong += elements[n] != reference::requantized(expected[row][col], multiplier, shift);
          }
        ASSERT_EQ(wrong, 0U);
      }
}

} // namespace matrix_test
