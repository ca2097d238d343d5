// SPDX-License-Identifier: LGPL-2.1-or-later
// The contraction in blocks that stay in the caches, over an instruction set's packing and tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "matrix/backends.h"

namespace simaai::kernels::matrix::detail {

/// A rows x cols part of an operand that starts at (row, col).
struct Part {
  std::size_t row;
  std::size_t col;
  std::size_t rows;
  std::size_t cols;
};

/// What an instruction set `Isa` offers:
///   Packed                    element type of packed operands
///   kTileRows, kTileCols      outputs that one tile keeps in registers
///   kGroup                    neighbours along k that one instruction sums
///   pack_a(view, part, dst)   kTileRows rows of kBlockDepth elements, k adjacent, zeros behind both
///                             ends of the part as far as kGroup and kTileRows reach
///   pack_b(view, part, dst, bias)  groups x kTileCols x kGroup elements, zeros likewise, and what a
///                             tile's columns start from
///   tile(a, b, bias, groups, acc, stride, add)  acc = or += product of two packed parts
///   emit(c, offset, sums, count)  completed sums to adjacent outputs
template <class Isa> class BlockedMatmul {
  using Packed = typename Isa::Packed;
  static constexpr std::size_t kTileRows = Isa::kTileRows;
  static constexpr std::size_t kTileCols = Isa::kTileCols;

public:
  static constexpr std::size_t kBlockDepth = 256;

  BlockedMatmul(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept
      : a_(a), b_(b), c_(c) {}

  /// Columns of c are adjacent.
  void run() noexcept {
    for (std::size_t col = 0; col < b_.cols; col += kBlockCols)
      for (std::size_t row = 0; row < a_.rows; row += kBlockRows)
        run_block(
            {row, col, std::min(kBlockRows, a_.rows - row), std::min(kBlockCols, b_.cols - col)});
  }

private:
  static constexpr std::size_t kBlockRows = 16 * kTileRows;
  static constexpr std::size_t kBlockCols = 64;
  static constexpr std::size_t kPanels = kBlockCols / kTileCols;
  static constexpr std::size_t kPanelElems = kBlockDepth * kTileCols;
  static_assert(kBlockCols % kTileCols == 0 && kBlockDepth % Isa::kGroup == 0);

  void run_block(const Part& out) noexcept {
    for (std::size_t k = 0; k < a_.cols; k += kBlockDepth) {
      const std::size_t depth = std::min(kBlockDepth, a_.cols - k);
      // One depth block serves all row blocks; several replace each other.
      if (out.row == 0 || a_.cols > kBlockDepth)
        pack_panels({k, out.col, depth, out.cols});
      run_depth(out, k, depth);
    }
    for (std::size_t row = 0; row < out.rows; ++row)
      Isa::emit(c_, (out.row + row) * c_.row_stride + out.col, sums_ + row * kBlockCols, out.cols);
  }

  void pack_panels(const Part& part) noexcept {
    for (std::size_t col = 0; col < part.cols; col += kTileCols)
      Isa::pack_b(b_, {part.row, part.col + col, part.rows, std::min(kTileCols, part.cols - col)},
                  packed_b_ + col * kBlockDepth, bias_ + col);
  }

  void run_depth(const Part& out, std::size_t k, std::size_t depth) noexcept {
    const std::size_t groups = (depth + Isa::kGroup - 1) / Isa::kGroup;
    for (std::size_t row = 0; row < out.rows; row += kTileRows) {
      Isa::pack_a(a_, {out.row + row, k, std::min(kTileRows, out.rows - row), depth}, packed_a_);
      for (std::size_t col = 0; col < out.cols; col += kTileCols)
        Isa::tile(packed_a_, packed_b_ + col * kBlockDepth, bias_ + col, groups,
                  sums_ + row * kBlockCols + col, kBlockCols, k > 0);
    }
  }

  const PlainView& a_;
  const PlainView& b_;
  const PlainOutput& c_;
  alignas(64) Packed packed_a_[kTileRows * kBlockDepth];
  alignas(64) Packed packed_b_[kPanels * kPanelElems];
  alignas(64) std::int32_t sums_[kBlockRows * kBlockCols];
  alignas(64) std::int32_t bias_[kBlockCols];
};

} // namespace simaai::kernels::matrix::detail
