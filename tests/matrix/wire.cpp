// SPDX-License-Identifier: LGPL-2.1-or-later
// The wire form: the bytes that are written, and each refusal of the reader in its order.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include <simaai/kernels/matrix/tgmx_file.h>

#include "support.h"

using namespace matrix_test;

namespace {

// (1 -2 3; 4 5 -6) byte by byte, typed from the format and not from the code.
constexpr std::array<std::uint8_t, 39> kGolden = {
    0x54, 0x47, 0x4D, 0x58, 0x01, 0x02, 0x00, 0x03, 0x00, // header
    0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x01, 0x00, 0xFE, 0x00, 0x00, 0x02, 0x00, 0x03,
    0x01, 0x00, 0x00, 0x00, 0x04, 0x01, 0x00, 0x01, 0x00, 0x05, 0x01, 0x00, 0x02, 0x00, 0xFA};

std::vector<std::byte> golden() { return bytes({kGolden.begin(), kGolden.end()}); }

void put(std::vector<std::byte>& stream, std::size_t offset, unsigned value) {
  stream[offset] = static_cast<std::byte>(value);
}

/// Expects both fixed orders and both run-time orders to refuse `stream` for `code`, and every
/// destination to keep its elements.
DecodeError expect_refused(const std::vector<std::byte>& stream, DecodeError::Code code) {
  Matrix<2, 3, RowMajor> by_rows({{9, 8, 7}, {6, 5, 4}});
  auto by_cols = Matrix<2, 3, ColMajor>::relocated(by_rows);
  const auto kept = by_rows;
  const auto first = decode_into(stream, by_rows);
  const auto second = decode_into(stream, by_cols);
  EXPECT_FALSE(first.ok());
  EXPECT_FALSE(second.ok());
  EXPECT_EQ(first.error().code, code);
  EXPECT_EQ(first.error(), second.error());
  EXPECT_EQ(by_rows, kept);
  EXPECT_TRUE(same_elements(by_cols, kept));
  const auto value = Matrix<2, 3>::decode(stream);
  EXPECT_FALSE(value.ok());
  EXPECT_EQ(value.error(), first.error());
  for (const DynOrder order : kOrders) {
    DynMatrix dyn = DynMatrix::relocated(DynMatrixRef(kept), order);
    const auto refused = dyn.decode_into(stream);
    EXPECT_FALSE(refused.ok());
    EXPECT_EQ(refused.error(), first.error());
    const DynMatrix untouched = DynMatrix::relocated(DynMatrixRef(kept), order);
    EXPECT_TRUE(std::ranges::equal(dyn.storage(), untouched.storage()));
  }
  return first.error();
}

TEST(Wire, WorkedExampleByteByByte) {
  constexpr Matrix<2, 3> a({{1, -2, 3}, {4, 5, -6}});
  static_assert(encoded_bytes(2, 3) == 39);
  std::array<std::byte, 39> stream{};
  const auto written = a.encode(stream);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(written.value(), 39U);
  EXPECT_TRUE(std::ranges::equal(stream, golden()));
  EXPECT_TRUE((Matrix<2, 3, ColMajor>::relocated(a).encode(stream).ok()));
  EXPECT_TRUE(std::ranges::equal(stream, golden()));
}

TEST(Wire, WorkedExampleReadsIntoBothOrders) {
  constexpr Matrix<2, 3> a({{1, -2, 3}, {4, 5, -6}});
  const auto by_rows = Matrix<2, 3, RowMajor>::decode(golden());
  const auto by_cols = Matrix<2, 3, ColMajor>::decode(golden());
  ASSERT_TRUE(by_rows.ok() && by_cols.ok());
  EXPECT_EQ(by_rows.value(), a);
  EXPECT_TRUE(same_elements(by_cols.value(), a));
  std::array<std::byte, 39> stream{};
  EXPECT_TRUE(by_cols.value().encode(stream).ok());
  EXPECT_TRUE(std::ranges::equal(stream, golden()));
}

TEST(Wire, TooShort) {
  for (std::size_t length = 0; length < kHeaderBytes; ++length) {
    auto stream = golden();
    stream.resize(length);
    const auto error = expect_refused(stream, DecodeError::TooShort);
    EXPECT_EQ(error.expected, 9U);
    EXPECT_EQ(error.found, length);
  }
}

TEST(Wire, BadMagic) {
  for (std::size_t n = 0; n < 4; ++n) {
    auto stream = golden();
    put(stream, n, 0x20);
    expect_refused(stream, DecodeError::BadMagic);
  }
}

TEST(Wire, UnsupportedVersion) {
  for (const unsigned version : {0U, 2U, 255U}) {
    auto stream = golden();
    put(stream, 4, version);
    EXPECT_EQ(expect_refused(stream, DecodeError::UnsupportedVersion).found, version);
  }
}

TEST(Wire, ShapeMismatch) {
  for (const auto& [offset, value] : {std::pair{5U, 3U}, {6U, 1U}, {7U, 2U}, {8U, 1U}, {5U, 0U}}) {
    auto stream = golden();
    put(stream, offset, value);
    const auto error = expect_refused(stream, DecodeError::ShapeMismatch);
    EXPECT_EQ(error.expected_row, 2);
    EXPECT_EQ(error.expected_col, 3);
  }
  auto transposed = golden();
  put(transposed, 5, 3);
  put(transposed, 7, 2);
  const auto error = expect_refused(transposed, DecodeError::ShapeMismatch);
  EXPECT_EQ(error.found_row, 3);
  EXPECT_EQ(error.found_col, 2);
}

TEST(Wire, Truncated) {
  for (std::size_t length = kHeaderBytes; length < kGolden.size(); ++length) {
    auto stream = golden();
    stream.resize(length);
    const auto error = expect_refused(stream, DecodeError::Truncated);
    EXPECT_EQ(error.expected, 39U);
    EXPECT_EQ(error.found, length);
  }
}

TEST(Wire, TrailingBytes) {
  for (const std::size_t extra : {1U, 5U, 100U}) {
    auto stream = golden();
    stream.resize(kGolden.size() + extra);
    EXPECT_EQ(expect_refused(stream, DecodeError::TrailingBytes).found, 39 + extra);
  }
}

TEST(Wire, CoordinateOutOfRange) {
  for (const auto& [offset, value] :
       {std::pair{9U, 2U}, {10U, 1U}, {11U, 3U}, {12U, 255U}, {34U, 2U}, {36U, 3U}}) {
    auto stream = golden();
    put(stream, offset, value);
    const auto error = expect_refused(stream, DecodeError::CoordinateOutOfRange);
    EXPECT_EQ(error.offset, (offset - 9) / 5 * 5 + 9);
  }
}

TEST(Wire, CoordinateMismatch) {
  auto swapped = golden();
  std::swap_ranges(swapped.begin() + 14, swapped.begin() + 19, swapped.begin() + 29);
  const auto error = expect_refused(swapped, DecodeError::CoordinateMismatch);
  EXPECT_EQ(error.offset, 14U);
  EXPECT_EQ(error.expected_row, 0);
  EXPECT_EQ(error.expected_col, 1);
  EXPECT_EQ(error.found_row, 1);
  EXPECT_EQ(error.found_col, 1);
  auto repeated = golden();
  put(repeated, 36, 1); // the last record names the one before it
  expect_refused(repeated, DecodeError::CoordinateMismatch);
}

TEST(Wire, RefusalsApplyInTheirOrder) {
  // All faults at once, then repaired one by one.
  std::vector<std::byte> stream = golden();
  put(stream, 0, 0);
  put(stream, 4, 9);
  put(stream, 5, 7);
  put(stream, 9, 9);
  stream.resize(8);
  expect_refused(stream, DecodeError::TooShort);
  stream.resize(30);
  expect_refused(stream, DecodeError::BadMagic);
  put(stream, 0, 'T');
  expect_refused(stream, DecodeError::UnsupportedVersion);
  put(stream, 4, 1);
  stream[8] = std::byte{0};
  expect_refused(stream, DecodeError::ShapeMismatch);
  put(stream, 5, 2);
  expect_refused(stream, DecodeError::Truncated);
  stream = golden();
  put(stream, 9, 9);
  stream.resize(40);
  expect_refused(stream, DecodeError::TrailingBytes);
  stream.resize(39);
  put(stream, 11, 1); // row 9 is outside and column 1 is another position
  expect_refused(stream, DecodeError::CoordinateOutOfRange);
  put(stream, 9, 1);
  expect_refused(stream, DecodeError::CoordinateMismatch);
  put(stream, 9, 0);
  put(stream, 11, 0);
  EXPECT_TRUE((Matrix<2, 3>::decode(stream).ok()));
}

TEST(Wire, BufferTooSmallNamesBothSizesAndWritesNothing) {
  constexpr Matrix<2, 3> a({{1, -2, 3}, {4, 5, -6}});
  for (std::size_t length = 0; length < kGolden.size(); ++length) {
    std::vector<std::byte> dst(length, std::byte{0xA5});
    const auto refused = a.encode(dst);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error(), (EncodeError{EncodeError::BufferTooSmall, 39, length}));
    const auto dyn = DynMatrixRef(a).encode(dst);
    ASSERT_FALSE(dyn.ok());
    EXPECT_EQ(dyn.error(), refused.error());
    EXPECT_EQ(dst, std::vector<std::byte>(length, std::byte{0xA5}));
  }
}

