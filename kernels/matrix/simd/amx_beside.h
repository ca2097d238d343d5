// SPDX-License-Identifier: LGPL-2.1-or-later
// What an AMX contraction does beside its tile instructions, a share at each step along k: they leave
// the vector units idle, and one block's worth in a row would not fit the window of out-of-order work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "matrix/backends.h"
#include "matrix/simd/avx512_rescale.h"

namespace simaai::kernels::matrix::detail {
namespace {

inline constexpr std::size_t kTile = 16; ///< rows of a tile, and columns of sums
inline constexpr std::size_t kPairRows = 2 * kTile;

/// Sums are outputs: their memory is asked for before tiles are stored.
class FetchOutput {
public:
  FetchOutput(const std::int32_t* first, std::size_t stride, std::size_t rows) noexcept
      : row_(first), stride_(stride), rows_(rows) {}
  void divide(std::size_t steps) noexcept { share_ = (rows_ + steps - 1) / steps; }
  [[gnu::always_inline]] SIMAAI_AMX void step() noexcept {
    const std::size_t count = std::min(share_, rows_);
    for (std::size_t left = count; left != 0; --left, row_ += stride_) {
      __builtin_prefetch(row_, 1);
      __builtin_prefetch(row_ + kTile, 1);
      __builtin_prefetch(row_ + 2 * kTile - 1, 1); // rows need not begin at lines
      asm volatile("" : : "r"(row_)); // compilers take a loop over prefetches alone for empty
    }
    rows_ -= count;
  }

private:
  const std::int32_t* row_;
  std::size_t stride_;
  std::size_t rows_; ///< that are left
  std::size_t share_ = 0;
};

/// Rows of 32 sums that become rows of 32 adjacent elements while the next ones are multiplied.
template <class Rescale> class RescaleBlock {
public:
  SIMAAI_AMX explicit RescaleBlock(const Rescale& rescale) noexcept : rescale_(rescale) {}
  void begin(const std::int32_t* sums, std::int8_t* to, std::size_t stride,
             std::size_t rows) noexcept {
    from_ = sums;
    to_ = to;
    stride_ = stride;
    pairs_ = rows / 2;
  }
  void divide(std::size_t steps) noexcept { share_ = (pairs_ + steps - 1) / steps; }
  [[gnu::always_inline]] SIMAAI_AMX void step() noexcept {
    const Rescale rescale = rescale_; // elements may alias members: these stay in registers
    const std::size_t stride = stride_;
    const std::int32_t* from = from_;
    std::int8_t* to = to_;
    const std::size_t count = std::min(share_, pairs_);
    for (std::size_t left = count; left != 0; --left) {
      rescale_two_rows(rescale, {from, from + kPairRows}, {to, to + stride});
      from += 2 * kPairRows;
      to += 2 * stride;
    }
    from_ = from;
    to_ = to;
    pairs_ -= count;
  }

private:
  const Rescale& rescale_;
  const std::int32_t* from_ = nullptr;
  std::int8_t* to_ = nullptr;
  std::size_t stride_ = 0;
  std::size_t pairs_ = 0; ///< rows that are left
  std::size_t share_ = 0;
};

} // namespace
} // namespace simaai::kernels::matrix::detail
