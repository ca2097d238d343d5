// SPDX-License-Identifier: LGPL-2.1-or-later
// What an AMX contraction does beside its tile instructions, a share at each step along k: they leave
// the vector units idle, and one block's worth in a row would not fit the window of out-of-order work.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

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
  /// The whole, in shares for `steps` calls of step().
  [[nodiscard]] FetchOutput divided(std::size_t steps) noexcept {
    share_ = (rows_ + steps - 1) / steps;
    return *this;
  }
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

/// Rows of 32 sums that become rows of 32 adjacent elements.
template <class Rescale> class RescaleRows {
public:
  SIMAAI_AMX RescaleRows(const Rescale& rescale, const std::int32_t* from, std::int8_t* to,
                         std::size_t stride, std::size_t pairs, std::size_t share) noexcept
      : rescale_(rescale), from_(from), to_(to), stride_(stride), pairs_(pairs), share_(share) {}
  [[gnu::always_inline]] SIMAAI_AMX void step() noexcept {
    const std::size_t count = std::min(share_, pairs_);
    for (std::size_t left = count; left != 0; --left) {
      rescale_two_rows(rescale_, {from_, from_ + kPairRows}, {to_, to_ + stride_});
      from_ += 2 * kPairRows;
      to_ += 2 * stride_;
    }
    pairs_ -= count;
  }

private:
  Rescale rescale_;
  const std::int32_t* from_;
  std::int8_t* to_;
  std::size_t stride_;
  std::size_t pairs_; ///< of rows that are left
  std::size_t share_;
};

/// A block of sums whose turn comes while the next one is multiplied.
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
  /// The whole, in shares for `steps` calls of step(). It belongs into a local variable, whose members
  /// stay in registers while elements are written.
  [[nodiscard, gnu::always_inline]] SIMAAI_AMX RescaleRows<Rescale>
  divided(std::size_t steps) noexcept {
    const std::size_t pairs = std::exchange(pairs_, 0);
    return {rescale_, from_, to_, stride_, pairs, (pairs + steps - 1) / steps};
  }

private:
  const Rescale& rescale_;
  const std::int32_t* from_ = nullptr;
  std::int8_t* to_ = nullptr;
  std::size_t stride_ = 0;
  std::size_t pairs_ = 0;
};

} // namespace
} // namespace simaai::kernels::matrix::detail