TEST(Wire, LargerBufferKeepsItsTail) {
  constexpr Matrix<2, 3> a({{1, -2, 3}, {4, 5, -6}});
  std::vector<std::byte> expected = golden();
  expected.resize(60, std::byte{0xA5});
  for (const bool fixed : {true, false}) {
    std::vector<std::byte> dst(60, std::byte{0xA5});
    const auto written = fixed ? a.encode(dst) : DynMatrixRef(a).encode(dst);
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(written.value(), 39U);
    EXPECT_EQ(dst, expected);
  }
}

TEST(Wire, ForeignElementsWriteTheSameBytes) {
  std::vector<std::byte> stream(encoded_bytes(7, 300));
  ASSERT_TRUE(encode(Pattern<7, 300>{}, stream).ok());
  EXPECT_EQ(stream, bytes(reference::wire(Pattern<7, 300>::rows())));
}

TEST(Wire, RunTimeShapesOutsideTheSpaceAreShapeMismatch) {
  for (const auto& [rows, cols] :
       {std::pair{0U, 3U}, {2U, 0U}, {0U, 0U}, {11173U, 3U}, {2U, 11173U}, {65535U, 65535U}}) {
    auto stream = golden();
    put(stream, 5, rows & 255U);
    put(stream, 6, rows >> 8);
    put(stream, 7, cols & 255U);
    put(stream, 8, cols >> 8);
    const auto refused = DynMatrix::decode(stream, DynOrder::RowMajor);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, DecodeError::ShapeMismatch);
    EXPECT_EQ(refused.error().found_row, rows);
    EXPECT_EQ(refused.error().found_col, cols);
    EXPECT_EQ(peek_shape(stream).error(), refused.error());
  }
  EXPECT_EQ(peek_shape(golden()).value(), (WireShape{2, 3}));
  auto large = golden();
  put(large, 5, 0xA4);
  put(large, 6, 0x2B); // 11172 rows: in the space, but the records are missing
  EXPECT_EQ(DynMatrix::decode(large, DynOrder::ColMajor).error().code, DecodeError::Truncated);
}

