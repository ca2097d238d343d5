// SPDX-License-Identifier: LGPL-2.1-or-later
// Run-time-sized matrices: the checks that the compiler makes for Matrix, then the same products.
#include <simaai/kernels/matrix/dyn_matrix.h>

namespace simaai::kernels::matrix {
namespace {

using detail::PlainOutput;
using detail::PlainView;

PlainView plain_view(const DynMatrixRef& matrix) noexcept {
  const bool row_major = matrix.order() == DynOrder::RowMajor;
  return {matrix.storage().data(), matrix.rows(), matrix.cols(), row_major ? matrix.cols() : 1,
          row_major ? 1 : matrix.rows()};
}

/// Refuses a matrix that was moved from.
void require_elements(const char* operation, const DynMatrixRef& matrix) noexcept {
  if (matrix.rows() == 0)
    detail::stop_index(operation, 0, 0, 0, 0);
}

void require_size(const char* operation, std::size_t found, std::size_t expected) noexcept {
  if (found != expected)
    detail::stop({ViolationKind::SizeMismatch, operation, {found, 0}, {expected, 0}});
}

template <class T>
void check_gemv(const char* operation, const DynMatrixRef& a, std::span<const std::int8_t> x,
                std::span<T> y) noexcept {
  require_elements(operation, a);
  require_size(operation, x.size(), a.cols());
  require_size(operation, y.size(), a.rows());
  detail::refuse_overlap(operation, y.data(), y.size_bytes(), a.storage().data(),
                         a.storage().size());
  detail::refuse_overlap(operation, y.data(), y.size_bytes(), x.data(), x.size());
}

template <class T>
void check_matmul(const char* operation, const DynMatrixRef& a, const DynMatrixRef& b,
                  std::span<T> c) noexcept {
  require_elements(operation, a);
  require_elements(operation, b);
  require_size(operation, b.rows(), a.cols());
  require_size(operation, c.size(), a.rows() * b.cols());
  detail::refuse_overlap(operation, c.data(), c.size_bytes(), a.storage().data(),
                         a.storage().size());
  detail::refuse_overlap(operation, c.data(), c.size_bytes(), b.storage().data(),
                         b.storage().size());
}

PlainOutput plain_output(std::int32_t* sums, std::int8_t* elements, const Requant* requant,
                         std::size_t rows, std::size_t cols, DynOrder order) noexcept {
  const bool row_major = order == DynOrder::RowMajor;
  return {sums, elements, requant, row_major ? cols : 1, row_major ? 1 : rows};
}

} // namespace

Result<std::size_t, EncodeError> DynMatrixRef::encode(std::span<std::byte> dst) const noexcept {
  require_elements("encode", *this);
  const std::size_t needed = encoded_bytes(rows_, cols_);
  if (dst.size() < needed)
    return EncodeError{EncodeError::BufferTooSmall, needed, dst.size()};
  detail::refuse_overlap("encode", dst.data(), needed, elements_, rows_ * cols_);
  detail::store_header(dst.data(), rows_, cols_);
  library::encode_records(plain_view(*this), dst.data() + kHeaderBytes);
  return needed;
}

std::optional<DynMatrix> DynMatrix::create(std::size_t rows, std::size_t cols,
                                           DynOrder order) noexcept {
  if (!dimension_in_space(rows) || !dimension_in_space(cols))
    return std::nullopt;
  return DynMatrix(rows, cols, order);
}

DynMatrix DynMatrix::relocated(DynMatrixRef source, DynOrder order) noexcept {
  require_elements("relocated", source);
  DynMatrix result(source.rows(), source.cols(), order);
  for (std::size_t row = 0; row < source.rows(); ++row)
    for (std::size_t col = 0; col < source.cols(); ++col)
      result.elements_[dyn_offset(order, row, col, source.rows(), source.cols())] =
          source.elements_[dyn_offset(source.order(), row, col, source.rows(), source.cols())];
  return result;
}

Result<WireShape, DecodeError> peek_shape(std::span<const std::byte> stream) noexcept {
  const auto shape = detail::load_header(stream);
  if (!shape)
    return shape.error();
  if (!dimension_in_space(shape.value().rows) || !dimension_in_space(shape.value().cols)) {
    DecodeError error{DecodeError::ShapeMismatch, 5};
    error.found_row = shape.value().rows;
    error.found_col = shape.value().cols;
    return error;
  }
  return shape;
}

Result<void, DecodeError> DynMatrix::place(const std::byte* records) noexcept {
  const PlainView view = plain_view(*this);
  if (library::decode_records(
          records, {elements_.data(), view.rows, view.cols, view.row_stride, view.col_stride}))
    return {};
  return detail::judge_records(records, rows_, cols_);
}

Result<DynMatrix, DecodeError> DynMatrix::decode(std::span<const std::byte> stream,
                                                 DynOrder order) noexcept {
  const auto shape = peek_shape(stream);
  if (!shape)
    return shape.error();
  const auto [rows, cols] = shape.value();
  if (const auto checked = detail::check_shape(stream, rows, cols); !checked)
    return checked.error();
  DynMatrix result(rows, cols, order);
  if (const auto placed = result.place(stream.data() + kHeaderBytes); !placed)
    return placed.error();
  return result;
}

Result<void, DecodeError> DynMatrix::decode_into(std::span<const std::byte> stream) noexcept {
  require_elements("decode", *this);
  if (const auto checked = detail::check_shape(stream, rows_, cols_); !checked)
    return checked;
  detail::refuse_overlap("decode", elements_.data(), elements_.size(), stream.data(),
                         stream.size());
  return place(stream.data() + kHeaderBytes);
}

void gemv(DynMatrixRef a, std::span<const std::int8_t> x, std::span<std::int32_t> y) noexcept {
  check_gemv("gemv", a, x, y);
  detail::run_gemv(plain_view(a), x.data(), {y.data(), nullptr, nullptr, 1, a.rows()});
}

void gemv_requantized(DynMatrixRef a, std::span<const std::int8_t> x, const Requant& requant,
                      std::span<std::int8_t> y) noexcept {
  check_gemv("gemv_requantized", a, x, y);
  detail::run_gemv(plain_view(a), x.data(), {nullptr, y.data(), &requant, 1, a.rows()});
}

void matmul(DynMatrixRef a, DynMatrixRef b, std::span<std::int32_t> c, DynOrder c_order) noexcept {
  check_matmul("matmul", a, b, c);
  detail::run_matmul(plain_view(a), plain_view(b),
                     plain_output(c.data(), nullptr, nullptr, a.rows(), b.cols(), c_order));
}

void matmul_requantized(DynMatrixRef a, DynMatrixRef b, const Requant& requant,
                        std::span<std::int8_t> c, DynOrder c_order) noexcept {
  check_matmul("matmul_requantized", a, b, c);
  detail::run_matmul(plain_view(a), plain_view(b),
                     plain_output(nullptr, c.data(), &requant, a.rows(), b.cols(), c_order));
}

} // namespace simaai::kernels::matrix
