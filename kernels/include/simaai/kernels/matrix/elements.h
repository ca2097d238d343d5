// SPDX-License-Identifier: LGPL-2.1-or-later
// The read surface of a rank-2 int8 matrix, and what a foreign type must offer to be one.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include <simaai/kernels/matrix/backend.h>
#include <simaai/kernels/matrix/coord.h>
#include <simaai/kernels/matrix/order.h>
#include <simaai/kernels/matrix/violation.h>

namespace simaai::kernels::matrix {

/// A matrix of int8 elements named by coordinates. A foreign type meets the concept with two
/// constants and element(row, col), which is only called with positions inside; products, contraction
/// and wire form then accept it. Nothing is assumed about where the elements sit.
template <class T>
concept Elements = requires(const T& matrix, std::size_t n) {
  { T::kRows } -> std::convertible_to<std::size_t>;
  { T::kCols } -> std::convertible_to<std::size_t>;
  { matrix.element(n, n) } -> std::same_as<std::int8_t>;
};

/// Elements that state which bytes hold them: kRows * kCols of them, placed by `order_type`.
template <class T>
concept StoredElements = Elements<T> && Order<typename T::order_type> && requires(const T& matrix) {
  { matrix.storage() } -> std::same_as<std::span<const std::int8_t, T::kRows * T::kCols>>;
};

/// Stored elements in one of the two known orders: products may read them as plain memory.
template <class T>
concept PlainElements = StoredElements<T> && KnownOrder<typename T::order_type>;

/// Address of a position, or empty where it names no element of the matrix. Reentrant.
template <Elements M>
[[nodiscard]] constexpr std::optional<CoordPath2>
path_of([[maybe_unused]] const M& matrix, std::size_t row, std::size_t col) noexcept {
  static_assert(detail::CheckedDimensions<M::kRows, M::kCols>::kCount >= 1);
  if (row >= M::kRows || col >= M::kCols)
    return std::nullopt;
  return CoordPath2{*Coord::from_index(row), *Coord::from_index(col)};
}

/// Element at an address, or empty where it names no element of the matrix. Reentrant.
template <Elements M>
[[nodiscard]] constexpr std::optional<std::int8_t> at(const M& matrix, CoordPath2 path) {
  static_assert(detail::CheckedDimensions<M::kRows, M::kCols>::kCount >= 1);
  if (path.row.index() >= M::kRows || path.col.index() >= M::kCols)
    return std::nullopt;
  return matrix.element(path.row.index(), path.col.index());
}

/// True where both matrices hold the same element at every coordinate, whatever their orders.
template <Elements A, Elements B>
[[nodiscard]] constexpr bool same_elements(const A& a, const B& b) {
  static_assert(A::kRows == B::kRows && A::kCols == B::kCols, "simaai matrix: shapes differ");
  for (std::size_t row = 0; row < A::kRows; ++row)
    for (std::size_t col = 0; col < A::kCols; ++col)
      if (a.element(row, col) != b.element(row, col))
        return false;
  return true;
}

namespace detail {

/// Refuses an output that shares bytes with the matrix object or with the storage it states.
template <Elements M>
void refuse_overlap(const char* operation, const void* output, std::size_t output_bytes,
                    const M& matrix) noexcept {
  refuse_overlap(operation, output, output_bytes, static_cast<const void*>(&matrix),
                 sizeof(matrix));
  if constexpr (StoredElements<M>)
    refuse_overlap(operation, output, output_bytes, matrix.storage().data(),
                   matrix.storage().size());
}

/// Refuses an operand that shares bytes with the matrix that is written.
template <Elements M>
void refuse_overlap(const char* operation, const M& output, const void* operand,
                    std::size_t operand_bytes) noexcept {
  refuse_overlap(operation, static_cast<const void*>(&output), sizeof(output), operand,
                 operand_bytes);
  if constexpr (StoredElements<M>)
    refuse_overlap(operation, output.storage().data(), output.storage().size(), operand,
                   operand_bytes);
}

/// The memory of a matrix in a known order.
template <PlainElements M> constexpr PlainView plain_view(const M& matrix) noexcept {
  constexpr bool kRowMajor = std::same_as<typename M::order_type, RowMajor>;
  return {matrix.storage().data(), M::kRows, M::kCols, kRowMajor ? M::kCols : std::size_t{1},
          kRowMajor ? std::size_t{1} : M::kRows};
}

/// Members that every matrix type of this library shares. Empty, so it adds no byte.
template <class Derived, std::size_t R, std::size_t C> class ElementSurface {
  static_assert(CheckedDimensions<R, C>::kCount >= 1);

public:
  static constexpr std::size_t kRows = R;
  static constexpr std::size_t kCols = C;

  /// Element at a position; a position outside stops the program (violation.h).
  [[nodiscard]] constexpr std::int8_t get(std::size_t row, std::size_t col) const noexcept {
    return self().element(row, col);
  }
  /// Address of a position, or empty where it names no element.
  [[nodiscard]] constexpr std::optional<CoordPath2> path_of(std::size_t row,
                                                            std::size_t col) const noexcept {
    return matrix::path_of(self(), row, col);
  }
  /// Element at an address, or empty where it names no element.
  [[nodiscard]] constexpr std::optional<std::int8_t> at(CoordPath2 path) const noexcept {
    return matrix::at(self(), path);
  }

private:
  friend Derived;
  constexpr ElementSurface() noexcept = default;
  [[nodiscard]] constexpr const Derived& self() const noexcept {
    return static_cast<const Derived&>(*this);
  }
};

} // namespace detail
} // namespace simaai::kernels::matrix