TEST(Wire, LongestRowsAndColumnsRoundTrip) {
  for (const bool wide : {true, false}) {
    const reference::Rows rows =
        reference::Random(41).rows(wide ? 2 : kCoordSpace, wide ? kCoordSpace : 2);
    const auto stream = bytes(reference::wire(rows));
    for (const DynOrder order : kOrders) {
      const auto matrix = DynMatrix::decode(stream, order);
      ASSERT_TRUE(matrix.ok());
      std::vector<std::byte> again(stream.size());
      ASSERT_TRUE(matrix.value().encode(again).ok());
      EXPECT_EQ(again, stream);
    }
  }
}

TEST(Wire, RandomShapesOnEachInstructionSet) {
  on_each_backend([] {
    reference::Random random(43);
    for (int n = 0; n < 60; ++n) {
      const reference::Rows rows =
          random.rows(random.extent(40), random.extent(n % 3 == 0 ? 600 : 60));
      const auto stream = bytes(reference::wire(rows));
      for (const DynOrder order : kOrders) {
        const auto matrix = DynMatrix::decode(stream, order);
        ASSERT_TRUE(matrix.ok());
        const DynMatrix expected = dyn_filled(rows, order);
        ASSERT_TRUE(std::ranges::equal(matrix.value().storage(), expected.storage()));
        std::vector<std::byte> again(stream.size() + 1, std::byte{0xA5});
        ASSERT_TRUE(expected.encode(again).ok());
        ASSERT_EQ(again.back(), std::byte{0xA5});
        again.pop_back();
        ASSERT_EQ(again, stream);
      }
    }
  });
}

