// SPDX-License-Identifier: LGPL-2.1-or-later
// Physical orders: types whose only job is to turn a position into an offset.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <simaai/kernels/language.h>

namespace simaai::kernels::matrix {

/// Consecutive columns are adjacent: offset(i, j) = i * C + j.
struct RowMajor {
  [[nodiscard]] static constexpr std::size_t offset(std::size_t row, std::size_t col,
                                                    [[maybe_unused]] std::size_t rows,
                                                    std::size_t cols) noexcept {
    return row * cols + col;
  }
};

/// Consecutive rows are adjacent: offset(i, j) = j * R + i.
struct ColMajor {
  [[nodiscard]] static constexpr std::size_t offset(std::size_t row, std::size_t col,
                                                    std::size_t rows,
                                                    [[maybe_unused]] std::size_t cols) noexcept {
    return col * rows + row;
  }
};

/// A type that maps the positions of every rows x cols matrix one to one onto 0 .. rows * cols - 1.
/// Programs may add orders of their own; they serve every call, through coordinates.
template <class T>
concept Order = requires(std::size_t n) {
  { T::offset(n, n, n, n) } -> std::same_as<std::size_t>;
};

/// The two orders whose strides are known, so that products may read them as plain memory.
template <class T>
concept KnownOrder = std::same_as<T, RowMajor> || std::same_as<T, ColMajor>;

/// The two known orders as a run-time value, for matrices whose size is one too.
enum class DynOrder : std::uint8_t { RowMajor, ColMajor };

template <KnownOrder O>
inline constexpr DynOrder kDynOrder =
    std::same_as<O, RowMajor> ? DynOrder::RowMajor : DynOrder::ColMajor;

/// Offset of a position under a run-time order.
[[nodiscard]] constexpr std::size_t dyn_offset(DynOrder order, std::size_t row, std::size_t col,
                                               std::size_t rows, std::size_t cols) noexcept {
  switch (order) {
  case DynOrder::RowMajor:
    return RowMajor::offset(row, col, rows, cols);
  case DynOrder::ColMajor:
    return ColMajor::offset(row, col, rows, cols);
  }
  return 0;
}

} // namespace simaai::kernels::matrix
