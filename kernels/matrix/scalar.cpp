// SPDX-License-Identifier: LGPL-2.1-or-later
// The portable instruction set: the loops of the header-only core, compiled once.
#include <simaai/kernels/matrix/plain_loops.h>
#include <simaai/kernels/matrix/wire.h>

#include "matrix/backends.h"

namespace simaai::kernels::matrix::detail {
namespace {

void requantize_scalar(const std::int32_t* src, std::size_t count, const Requant& requant,
                       std::int8_t* dst) noexcept {
  for (std::size_t n = 0; n < count; ++n)
    dst[n] = requant.requantize(src[n]);
}

void encode_scalar(const PlainView& a, std::byte* records) noexcept {
  for (std::size_t row = 0; row < a.rows; ++row)
    for (std::size_t col = 0; col < a.cols; ++col, records += kRecordBytes)
      store_record(records, record_key(row, col), a.data[row * a.row_stride + col * a.col_stride]);
}

bool check_scalar(const std::byte* records, std::size_t rows, std::size_t cols) noexcept {
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t col = 0; col < cols; ++col, records += kRecordBytes)
      if (load_u32(records) != record_key(row, col))
        return false;
  return true;
}

bool decode_scalar(const std::byte* records, const PlainTarget& to) noexcept {
  if (!check_scalar(records, to.rows, to.cols))
    return false;
  for (std::size_t row = 0; row < to.rows; ++row)
    for (std::size_t col = 0; col < to.cols; ++col, records += kRecordBytes)
      to.data[row * to.row_stride + col * to.col_stride] = record_value(records);
  return true;
}

} // namespace

const WireForm scalar_wire = {encode_scalar, check_scalar, decode_scalar};
const Backend scalar_backend = {"scalar", plain_gemv, plain_matmul, requantize_scalar,
                                &scalar_wire};

} // namespace simaai::kernels::matrix::detail
