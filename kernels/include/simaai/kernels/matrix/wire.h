// SPDX-License-Identifier: LGPL-2.1-or-later
// TGMX, the wire form of a matrix: coordinates and values, never a layout.
//
// | field   | bytes | content                                               |
// | magic   | 4     | "TGMX"                                                |
// | version | 1     | 1                                                     |
// | rows    | 2     | R, little-endian                                      |
// | columns | 2     | C, little-endian                                      |
// | record  | 5     | row u16, column u16, little-endian, value i8; R * C of them, in logical order |
//
// The order of the records is logical, so equal matrices write equal bytes whatever their orders.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <simaai/kernels/matrix/elements.h>
#include <simaai/kernels/matrix/result.h>

namespace simaai::kernels::matrix {

inline constexpr std::size_t kHeaderBytes = 9;
inline constexpr std::size_t kRecordBytes = 5;
inline constexpr std::uint8_t kWireVersion = 1;
/// "TGMX" as a little-endian number.
inline constexpr std::uint32_t kWireMagic = 0x584D4754;

/// Bytes of the stream of a rows x cols matrix.
[[nodiscard]] constexpr std::size_t encoded_bytes(std::size_t rows, std::size_t cols) noexcept {
  return kHeaderBytes + kRecordBytes * rows * cols;
}

/// Why a write was refused. Nothing was written.
struct EncodeError {
  enum Code : std::uint8_t { BufferTooSmall };
  Code code = BufferTooSmall;
  std::size_t needed = 0;    ///< bytes
  std::size_t available = 0; ///< bytes
  friend constexpr bool operator==(const EncodeError&, const EncodeError&) noexcept = default;
};

/// Why a stream was refused; nothing was placed. The first that applies is reported, in the order of
/// the enumerators; records are judged one after the other, each by its range first.
struct DecodeError {
  enum Code : std::uint8_t {
    TooShort,             ///< expected: bytes of a header; found: bytes given
    BadMagic,             ///< expected, found: the number in the magic field
    UnsupportedVersion,   ///< expected, found: version
    ShapeMismatch,        ///< *_row, *_col: rows and columns; expected 0, 0: any within 1 .. 11172
    Truncated,            ///< expected, found: bytes of the stream
    TrailingBytes,        ///< expected, found: bytes of the stream
    CoordinateOutOfRange, ///< *_row, *_col: coordinates; offset: of the record
    CoordinateMismatch,   ///< *_row, *_col: coordinates; offset: of the record
  };
  Code code = TooShort;
  std::size_t offset = 0; ///< of the offending field, in bytes
  std::size_t expected = 0;
  std::size_t found = 0;
  std::uint16_t expected_row = 0;
  std::uint16_t expected_col = 0;
  std::uint16_t found_row = 0;
  std::uint16_t found_col = 0;
  friend constexpr bool operator==(const DecodeError&, const DecodeError&) noexcept = default;
};

/// Shape that a stream states.
struct WireShape {
  std::uint16_t rows = 0;
  std::uint16_t cols = 0;
  friend constexpr bool operator==(const WireShape&, const WireShape&) noexcept = default;
};

namespace detail {

constexpr void store_u8(std::byte* dst, std::uint8_t value) noexcept { *dst = std::byte{value}; }
constexpr void store_u16(std::byte* dst, std::size_t value) noexcept {
  store_u8(dst, static_cast<std::uint8_t>(value & 0xFF));
  store_u8(dst + 1, static_cast<std::uint8_t>(value >> 8 & 0xFF));
}
constexpr void store_u32(std::byte* dst, std::uint32_t value) noexcept {
  store_u16(dst, value & 0xFFFF);
  store_u16(dst + 2, value >> 16);
}
[[nodiscard]] constexpr std::uint32_t load_u8(const std::byte* src) noexcept {
  return std::to_integer<std::uint32_t>(*src);
}
[[nodiscard]] constexpr std::uint32_t load_u16(const std::byte* src) noexcept {
  return load_u8(src) | load_u8(src + 1) << 8;
}
[[nodiscard]] constexpr std::uint32_t load_u32(const std::byte* src) noexcept {
  return load_u16(src) | load_u16(src + 2) << 16;
}

/// A record's coordinates as one little-endian number: row in bits 0-15, column in bits 16-31.
[[nodiscard]] constexpr std::uint32_t record_key(std::size_t row, std::size_t col) noexcept {
  return static_cast<std::uint32_t>(row | col << 16);
}

constexpr void store_header(std::byte* dst, std::size_t rows, std::size_t cols) noexcept {
  store_u32(dst, kWireMagic);
  store_u8(dst + 4, kWireVersion);
  store_u16(dst + 5, rows);
  store_u16(dst + 7, cols);
}

constexpr void store_record(std::byte* dst, std::uint32_t key, std::int8_t value) noexcept {
  store_u32(dst, key);
  store_u8(dst + 4, static_cast<std::uint8_t>(value));
}

[[nodiscard]] constexpr std::int8_t record_value(const std::byte* record) noexcept {
  return static_cast<std::int8_t>(std::to_integer<std::uint8_t>(record[4]));
}

/// Reads the header; refuses TooShort, BadMagic and UnsupportedVersion.
[[nodiscard]] constexpr Result<WireShape, DecodeError>
load_header(std::span<const std::byte> stream) noexcept {
  if (stream.size() < kHeaderBytes)
    return DecodeError{DecodeError::TooShort, 0, kHeaderBytes, stream.size()};
  if (const auto magic = load_u32(stream.data()); magic != kWireMagic)
    return DecodeError{DecodeError::BadMagic, 0, kWireMagic, magic};
  if (const auto version = load_u8(stream.data() + 4); version != kWireVersion)
    return DecodeError{DecodeError::UnsupportedVersion, 4, kWireVersion, version};
  return WireShape{static_cast<std::uint16_t>(load_u16(stream.data() + 5)),
                   static_cast<std::uint16_t>(load_u16(stream.data() + 7))};
}

/// Refuses a stream whose length is not that of its shape.
[[nodiscard]] constexpr Result<void, DecodeError>
check_length(std::size_t stream_bytes, std::size_t rows, std::size_t cols) noexcept {
  const std::size_t expected = encoded_bytes(rows, cols);
  if (stream_bytes < expected)
    return DecodeError{DecodeError::Truncated, stream_bytes, expected, stream_bytes};
  if (stream_bytes > expected)
    return DecodeError{DecodeError::TrailingBytes, expected, expected, stream_bytes};
  return {};
}

/// What is wrong with the record at a position, whose key is known to differ.
[[nodiscard]] constexpr DecodeError judge_record(std::uint32_t key, std::size_t row,
                                                 std::size_t col, std::size_t rows,
                                                 std::size_t cols) noexcept {
  const auto found_row = static_cast<std::uint16_t>(key & 0xFFFF);
  const auto found_col = static_cast<std::uint16_t>(key >> 16);
  const bool outside = found_row >= rows || found_col >= cols;
  return {outside ? DecodeError::CoordinateOutOfRange : DecodeError::CoordinateMismatch,
          encoded_bytes(row * cols + col, 1),
          0,
          0,
          static_cast<std::uint16_t>(row),
          static_cast<std::uint16_t>(col),
          found_row,
          found_col};
}

/// Refuses the first record that does not name its own position.
[[nodiscard]] constexpr Result<void, DecodeError>
judge_records(const std::byte* records, std::size_t rows, std::size_t cols) noexcept {
  const std::byte* record = records;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t col = 0; col < cols; ++col, record += kRecordBytes)
      if (const auto key = load_u32(record); key != record_key(row, col))
        return judge_record(key, row, col, rows, cols);
  return {};
}

/// Refuses a record that does not name its own position. `records` holds rows * cols of them.
[[nodiscard]] constexpr Result<void, DecodeError>
check_records(const std::byte* records, std::size_t rows, std::size_t cols) noexcept {
#if SIMAAI_MATRIX_USE_LIBRARY
  if (!std::is_constant_evaluated() && library::check_records(records, rows, cols))
    return {};
#endif
  return judge_records(records, rows, cols);
}

/// Refuses a stream that has not the header and the length of a rows x cols matrix.
[[nodiscard]] constexpr Result<void, DecodeError>
check_shape(std::span<const std::byte> stream, std::size_t rows, std::size_t cols) noexcept {
  const auto shape = load_header(stream);
  if (!shape)
    return shape.error();
  if (shape.value().rows != rows || shape.value().cols != cols) {
    DecodeError error{DecodeError::ShapeMismatch, 5};
    error.expected_row = static_cast<std::uint16_t>(rows);
    error.expected_col = static_cast<std::uint16_t>(cols);
    error.found_row = shape.value().rows;
    error.found_col = shape.value().cols;
    return error;
  }
  return check_length(stream.size(), rows, cols);
}

/// Matrices whose elements may be written as plain memory.
template <class M>
concept WritableStorage = PlainElements<M> && requires(M& matrix) {
  { matrix.storage_mut() } -> std::same_as<std::span<std::int8_t, M::kRows * M::kCols>>;
};

} // namespace detail

