// SPDX-License-Identifier: LGPL-2.1-or-later
// Matrices whose size and order are known at run time, for files and pipelines. Hosted only.
//
// What the compiler refuses for Matrix is refused here at run time: a size outside 1 .. 11172 makes
// no matrix (empty optional, or ShapeMismatch from a stream); buffers whose lengths do not fit a
// product, a position outside and an overlapping output stop the program (violation.h). Running out
// of memory ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <simaai/kernels/export.h>
#include <simaai/kernels/matrix/matrix.h>

namespace simaai::kernels::matrix {

class DynMatrix;

/// A borrowed run-time-sized matrix. The bytes must outlive it. Trivially copyable, reentrant.
class DynMatrixRef {
public:
  /// Empty where a dimension is outside the coordinate space or `elements` is not rows * cols long.
  [[nodiscard]] static constexpr std::optional<DynMatrixRef>
  create(std::span<const std::int8_t> elements, std::size_t rows, std::size_t cols,
         DynOrder order) noexcept {
    if (!dimension_in_space(rows) || !dimension_in_space(cols) || elements.size() != rows * cols)
      return std::nullopt;
    return DynMatrixRef(elements.data(), rows, cols, order);
  }
  /// The same elements. Explicit: an implicit one would trade compile-time checks for run-time ones.
  template <PlainElements M>
  constexpr explicit DynMatrixRef(const M& matrix) noexcept
      : DynMatrixRef(matrix.storage().data(), M::kRows, M::kCols,
                     kDynOrder<typename M::order_type>) {}
  template <std::size_t R, std::size_t C, KnownOrder O>
  explicit DynMatrixRef(const Matrix<R, C, O>&& temporary) = delete;
  DynMatrixRef(const DynMatrix& owner) noexcept; // implicit: the same elements
  DynMatrixRef(const DynMatrix&& temporary) = delete;

  [[nodiscard]] constexpr std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] constexpr std::size_t cols() const noexcept { return cols_; }
  [[nodiscard]] constexpr DynOrder order() const noexcept { return order_; }
  [[nodiscard]] constexpr std::span<const std::int8_t> storage() const noexcept {
    return {elements_, rows_ * cols_};
  }
  /// Element at a position; a position outside stops the program.
  [[nodiscard]] constexpr std::int8_t get(std::size_t row, std::size_t col) const noexcept {
    if (row >= rows_ || col >= cols_)
      detail::stop_index("get", row, col, rows_, cols_);
    return elements_[dyn_offset(order_, row, col, rows_, cols_)];
  }
  /// Address of a position, or empty where it names no element.
  [[nodiscard]] constexpr std::optional<CoordPath2> path_of(std::size_t row,
                                                            std::size_t col) const noexcept {
    if (row >= rows_ || col >= cols_)
      return std::nullopt;
    return CoordPath2{*Coord::from_index(row), *Coord::from_index(col)};
  }
  /// Element at an address, or empty where it names no element.
  [[nodiscard]] constexpr std::optional<std::int8_t> at(CoordPath2 path) const noexcept {
    if (path.row.index() >= rows_ || path.col.index() >= cols_)
      return std::nullopt;
    return get(path.row.index(), path.col.index());
  }
  /// Writes the matrix as a TGMX stream (wire.h); bytes behind it keep their values.
  SIMAAI_KERNELS_API Result<std::size_t, EncodeError>
  encode(std::span<std::byte> dst) const noexcept;

private:
  constexpr DynMatrixRef(const std::int8_t* elements, std::size_t rows, std::size_t cols,
                         DynOrder order) noexcept
      : elements_(elements), rows_(rows), cols_(cols), order_(order) {}
  friend class DynMatrix;

  const std::int8_t* elements_;
  std::size_t rows_;
  std::size_t cols_;
  DynOrder order_;
};

/// A run-time-sized matrix that owns its elements. Const members are reentrant. A matrix that was
/// moved from has no rows and no columns until another is assigned to it; as an operand, and where
/// it is written or filled, it stops the program.
class DynMatrix {
public:
  DynMatrix(const DynMatrix&) = default;
  DynMatrix& operator=(const DynMatrix&) = default;
  DynMatrix(DynMatrix&& other) noexcept
      : elements_(std::exchange(other.elements_, {})), rows_(std::exchange(other.rows_, 0)),
        cols_(std::exchange(other.cols_, 0)), order_(other.order_) {}
  DynMatrix& operator=(DynMatrix&& other) noexcept {
    if (this != &other) {
      elements_ = std::exchange(other.elements_, {});
      rows_ = std::exchange(other.rows_, 0);
      cols_ = std::exchange(other.cols_, 0);
      order_ = other.order_;
    }
    return *this;
  }
  ~DynMatrix() = default;

