// SPDX-License-Identifier: LGPL-2.1-or-later
// Seam between the header-only core and the instruction sets that a hosted library selects from.
//
// Hosted programs call the library unless SIMAAI_MATRIX_HEADER_ONLY is defined; freestanding ones
// use the loops of plain_loops.h. Results are the same, byte for byte.
#pragma once

#include <cstddef>
#include <cstdint>

#if __STDC_HOSTED__ && !defined(SIMAAI_MATRIX_HEADER_ONLY)
#define SIMAAI_MATRIX_USE_LIBRARY 1
#include <string_view>

#include <simaai/kernels/export.h>
#else
#define SIMAAI_MATRIX_USE_LIBRARY 0
#endif

namespace simaai::kernels::matrix {

class Requant;

/// The seam itself. Called by the headers; applications have no use for it.
namespace library {

/// int8 elements in plain memory. Strides are in elements and one of them is 1.
struct PlainView {
  const std::int8_t* data;
  std::size_t rows;
  std::size_t cols;
  std::size_t row_stride;
  std::size_t col_stride;
  [[nodiscard]] constexpr PlainView transposed() const noexcept {
    return {data, cols, rows, col_stride, row_stride};
  }
};

/// Plain memory that elements are written to, as PlainView.
struct PlainTarget {
  std::int8_t* data;
  std::size_t rows;
  std::size_t cols;
  std::size_t row_stride;
  std::size_t col_stride;
};

/// Where a product goes: `sums`, or rescaled by `requant` to `elements`. The other is null.
struct PlainOutput {
  std::int32_t* sums;
  std::int8_t* elements;
  const Requant* requant;
  std::size_t row_stride;
  std::size_t col_stride;
  [[nodiscard]] constexpr PlainOutput transposed() const noexcept {
    return {sums, elements, requant, col_stride, row_stride};
  }
};

#if SIMAAI_MATRIX_USE_LIBRARY
/// y = a * x; y has a.rows entries and row_stride 1. Nothing overlaps.
SIMAAI_KERNELS_API void gemv(const PlainView& a, const std::int8_t* x,
                             const PlainOutput& y) noexcept;
/// c = a * b; c is a.rows by b.cols, one of its strides is 1. Nothing overlaps.
SIMAAI_KERNELS_API void matmul(const PlainView& a, const PlainView& b,
                               const PlainOutput& c) noexcept;
SIMAAI_KERNELS_API void requantize(const std::int32_t* src, std::size_t count,
                                   const Requant& requant, std::int8_t* dst) noexcept;
/// Writes the records of a matrix (wire.h) behind each other. Nothing overlaps.
SIMAAI_KERNELS_API void encode_records(const PlainView& a, std::byte* records) noexcept;
/// True where each of rows * cols records names its own position.
[[nodiscard]] SIMAAI_KERNELS_API bool check_records(const std::byte* records, std::size_t rows,
                                                    std::size_t cols) noexcept;
/// Places the elements of records that each name their own position; else writes nothing and returns
/// false. Nothing overlaps.
[[nodiscard]] SIMAAI_KERNELS_API bool decode_records(const std::byte* records,
                                                     const PlainTarget& to) noexcept;
#endif

} // namespace library

namespace detail {
using library::PlainOutput;
using library::PlainTarget;
using library::PlainView;
} // namespace detail

#if SIMAAI_MATRIX_USE_LIBRARY
/// Name of the instruction set that products use here: "scalar", "avx2", "avx512vnni", "amx", "neon" or
/// "neondot". The best of the machine, unless the environment variable SIMAAI_MATRIX_ISA names a
/// lower one that it supports; a name that is unknown or unsupported is reported once on standard
/// error and ignored. Read once. Thread-safe.
[[nodiscard]] SIMAAI_KERNELS_API std::string_view active_instruction_set() noexcept;
#endif

} // namespace simaai::kernels::matrix
