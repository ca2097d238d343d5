// SPDX-License-Identifier: LGPL-2.1-or-later
// A second definition of products, rescale and wire bytes for the matrix suites: rows of integers,
// 64-bit sums, floor division by a power of two. Uses nothing of the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace reference {

__extension__ typedef __int128 Wide;

using Row = std::vector<int>;
using Rows = std::vector<Row>;

/// Seeded values that do not depend on the standard library's distributions.
class Random {
public:
  explicit Random(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t bits() { return static_cast<std::uint32_t>(engine_()); }
  std::int8_t element() { return static_cast<std::int8_t>(bits() >> 24); }
  std::int32_t word() { return static_cast<std::int32_t>(bits()); }
  /// 1 to `limit`.
  std::size_t extent(std::size_t limit) { return 1 + bits() % limit; }
  Rows rows(std::size_t count, std::size_t cols) {
    Rows result(count, Row(cols));
    for (Row& row : result)
      for (int& value : row)
        value = element();
    return result;
  }

private:
  std::mt19937 engine_;
};

/// a * b for operands given as rows.
inline std::vector<std::vector<std::int64_t>> product(const Rows& a, const Rows& b) {
  std::vector<std::vector<std::int64_t>> result;
  for (const Row& row : a) {
    std::vector<std::int64_t> sums(b.front().size(), 0);
    for (std::size_t k = 0; k < b.size(); ++k)
      for (std::size_t col = 0; col < sums.size(); ++col)
        sums[col] += std::int64_t{row[k]} * b[k][col];
    result.push_back(sums);
  }
  return result;
}

/// A vector as a matrix of one column.
inline Rows column(const Row& values) {
  Rows result;
  for (const int value : values)
    result.push_back({value});
  return result;
}

/// floor(value / 2^shift) by division and remainder, in 128 bits.
inline Wide floor_divide(Wide value, unsigned shift) {
  const Wide divisor = static_cast<Wide>(1) << shift;
  Wide quotient = value / divisor;
  if (value % divisor != 0 && value < 0)
    --quotient;
  return quotient;
}

/// floor((acc * multiplier) / 2^shift + 1/2) as floor((2 * acc * multiplier + 2^shift) / 2^(shift+1)),
/// clamped; the product alone for shift 0.
inline int requantized(std::int64_t acc, std::int32_t multiplier, unsigned shift) {
  const Wide value = static_cast<Wide>(acc) * multiplier;
  const Wide scaled =
      shift == 0 ? value : floor_divide(2 * value + (static_cast<Wide>(1) << shift), shift + 1);
  if (scaled < -128)
    return -128;
  return scaled > 127 ? 127 : static_cast<int>(scaled);
}

inline void append_u16(std::vector<std::uint8_t>& bytes, std::size_t value) {
  bytes.push_back(static_cast<std::uint8_t>(value % 256));
  bytes.push_back(static_cast<std::uint8_t>(value / 256));
}

/// TGMX bytes of a matrix given as rows.
inline std::vector<std::uint8_t> wire(const Rows& rows) {
  std::vector<std::uint8_t> bytes = {'T', 'G', 'M', 'X', 1};
  append_u16(bytes, rows.size());
  append_u16(bytes, rows.front().size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t col = 0; col < rows[row].size(); ++col) {
      append_u16(bytes, row);
      append_u16(bytes, col);
      bytes.push_back(static_cast<std::uint8_t>(rows[row][col] & 0xFF));
    }
  return bytes;
}

} // namespace reference
