// SPDX-License-Identifier: LGPL-2.1-or-later
// TGMX records a vector of elements at a time: as many records in five vectors. Coordinates of a block
// are a constant pattern plus row and column bytes, elements are put between them by byte shuffles.
//
// The including file defines SIMAAI_VECTOR (see transpose.h), kLaneBytes and, for its vector Block:
//   shuffle(bytes, indices)   within lanes of kLaneBytes; 0 for indices from 0x80
//   source(elements, n)       the elements that output vector n may take, kLaneBytes a lane
//   merge(taken)              the elements that were taken from each of five vectors, in order
#pragma once

#include <algorithm>
#include <cstring>

#include <simaai/kernels/matrix/wire.h>

#include "matrix/simd/transpose.h"

namespace simaai::kernels::matrix::detail {
namespace {

inline constexpr std::size_t kBlockRecords = sizeof(Block);
inline constexpr std::size_t kBlockVectors = kRecordBytes;
/// A segment lies in one row and its columns share their high byte.
inline constexpr std::size_t kSegmentCols = 256;

/// One byte a position of a block.
struct BlockBytes {
  alignas(sizeof(Block)) std::uint8_t bytes[kBlockVectors][sizeof(Block)] = {};
};

/// Byte of a record: 0, 1 row; 2, 3 column; 4 element. Where `numbered`, the record's number.
consteval BlockBytes field_bytes(std::size_t field, bool numbered, std::uint8_t value,
                                 std::uint8_t others) {
  BlockBytes result;
  for (std::size_t n = 0; n < kBlockRecords * kRecordBytes; ++n)
    result.bytes[n / sizeof(Block)][n % sizeof(Block)] =
        n % kRecordBytes != field ? others
        : numbered                ? static_cast<std::uint8_t>(n / kRecordBytes)
                                  : value;
  return result;
}

/// Element n goes to its record from byte n % kLaneBytes of a lane; zero elsewhere.
consteval BlockBytes element_places() {
  BlockBytes result = field_bytes(4, true, 0, 0x80);
  for (auto& vector : result.bytes)
    for (std::uint8_t& index : vector)
      index = index == 0x80 ? index : index % kLaneBytes;
  return result;
}

/// Byte n % kLaneBytes of a lane takes element n where that is in the lane; zero elsewhere.
consteval BlockBytes element_sources() {
  BlockBytes result;
  for (auto& vector : result.bytes)
    for (std::uint8_t& index : vector)
      index = 0x80;
  for (std::size_t n = 0; n < kBlockRecords; ++n) {
    const std::size_t at = n * kRecordBytes + 4;
    const std::size_t lane = at % sizeof(Block) / kLaneBytes;
    result.bytes[at / sizeof(Block)][lane * kLaneBytes + n % kLaneBytes] =
        static_cast<std::uint8_t>(at % kLaneBytes);
  }
  return result;
}

inline constexpr BlockBytes kRowLow = field_bytes(0, false, 0xFF, 0);
inline constexpr BlockBytes kRowHigh = field_bytes(1, false, 0xFF, 0);
inline constexpr BlockBytes kColLow = field_bytes(2, true, 0, 0);
inline constexpr BlockBytes kColStep = field_bytes(2, false, kBlockRecords, 0);
inline constexpr BlockBytes kColHigh = field_bytes(3, false, 0xFF, 0);
inline constexpr BlockBytes kKeyMask = field_bytes(4, false, 0, 0xFF);
inline constexpr BlockBytes kElementPlaces = element_places();
inline constexpr BlockBytes kElementSources = element_sources();

SIMAAI_VECTOR inline Block load_block(const void* src) noexcept {
  Block bytes;
  std::memcpy(&bytes, src, sizeof bytes);
  return bytes;
}
SIMAAI_VECTOR inline void store_block(void* dst, Block bytes) noexcept {
  std::memcpy(dst, &bytes, sizeof bytes);
}
SIMAAI_VECTOR inline Block every_byte(std::size_t value) noexcept {
  return Block{} + static_cast<std::uint8_t>(value & 0xFF);
}

/// Coordinates of the block at (row, col); zero where elements go.
struct BlockKeys {
  Block vectors[kBlockVectors];

