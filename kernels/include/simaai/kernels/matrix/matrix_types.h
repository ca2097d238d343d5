// SPDX-License-Identifier: LGPL-2.1-or-later
// Matrix owns its elements inline, MatrixRef reads elements that stay where they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <simaai/kernels/matrix/elements.h>
#include <simaai/kernels/matrix/wire.h>

namespace simaai::kernels::matrix {

/// R x C int8 elements in the physical order O, and nothing else: trivially copyable, R * C bytes,
/// constexpr-constructible. A copy duplicates the whole buffer. Not synchronised: const members may
/// run on many threads at once.
template <std::size_t R, std::size_t C, Order O = RowMajor>
class Matrix : public detail::ElementSurface<Matrix<R, C, O>, R, C> {
  static constexpr std::size_t kCount = detail::CheckedDimensions<R, C>::kCount;

public:
  using order_type = O;

  /// All elements zero.
  constexpr Matrix() noexcept = default;
  /// Elements in logical order: a list of rows.
  constexpr explicit Matrix(const std::int8_t (&rows)[R][C]) noexcept {
    for (std::size_t row = 0; row < R; ++row)
      for (std::size_t col = 0; col < C; ++col)
        elements_[O::offset(row, col, R, C)] = rows[row][col];
  }
  /// Elements taken from another matrix, coordinate by coordinate, whatever its order.
  template <Elements M>
  requires(M::kRows == R && M::kCols == C) [[nodiscard]] static constexpr Matrix
      relocated(const M& other) {
    Matrix result;
    for (std::size_t row = 0; row < R; ++row)
      for (std::size_t col = 0; col < C; ++col)
        result.elements_[O::offset(row, col, R, C)] = other.element(row, col);
    return result;
  }
  /// Elements as they sit in memory in the order O.
  [[nodiscard]] static constexpr Matrix
  from_storage(std::span<const std::int8_t, R * C> elements) noexcept {
    Matrix result;
    for (std::size_t n = 0; n < kCount; ++n)
      result.elements_[n] = elements[n];
    return result;
  }
  /// Matrix that a TGMX stream holds, or why the stream is refused (wire.h).
  [[nodiscard]] static constexpr Result<Matrix, DecodeError>
  decode(std::span<const std::byte> stream) noexcept {
    Matrix result;
    if (const auto decoded = decode_into(stream, result); !decoded)
      return decoded.error();
    return result;
  }

  /// Element at a position; a position outside stops the program (violation.h).
  [[nodiscard]] constexpr std::int8_t element(std::size_t row, std::size_t col) const noexcept {
    if (row >= R || col >= C)
      detail::stop_index("get", row, col, R, C);
    return elements_[O::offset(row, col, R, C)];
  }
  /// Replaces the element at a position; a position outside stops the program.
  constexpr void set(std::size_t row, std::size_t col, std::int8_t value) noexcept {
    if (row >= R || col >= C)
      detail::stop_index("set", row, col, R, C);
    elements_[O::offset(row, col, R, C)] = value;
  }
  /// Writes the matrix as a TGMX stream (wire.h).
  constexpr Result<std::size_t, EncodeError> encode(std::span<std::byte> dst) const noexcept {
    return matrix::encode(*this, dst);
  }

  /// The bytes, in the order O.
  [[nodiscard]] constexpr std::span<const std::int8_t, R * C> storage() const& noexcept {
    return std::span<const std::int8_t, R * C>(elements_);
  }
  void storage() const&& = delete;
  [[nodiscard]] constexpr std::span<std::int8_t, R * C> storage_mut() & noexcept {
    return std::span<std::int8_t, R * C>(elements_);
  }
  /// Equal elements at every coordinate.
  friend constexpr bool operator==(const Matrix& a, const Matrix& b) noexcept {
    return same_elements(a, b);
  }

private:
  std::int8_t elements_[kCount] = {};
};

/// The same read surface over bytes that somebody else keeps: weights in read-only memory are used
/// and sent on without a copy. The bytes must outlive the reference; temporaries are refused at
/// compile time. Trivially copyable.
template <std::size_t R, std::size_t C, Order O = RowMajor>
class MatrixRef : public detail::ElementSurface<MatrixRef<R, C, O>, R, C> {
  static constexpr std::size_t kCount = detail::CheckedDimensions<R, C>::kCount;

public:
  using order_type = O;

  /// Elements as they sit in memory in the order O.
  constexpr explicit MatrixRef(std::span<const std::int8_t, R * C> elements) noexcept
      : elements_(elements.data()) {}
  constexpr explicit MatrixRef(const std::int8_t (&elements)[kCount]) noexcept
      : elements_(elements) {}
  constexpr explicit MatrixRef(const std::array<std::int8_t, kCount>& elements) noexcept
      : elements_(elements.data()) {}
  constexpr MatrixRef(const Matrix<R, C, O>& owner) noexcept // implicit: the same elements
      : elements_(owner.storage().data()) {}
  MatrixRef(const std::int8_t (&&)[kCount]) = delete;
  MatrixRef(const std::array<std::int8_t, kCount>&&) = delete;
  MatrixRef(const Matrix<R, C, O>&&) = delete;

  /// Element at a position; a position outside stops the program (violation.h).
  [[nodiscard]] constexpr std::int8_t element(std::size_t row, std::size_t col) const noexcept {
    if (row >= R || col >= C)
      detail::stop_index("get", row, col, R, C);
    return elements_[O::offset(row, col, R, C)];
  }
  /// Writes the matrix as a TGMX stream (wire.h), straight from the borrowed bytes.
  constexpr Result<std::size_t, EncodeError> encode(std::span<std::byte> dst) const noexcept {
    return matrix::encode(*this, dst);
  }
  /// The borrowed bytes, in the order O.
  [[nodiscard]] constexpr std::span<const std::int8_t, R * C> storage() const noexcept {
    return std::span<const std::int8_t, R * C>(elements_, kCount);
  }

private:
  const std::int8_t* elements_;
};

} // namespace simaai::kernels::matrix