/// Writes `matrix` to the front of `dst` and says how many bytes that took; bytes behind them keep
/// their values. A `dst` that shares bytes with the matrix stops the program. Reentrant.
template <Elements M>
[[nodiscard]] constexpr Result<std::size_t, EncodeError> encode(const M& matrix,
                                                                std::span<std::byte> dst) {
  static_assert(detail::CheckedDimensions<M::kRows, M::kCols>::kCount >= 1);
  constexpr std::size_t kNeeded = encoded_bytes(M::kRows, M::kCols);
  if (dst.size() < kNeeded)
    return EncodeError{EncodeError::BufferTooSmall, kNeeded, dst.size()};
  if (!std::is_constant_evaluated())
    detail::refuse_overlap("encode", dst.data(), kNeeded, matrix);
  detail::store_header(dst.data(), M::kRows, M::kCols);
  std::byte* record = dst.data() + kHeaderBytes;
#if SIMAAI_MATRIX_USE_LIBRARY
  if constexpr (PlainElements<M>)
    if (!std::is_constant_evaluated()) {
      library::encode_records(detail::plain_view(matrix), record);
      return kNeeded;
    }
#endif
  for (std::size_t row = 0; row < M::kRows; ++row)
    for (std::size_t col = 0; col < M::kCols; ++col, record += kRecordBytes)
      detail::store_record(record, detail::record_key(row, col), matrix.element(row, col));
  return kNeeded;
}

