// SPDX-License-Identifier: LGPL-2.1-or-later
// Matrices of the tests as rows of integers, their TGMX files, and products in 64 bits.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "matrix/reference.h"
#include "oracle/tensor.h"

namespace simaai::test {

/// A file that is removed with the object.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::vector<std::uint8_t>& content) {
    const char* folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr ? folder : "/tmp") + "/simaai-matrix-test-XXXXXX";
    const int file = mkstemp(path_.data());
    if (file < 0)
      std::abort();
    close(file);
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

inline int as_int8(std::uint32_t bits) { return static_cast<std::int8_t>(bits & 0xFF); }

/// The tensor that an int8 tensor becomes: its last axis times `weights`, as int32 sums.
inline oracle::Tensor multiplied(const oracle::Tensor& input, const reference::Rows& weights) {
  std::vector<std::int64_t> extents(input.shape.extents().begin(), input.shape.extents().end());
  const std::size_t inner = weights.front().size();
  extents.back() = static_cast<std::int64_t>(weights.size());
  oracle::Tensor result{
      kernels::Shape(std::span<const std::int64_t>(extents)), kernels::DType::Int32, {}};
  for (std::size_t first = 0; first < input.bits.size(); first += inner)
    for (const reference::Row& row : weights) {
      std::int64_t sum = 0;
      for (std::size_t c = 0; c < inner; ++c)
        sum += std::int64_t{row[c]} * as_int8(input.bits[first + c]);
      result.bits.push_back(static_cast<std::uint32_t>(sum));
    }
  return result;
}

/// int32 sums rescaled to int8.
inline oracle::Tensor rescaled(const oracle::Tensor& sums, std::int32_t multiplier,
                               unsigned shift) {
  oracle::Tensor result{sums.shape, kernels::DType::Int8, {}};
  for (const std::uint32_t bits : sums.bits)
    result.bits.push_back(static_cast<std::uint32_t>(
        reference::requantized(static_cast<std::int32_t>(bits), multiplier, shift) & 0xFF));
  return result;
}

} // namespace simaai::test