TEST(Wire, ConstantExpressionsWriteAndReadToo) {
  static constexpr auto kStream = [] {
    std::array<std::byte, 39> stream{};
    (void)Matrix<2, 3, ColMajor>::relocated(Matrix<2, 3>({{1, -2, 3}, {4, 5, -6}})).encode(stream);
    return stream;
  }();
  static_assert(Matrix<2, 3>::decode(kStream).value().get(1, 2) == -6);
  static_assert(Matrix<3, 2>::decode(kStream).error().code == DecodeError::ShapeMismatch);
  EXPECT_TRUE(std::ranges::equal(kStream, golden()));
}

TEST(Wire, FilesHoldAMatrixAndSayWhyNot) {
  std::string path = ::testing::TempDir() + "simaai-wire-XXXXXX";
  const int file = mkstemp(path.data());
  ASSERT_GE(file, 0);
  close(file);
  const auto code_of = [&] { return read_tgmx(path, DynOrder::RowMajor).error(); };
  EXPECT_EQ(code_of().code, FileError::Refused);
  EXPECT_EQ(code_of().refusal, (DecodeError{DecodeError::TooShort, 0, 9, 0}));
  const reference::Rows rows = reference::Random(46).rows(5, 7);
  const DynMatrix by_cols = dyn_filled(rows, DynOrder::ColMajor);
  ASSERT_TRUE(write_tgmx(path, by_cols).ok());
  for (const DynOrder order : kOrders) {
    const auto read = read_tgmx(path, order);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read.value().order(), order);
    const DynMatrix expected = dyn_filled(rows, order);
    EXPECT_TRUE(std::ranges::equal(read.value().storage(), expected.storage()));
  }
  std::remove(path.c_str());
  EXPECT_EQ(code_of().code, FileError::CannotOpen);
  EXPECT_EQ(code_of().system_error, ENOENT);
  path = "/dev";
  EXPECT_EQ(code_of().code, FileError::CannotRead);
  EXPECT_EQ(code_of().system_error, EISDIR);
  const auto full = write_tgmx("/dev/full", by_cols);
  EXPECT_EQ(full.error().code, FileError::CannotWrite);
  EXPECT_EQ(full.error().system_error, ENOSPC);
  EXPECT_EQ(full.error().message(), "cannot be written: No space left on device");
}

TEST(Wire, MovedMatrixLeavesAnEmptyOne) {
  const reference::Rows rows = reference::Random(44).rows(3, 4);
  DynMatrix first = dyn_filled(rows, DynOrder::ColMajor);
  DynMatrix second = std::move(first);
  // What is left states no element that it does not hold.
  EXPECT_EQ(first.rows() * first.cols(), first.storage().size()); // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(first.rows(), 0U);
  EXPECT_FALSE(first.path_of(0, 0).has_value());
  first = std::move(second);
  EXPECT_EQ(second.cols(), 0U); // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(first.get(2, 3), rows[2][3]);
}