  SIMAAI_VECTOR BlockKeys(std::size_t row, std::size_t col) noexcept {
#pragma GCC unroll 5
    for (std::size_t n = 0; n < kBlockVectors; ++n)
      vectors[n] = load_block(kColLow.bytes[n]) | (load_block(kRowLow.bytes[n]) & every_byte(row)) |
                   (load_block(kRowHigh.bytes[n]) & every_byte(row >> 8)) |
                   (load_block(kColHigh.bytes[n]) & every_byte(col >> 8));
  }
  /// To the next block of the segment.
  SIMAAI_VECTOR void advance() noexcept {
#pragma GCC unroll 5
    for (std::size_t n = 0; n < kBlockVectors; ++n)
      vectors[n] += load_block(kColStep.bytes[n]);
  }
};

/// Records of `count` columns from (row, col), the first of a segment; elements are adjacent.
SIMAAI_VECTOR inline void encode_segment(const std::int8_t* elements, std::size_t count,
                                         std::size_t row, std::size_t col,
                                         std::byte* dst) noexcept {
  BlockKeys keys(row, col);
  std::size_t n = 0;
  for (; n + kBlockRecords <= count; n += kBlockRecords, keys.advance()) {
    std::byte* out = dst + n * kRecordBytes;
#pragma GCC unroll 5
    for (std::size_t v = 0; v < kBlockVectors; ++v)
      store_block(out + v * sizeof(Block),
                  keys.vectors[v] |
                      shuffle(source(elements + n, v), load_block(kElementPlaces.bytes[v])));
  }
  for (; n < count; ++n)
    store_record(dst + n * kRecordBytes, record_key(row, col + n), elements[n]);
}

/// True where the records name their own positions.
SIMAAI_VECTOR inline bool check_segment(const std::byte* src, std::size_t count, std::size_t row,
                                        std::size_t col) noexcept {
  BlockKeys keys(row, col);
  Block differing[kBlockVectors] = {};
  std::size_t n = 0;
  for (; n + kBlockRecords <= count; n += kBlockRecords, keys.advance())
#pragma GCC unroll 5
    for (std::size_t v = 0; v < kBlockVectors; ++v)
      differing[v] |= load_block(src + n * kRecordBytes + v * sizeof(Block)) ^ keys.vectors[v];
  Block wrong{};
#pragma GCC unroll 5
  for (std::size_t v = 0; v < kBlockVectors; ++v)
    wrong |= differing[v] & load_block(kKeyMask.bytes[v]);
  std::uint64_t words[sizeof(Block) / 8];
  std::memcpy(words, &wrong, sizeof words);
  std::uint64_t any = 0;
  for (const std::uint64_t word : words)
    any |= word;
  bool right = any == 0;
  for (; n < count; ++n)
    right = right && load_u32(src + n * kRecordBytes) == record_key(row, col + n);
  return right;
}

/// Elements of `count` records, made adjacent.
SIMAAI_VECTOR inline void decode_segment(const std::byte* src, std::size_t count,
                                         std::int8_t* elements) noexcept {
  std::size_t n = 0;
  for (; n + kBlockRecords <= count; n += kBlockRecords) {
    Block taken[kBlockVectors];
#pragma GCC unroll 5
    for (std::size_t v = 0; v < kBlockVectors; ++v)
      taken[v] = shuffle(load_block(src + n * kRecordBytes + v * sizeof(Block)),
                         load_block(kElementSources.bytes[v]));
    store_block(elements + n, merge(taken));
  }
  for (; n < count; ++n)
    elements[n] = record_value(src + n * kRecordBytes);
}

inline constexpr std::size_t kPanelRows = 16;

SIMAAI_VECTOR inline void encode_records(const PlainView& a, std::byte* records) noexcept {
  alignas(64) std::int8_t panel[kPanelRows][kSegmentCols];
  const bool by_rows = a.col_stride == 1;
  for (std::size_t row = 0; row < a.rows; row += kPanelRows)
    for (std::size_t col = 0; col < a.cols; col += kSegmentCols) {
      const std::size_t rows = std::min(kPanelRows, a.rows - row);
      const std::size_t cols = std::min(kSegmentCols, a.cols - col);
      if (!by_rows)
        transpose_part(a.data + col * a.col_stride + row, a.col_stride, cols, rows, panel[0],
                       kSegmentCols);
      for (std::size_t n = 0; n < rows; ++n)
        encode_segment(by_rows ? a.data + (row + n) * a.row_stride + col : panel[n], cols, row + n,
                       col, records + ((row + n) * a.cols + col) * kRecordBytes);
    }
}

SIMAAI_VECTOR inline bool check_all_records(const std::byte* records, std::size_t rows,
                                            std::size_t cols) noexcept {
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t col = 0; col < cols; col += kSegmentCols)
      if (!check_segment(records + (row * cols + col) * kRecordBytes,
                         std::min(kSegmentCols, cols - col), row, col))
        return false;
  return true;
}

SIMAAI_VECTOR inline void decode_records(const std::byte* records, const PlainTarget& to) noexcept {
  alignas(64) std::int8_t panel[kPanelRows][kSegmentCols];
  const bool by_rows = to.col_stride == 1;
  for (std::size_t row = 0; row < to.rows; row += kPanelRows)
    for (std::size_t col = 0; col < to.cols; col += kSegmentCols) {
      const std::size_t rows = std::min(kPanelRows, to.rows - row);
      const std::size_t cols = std::min(kSegmentCols, to.cols - col);
      for (std::size_t n = 0; n < rows; ++n)
        decode_segment(records + ((row + n) * to.cols + col) * kRecordBytes, cols,
                       by_rows ? to.data + (row + n) * to.row_stride + col : panel[n]);
      if (!by_rows)
        transpose_part(panel[0], kSegmentCols, rows, cols, to.data + col * to.col_stride + row,
                       to.col_stride);
    }
}

} // namespace
} // namespace simaai::kernels::matrix::detail