  /// A matrix of zeros; empty where a dimension is outside the coordinate space.
  [[nodiscard]] SIMAAI_KERNELS_API static std::optional<DynMatrix>
  create(std::size_t rows, std::size_t cols, DynOrder order) noexcept;
  /// The same elements in another, or the same, order.
  [[nodiscard]] SIMAAI_KERNELS_API static DynMatrix relocated(DynMatrixRef source,
                                                              DynOrder order) noexcept;
  /// The matrix that a TGMX stream holds, or why the stream is refused (wire.h). Memory is taken
  /// only after the length was found to fit the shape.
  SIMAAI_KERNELS_API static Result<DynMatrix, DecodeError> decode(std::span<const std::byte> stream,
                                                                  DynOrder order) noexcept;
  /// Replaces the elements by those of a stream of the same shape; a refused stream changes nothing.
  SIMAAI_KERNELS_API Result<void, DecodeError>
  decode_into(std::span<const std::byte> stream) noexcept;

  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t cols() const noexcept { return cols_; }
  [[nodiscard]] DynOrder order() const noexcept { return order_; }
  [[nodiscard]] std::span<const std::int8_t> storage() const& noexcept { return elements_; }
  void storage() const&& = delete;
  [[nodiscard]] std::span<std::int8_t> storage_mut() & noexcept { return elements_; }
  /// Element at a position; a position outside stops the program.
  [[nodiscard]] std::int8_t get(std::size_t row, std::size_t col) const noexcept {
    return DynMatrixRef(*this).get(row, col);
  }
  /// Replaces the element at a position; a position outside stops the program.
  void set(std::size_t row, std::size_t col, std::int8_t value) noexcept {
    if (row >= rows_ || col >= cols_)
      detail::stop_index("set", row, col, rows_, cols_);
    elements_[dyn_offset(order_, row, col, rows_, cols_)] = value;
  }
  [[nodiscard]] std::optional<CoordPath2> path_of(std::size_t row, std::size_t col) const noexcept {
    return DynMatrixRef(*this).path_of(row, col);
  }
  [[nodiscard]] std::optional<std::int8_t> at(CoordPath2 path) const noexcept {
    return DynMatrixRef(*this).at(path);
  }
  Result<std::size_t, EncodeError> encode(std::span<std::byte> dst) const noexcept {
    return DynMatrixRef(*this).encode(dst);
  }

private:
  DynMatrix(std::size_t rows, std::size_t cols, DynOrder order)
      : elements_(rows * cols), rows_(rows), cols_(cols), order_(order) {}
  [[nodiscard]] Result<void, DecodeError> place(const std::byte* records) noexcept;

  std::vector<std::int8_t> elements_;
  std::size_t rows_;
  std::size_t cols_;
  DynOrder order_;
};

inline DynMatrixRef::DynMatrixRef(const DynMatrix& owner) noexcept
    : DynMatrixRef(owner.storage().data(), owner.rows(), owner.cols(), owner.order()) {}

/// The shape that a stream states, where its header is one that this build reads and both
/// dimensions are within the coordinate space. The records are not looked at.
SIMAAI_KERNELS_API Result<WireShape, DecodeError>
peek_shape(std::span<const std::byte> stream) noexcept;

/// y[i] = sum over j of a(i, j) * x[j]; x has a.cols() entries, y a.rows(). Reentrant.
SIMAAI_KERNELS_API void gemv(DynMatrixRef a, std::span<const std::int8_t> x,
                             std::span<std::int32_t> y) noexcept;
SIMAAI_KERNELS_API void gemv_requantized(DynMatrixRef a, std::span<const std::int8_t> x,
                                         const Requant& requant, std::span<std::int8_t> y) noexcept;
/// c(i, j) = sum over k of a(i, k) * b(k, j), into a.rows() * b.cols() entries. Reentrant.
SIMAAI_KERNELS_API void matmul(DynMatrixRef a, DynMatrixRef b, std::span<std::int32_t> c,
                               DynOrder c_order) noexcept;
SIMAAI_KERNELS_API void matmul_requantized(DynMatrixRef a, DynMatrixRef b, const Requant& requant,
                                           std::span<std::int8_t> c, DynOrder c_order) noexcept;

} // namespace simaai::kernels::matrix