// A stream of 0 x 0 is one that every reader refuses: writing it would lose the matrix silently.
TEST(WireDeathTest, WhatWasMovedFromIsNoOperand) {
  DynMatrix left = dyn_filled(reference::Random(45).rows(3, 4), DynOrder::RowMajor);
  const DynMatrix kept = std::move(left);
  std::vector<std::byte> stream(encoded_bytes(3, 4));
  const char* const nothing = "position \\(0, 0\\) is outside a 0 x 0 matrix";
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_DEATH((void)left.encode(stream), nothing);
  EXPECT_DEATH((void)DynMatrixRef(left).encode({}), nothing);
  EXPECT_DEATH((void)left.decode_into(stream), nothing);
  EXPECT_DEATH((void)DynMatrix::relocated(left, DynOrder::ColMajor), nothing);
  EXPECT_DEATH((void)write_tgmx("/dev/null", left), nothing);
  EXPECT_DEATH(gemv(left, {}, {}), nothing);
  EXPECT_DEATH(gemv_requantized(left, {}, Requant(1, 1), {}), nothing);
  EXPECT_DEATH(matmul(left, left, {}, DynOrder::RowMajor), nothing);
  EXPECT_DEATH(matmul_requantized(left, left, Requant(1, 1), {}, DynOrder::RowMajor), nothing);
  left = kept;
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_TRUE(left.encode(stream).ok());
}

void expect_damage_is_found(std::size_t row_count, std::size_t col_count) {
  // Any single changed byte outside the values is refused; in a value it changes that element only.
  reference::Random random(42);
  const reference::Rows rows = random.rows(row_count, col_count);
  const auto stream = bytes(reference::wire(rows));
  for (std::size_t offset = 0; offset < stream.size(); ++offset) {
    auto damaged = stream;
    damaged[offset] ^= static_cast<std::byte>(1 + random.bits() % 255);
    const auto result = DynMatrix::decode(damaged, DynOrder::ColMajor);
    const bool is_value = offset >= kHeaderBytes && (offset - kHeaderBytes) % kRecordBytes == 4;
    ASSERT_EQ(result.ok(), is_value) << "byte " << offset;
    if (!is_value)
      continue;
    const std::size_t record = (offset - kHeaderBytes) / kRecordBytes;
    for (std::size_t n = 0; n < row_count * col_count; ++n)
      ASSERT_EQ(result.value().get(n / col_count, n % col_count) ==
                    rows[n / col_count][n % col_count],
                n != record);
  }
}

TEST(Wire, RandomDamageIsRefusedOrHarmless) {
  on_each_backend([] {
    expect_damage_is_found(9, 14);
    expect_damage_is_found(3, 37); // two blocks of sixteen and a rest
  });
}

TEST(WireDeathTest, OverlapStopsTheProgram) {
  static std::array<std::byte, 100> memory{};
  const auto* elements = reinterpret_cast<const std::int8_t*>(memory.data() + 38);
  const MatrixRef<2, 3> inside(std::span<const std::int8_t, 6>(elements, 6));
  EXPECT_DEATH((void)inside.encode(memory), "encode: the output \\(39 bytes\\) overlaps");
  const MatrixRef<2, 3> behind(std::span<const std::int8_t, 6>(elements + 1, 6));
  EXPECT_TRUE(behind.encode(memory).ok()); // adjacent ranges are apart
  // What is read and what is written change places where a stream is read.
  union {
    std::array<std::byte, 39> stream;
    Matrix<2, 3> matrix;
  } both{};
  (void)Matrix<2, 3>({{1, -2, 3}, {4, 5, -6}}).encode(both.stream);
  EXPECT_DEATH((void)decode_into(both.stream, both.matrix),
               "decode: the output \\(6 bytes\\) overlaps an operand \\(39\\)");
}

} // namespace
