// SPDX-License-Identifier: LGPL-2.1-or-later
// TGMX records a vector of elements at a time: as many records in five vectors. Coordinates of a block
// are a constant pattern plus row and column bytes, elements are put between them by byte shuffles.
//
// The including file defines SIMAAI_VECTOR (see transpose.h), kLaneBytes and, for its vector Block:
//   shuffle(bytes, indices)   within lanes of kLaneBytes; 0 for indices from 0x80
//   place(keys, bytes, indices)   the same on top of keys, which are 0 there
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
/// Lines are asked for ahead of stores: records do not begin at lines, so most stores touch two.
inline constexpr std::size_t kAheadBytes = 640;

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
inline constexpr BlockBytes kRowStep = field_bytes(0, false, 1, 0);
inline constexpr BlockBytes kRowHigh = field_bytes(1, false, 0xFF, 0);
inline constexpr BlockBytes kColLow = field_bytes(2, true, 0, 0);
inline constexpr BlockBytes kColMask = field_bytes(2, false, 0xFF, 0);
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

inline constexpr std::size_t kPanelRows = 16; ///< 256 is a multiple: rows share their high byte

/// Coordinates of a segment's blocks, for the rows of a panel in turn; zero where elements go. They lie
/// in memory, since registers that were advanced would have to go there at every block.
class SegmentKeys {
public:
  SIMAAI_VECTOR SegmentKeys(std::size_t row, std::size_t col, std::size_t cols) noexcept {
    for (std::size_t block = 0; block < cols / kBlockRecords; ++block)
#pragma GCC unroll 5
      for (std::size_t n = 0; n < kBlockVectors; ++n)
        first_row_[block][n] =
            (load_block(kColLow.bytes[n]) +
             (load_block(kColMask.bytes[n]) & every_byte(block * kBlockRecords))) |
            (load_block(kRowLow.bytes[n]) & every_byte(row)) |
            (load_block(kRowHigh.bytes[n]) & every_byte(row >> 8)) |
            (load_block(kColHigh.bytes[n]) & every_byte(col >> 8));
  }
  SIMAAI_VECTOR Block vector(std::size_t block, std::size_t n) const noexcept {
    return first_row_[block][n] + rows_[n];
  }
  SIMAAI_VECTOR void next_row() noexcept {
#pragma GCC unroll 5
    for (std::size_t n = 0; n < kBlockVectors; ++n)
      rows_[n] += load_block(kRowStep.bytes[n]);
  }

private:
  Block first_row_[kSegmentCols / kBlockRecords][kBlockVectors];
  Block rows_[kBlockVectors] = {};
};

/// Records of `count` columns from (row, col), the first of a segment; elements are adjacent.
SIMAAI_VECTOR inline void encode_segment(const std::int8_t* elements, std::size_t count,
                                         std::size_t row, std::size_t col, const SegmentKeys& keys,
                                         std::byte* dst) noexcept {
  std::size_t n = 0;
  for (; n + kBlockRecords <= count; n += kBlockRecords) {
    std::byte* out = dst + n * kRecordBytes;
#pragma GCC unroll 5
    for (std::size_t v = 0; v < kBlockVectors; ++v) {
      __builtin_prefetch(out + v * sizeof(Block) + kAheadBytes, 1);
      store_block(out + v * sizeof(Block),
                  place(keys.vector(n / kBlockRecords, v), source(elements + n, v),
                        load_block(kElementPlaces.bytes[v])));
    }
  }
  for (; n < count; ++n)
    store_record(dst + n * kRecordBytes, record_key(row, col + n), elements[n]);
}

SIMAAI_VECTOR inline bool is_zero(Block bytes) noexcept {
  std::uint64_t words[sizeof(Block) / 8];
  std::memcpy(words, &bytes, sizeof words);
  std::uint64_t any = 0;
  for (const std::uint64_t word : words)
    any |= word;
  return any == 0;
}

/// What reading a segment does. Reading once for both saves half the time beyond the first cache.
struct Check {
  static constexpr bool kChecks = true, kPlaces = false;
};
struct Place {
  static constexpr bool kChecks = false, kPlaces = true;
};
struct CheckAndPlace {
  static constexpr bool kChecks = true, kPlaces = true;
};

/// Whether `count` records from (row, col), the first of a segment, name their own positions; their
/// elements, made adjacent.
template <class Work>
SIMAAI_VECTOR inline bool read_segment(const std::byte* src, std::size_t count, std::size_t row,
                                       std::size_t col, const SegmentKeys& keys,
                                       std::int8_t* elements) noexcept {
  Block differing[kBlockVectors] = {};
  std::size_t n = 0;
  for (; n + kBlockRecords <= count; n += kBlockRecords) {
    Block taken[kBlockVectors];
#pragma GCC unroll 5
    for (std::size_t v = 0; v < kBlockVectors; ++v) {
      const Block records = load_block(src + n * kRecordBytes + v * sizeof(Block));
      if constexpr (Work::kChecks)
        differing[v] |= records ^ keys.vector(n / kBlockRecords, v);
      if constexpr (Work::kPlaces)
        taken[v] = shuffle(records, load_block(kElementSources.bytes[v]));
    }
    if constexpr (Work::kPlaces)
      store_block(elements + n, merge(taken));
  }
  Block wrong{};
#pragma GCC unroll 5
  for (std::size_t v = 0; v < kBlockVectors; ++v)
    wrong |= differing[v] & load_block(kKeyMask.bytes[v]);
  bool right = is_zero(wrong);
  for (; n < count; ++n) {
    const std::byte* record = src + n * kRecordBytes;
    if constexpr (Work::kChecks)
      right = right && load_u32(record) == record_key(row, col + n);
    if constexpr (Work::kPlaces)
      elements[n] = record_value(record);
  }
  return right;
}