/// Fills `dst` from a stream, or refuses it and leaves `dst` as it was. M is a Matrix or any
/// Elements with set(row, col, value). A `stream` that shares bytes with `dst` stops the program.
template <Elements M>
requires requires(M& matrix, std::int8_t value) { matrix.set(0, 0, value); }
constexpr Result<void, DecodeError> decode_into(std::span<const std::byte> stream, M& dst) {
  static_assert(detail::CheckedDimensions<M::kRows, M::kCols>::kCount >= 1);
  if (const auto checked = detail::check_shape(stream, M::kRows, M::kCols); !checked)
    return checked;
  if (!std::is_constant_evaluated())
    detail::refuse_overlap("decode", dst, stream.data(), stream.size());
  const std::byte* record = stream.data() + kHeaderBytes;
#if SIMAAI_MATRIX_USE_LIBRARY
  if constexpr (detail::WritableStorage<M>)
    if (!std::is_constant_evaluated()) {
      const auto view = detail::plain_view(dst);
      const bool placed =
          library::decode_records(record, {dst.storage_mut().data(), view.rows, view.cols,
                                           view.row_stride, view.col_stride});
      return placed ? Result<void, DecodeError>{}
                    : detail::judge_records(record, M::kRows, M::kCols);
    }
#endif
  if (const auto checked = detail::check_records(record, M::kRows, M::kCols); !checked)
    return checked;
  for (std::size_t row = 0; row < M::kRows; ++row)
    for (std::size_t col = 0; col < M::kCols; ++col, record += kRecordBytes)
      dst.set(row, col, detail::record_value(record));
  return {};
}

} // namespace simaai::kernels::matrix