/// Fetches what the n-th row of a panel of the next rows is turned from.
SIMAAI_VECTOR inline void fetch_columns(const std::int8_t* src, std::size_t stride,
                                        std::size_t count, std::size_t n) noexcept {
  constexpr std::size_t kShare = kSegmentCols / kPanelRows;
  for (std::size_t col = n * kShare; col < std::min(count, (n + 1) * kShare); ++col) {
    __builtin_prefetch(src + col * stride);
    asm volatile("" : : "r"(col)); // compilers take a loop over prefetches alone for empty
  }
}

SIMAAI_VECTOR inline void encode_records(const PlainView& a, std::byte* records) noexcept {
  alignas(64) std::int8_t panel[kPanelRows][kSegmentCols];
  const bool by_rows = a.col_stride == 1;
  for (std::size_t row = 0; row < a.rows; row += kPanelRows)
    for (std::size_t col = 0; col < a.cols; col += kSegmentCols) {
      const std::size_t rows = std::min(kPanelRows, a.rows - row);
      const std::size_t cols = std::min(kSegmentCols, a.cols - col);
      const std::int8_t* src = a.data + row * a.row_stride + col * a.col_stride;
      if (!by_rows)
        transpose_part(src, a.col_stride, cols, rows, panel[0], kSegmentCols);
      SegmentKeys keys(row, col, cols);
      for (std::size_t n = 0; n < rows; ++n, keys.next_row()) {
        if (!by_rows)
          fetch_columns(src + kPanelRows, a.col_stride, cols, n);
        encode_segment(by_rows ? src + n * a.row_stride : panel[n], cols, row + n, col, keys,
                       records + ((row + n) * a.cols + col) * kRecordBytes);
      }
    }
}

/// Reads all records; `elements` and `stride` say where those of (row, col) go, rows `stride` apart.
template <class Work>
SIMAAI_VECTOR inline bool read_records(const std::byte* records, std::size_t rows, std::size_t cols,
                                       std::int8_t* elements, std::size_t stride) noexcept {
  for (std::size_t row = 0; row < rows; row += kPanelRows)
    for (std::size_t col = 0; col < cols; col += kSegmentCols) {
      const std::size_t count = std::min(kSegmentCols, cols - col);
      SegmentKeys keys(row, col, count);
      const std::size_t end = std::min(row + kPanelRows, rows);
      for (std::size_t n = row; n < end; ++n, keys.next_row())
        if (!read_segment<Work>(records + (n * cols + col) * kRecordBytes, count, n, col, keys,
                                Work::kPlaces ? elements + n * stride + col : nullptr))
          return false;
    }
  return true;
}

SIMAAI_VECTOR inline bool check_all_records(const std::byte* records, std::size_t rows,
                                            std::size_t cols) noexcept {
  return read_records<Check>(records, rows, cols, nullptr, 0);
}

/// Elements of a small matrix wait here until all records are known to be right.
inline constexpr std::size_t kMostStaged = std::size_t{16} << 10;

SIMAAI_VECTOR inline bool decode_staged(const std::byte* records, const PlainTarget& to) noexcept {
  alignas(64) std::int8_t staged[kMostStaged];
  if (!read_records<CheckAndPlace>(records, to.rows, to.cols, staged, to.cols))
    return false;
  if (to.col_stride != 1) {
    transpose_part(staged, to.cols, to.rows, to.cols, to.data, to.col_stride);
    return true;
  }
  for (std::size_t row = 0; row < to.rows; ++row)
    std::memcpy(to.data + row * to.row_stride, staged + row * to.cols, to.cols);
  return true;
}

/// Columns of a large matrix, whose records are right.
SIMAAI_VECTOR inline void decode_columns(const std::byte* records, const PlainTarget& to) noexcept {
  alignas(64) std::int8_t panel[kPanelRows][kSegmentCols];
  for (std::size_t row = 0; row < to.rows; row += kPanelRows)
    for (std::size_t col = 0; col < to.cols; col += kSegmentCols) {
      const std::size_t rows = std::min(kPanelRows, to.rows - row);
      const std::size_t cols = std::min(kSegmentCols, to.cols - col);
      const SegmentKeys keys(row, col, cols);
      for (std::size_t n = 0; n < rows; ++n)
        read_segment<Place>(records + ((row + n) * to.cols + col) * kRecordBytes, cols, row + n,
                            col, keys, panel[n]);
      transpose_part(panel[0], kSegmentCols, rows, cols, to.data + col * to.col_stride + row,
                     to.col_stride);
    }
}

SIMAAI_VECTOR inline bool decode_records(const std::byte* records, const PlainTarget& to) noexcept {
  if (to.rows * to.cols <= kMostStaged)
    return decode_staged(records, to);
  if (!check_all_records(records, to.rows, to.cols))
    return false;
  if (to.col_stride == 1)
    return read_records<Place>(records, to.rows, to.cols, to.data, to.row_stride);
  decode_columns(records, to);
  return true;
}

} // namespace
} // namespace simaai::kernels::matrix::detail
