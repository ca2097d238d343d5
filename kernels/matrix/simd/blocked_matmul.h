// SPDX-License-Identifier: LGPL-2.1-or-later
// The contraction in blocks that stay in the caches, over an instruction set's packing and tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "matrix/backends.h"

namespace simaai::kernels::matrix::detail {

/// Longest run along k that is packed at once.
inline constexpr std::size_t kBlockDepth = 256;

/// What an instruction set `Isa` offers:
///   Packed                    element type of packed operands
///   kTileRows, kTileCols      outputs that one tile keeps in registers
///   kGroup                    neighbours along k that one instruction sums
///   pack_a(src, stride, rows, depth, dst)  rows of `depth` adjacent elements to kTileRows rows of
///                             kBlockDepth, zeros behind both ends as far as kGroup and kTileRows reach
///   pack_b(src, stride, depth, panels, dst, bias)  `depth` rows of `panels` x kTileCols elements to
///                             panels of groups x kTileCols x kGroup, zeros likewise, and what a
///                             tile's columns start from
///   turn(src, src_stride, outer, inner, dst, dst_stride)  dst[i][o] = src[o][i]
///   tile(a, b, bias, groups, acc, stride, add)  acc = or += product of two packed parts
///   emit(c, offset, sums, count, rows, stride)  completed sums to rows of adjacent outputs
template <class Isa> class BlockedMatmul {
  using Packed = typename Isa::Packed;
  static constexpr std::size_t kTileRows = Isa::kTileRows;
  static constexpr std::size_t kTileCols = Isa::kTileCols;

public:
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
  static constexpr std::size_t kBlockCols = 128;
  static constexpr std::size_t kLineCols = 64;
  /// Rows of a that are turned at once: whole tiles and whole vectors.
  static constexpr std::size_t kTurnedRows = 8 * kTileRows;
  static constexpr std::size_t kPanels = kBlockCols / kTileCols;
  static constexpr std::size_t kPanelElems = kBlockDepth * kTileCols;
  static_assert(kLineCols % kTileCols == 0 && kBlockCols % kLineCols == 0 &&
                kBlockDepth % Isa::kGroup == 0);

  /// A rows x cols part of the output that starts at (row, col).
  struct Part {
    std::size_t row;
    std::size_t col;
    std::size_t rows;
    std::size_t cols;
  };
  /// Elements that are adjacent within a run, and runs `stride` apart.
  struct Runs {
    const std::int8_t* data;
    std::size_t stride;
  };

  void run_block(const Part& out) noexcept {
    for (std::size_t k = 0; k < a_.cols; k += kBlockDepth) {
      const std::size_t depth = std::min(kBlockDepth, a_.cols - k);
      // One depth block serves all row blocks; several replace each other.
      if (out.row == 0 || a_.cols > kBlockDepth)
        pack_panels(k, depth, out);
      run_depth(out, k, depth);
    }
    Isa::emit(c_, out.row * c_.row_stride + out.col, sums_, out.cols, out.rows, kBlockCols);
  }

  void pack_panels(std::size_t k, std::size_t depth, const Part& out) noexcept {
    std::size_t at = 0;
    // Whole cache lines of b at a time, where they are rows.
    if (b_.col_stride == 1)
      for (; at + kLineCols <= out.cols; at += kLineCols)
        Isa::pack_b(b_.data + k * b_.row_stride + out.col + at, b_.row_stride, depth,
                    kLineCols / kTileCols, packed_b_ + at * kBlockDepth, bias_ + at);
    for (; at < out.cols; at += kTileCols) {
      const Runs rows = panel_rows(k, depth, out.col + at, std::min(kTileCols, out.cols - at));
      Isa::pack_b(rows.data, rows.stride, depth, 1, packed_b_ + at * kBlockDepth, bias_ + at);
    }
  }

  /// `depth` rows of kTileCols elements of b: where they are, or turned or padded in turned_b_.
  Runs panel_rows(std::size_t k, std::size_t depth, std::size_t col, std::size_t cols) noexcept {
    const std::int8_t* src = b_.data + k * b_.row_stride + col * b_.col_stride;
    if (b_.col_stride == 1 && cols == kTileCols)
      return {src, b_.row_stride};
    if (cols < kTileCols)
      std::memset(turned_b_, 0, depth * kTileCols);
    if (b_.col_stride != 1)
      Isa::turn(src, b_.col_stride, cols, depth, turned_b_, kTileCols);
    else
      for (std::size_t n = 0; n < depth; ++n)
        std::memcpy(turned_b_ + n * kTileCols, src + n * b_.row_stride, cols);
    return {turned_b_, kTileCols};
  }

  /// `rows` rows of `depth` elements of a: where they are, or turned in turned_a_.
  Runs block_rows(std::size_t row, std::size_t rows, std::size_t k, std::size_t depth) noexcept {
    const std::int8_t* src = a_.data + row * a_.row_stride + k * a_.col_stride;
    if (a_.col_stride == 1)
      return {src, a_.row_stride};
    Isa::turn(src, a_.col_stride, depth, rows, turned_a_, kBlockDepth);
    return {turned_a_, kBlockDepth};
  }

  void pack_rows(const Part& out, std::size_t k, std::size_t depth) noexcept {
    for (std::size_t first = 0; first < out.rows; first += kTurnedRows) {
      const std::size_t count = std::min(kTurnedRows, out.rows - first);
      const Runs rows = block_rows(out.row + first, count, k, depth);
      for (std::size_t row = 0; row < count; row += kTileRows)
        Isa::pack_a(rows.data + row * rows.stride, rows.stride, std::min(kTileRows, count - row),
                    depth, packed_a_ + (first + row) * kBlockDepth);
    }
  }

  /// A panel of b stays in the nearest cache while the rows of the block pass by.
  void run_depth(const Part& out, std::size_t k, std::size_t depth) noexcept {
    const std::size_t groups = (depth + Isa::kGroup - 1) / Isa::kGroup;
    pack_rows(out, k, depth);
    for (std::size_t col = 0; col < out.cols; col += kTileCols)
      for (std::size_t row = 0; row < out.rows; row += kTileRows)
        Isa::tile(packed_a_ + row * kBlockDepth, packed_b_ + col * kBlockDepth, bias_ + col, groups,
                  sums_ + row * kBlockCols + col, kBlockCols, k > 0);
  }

  const PlainView& a_;
  const PlainView& b_;
  const PlainOutput& c_;
  alignas(64) Packed packed_a_[kBlockRows * kBlockDepth];
  alignas(64) Packed packed_b_[kPanels * kPanelElems];
  alignas(64) std::int32_t sums_[kBlockRows * kBlockCols];
  alignas(64) std::int32_t bias_[kBlockCols];
  alignas(64) std::int8_t turned_a_[kTurnedRows * kBlockDepth];
  alignas(64) std::int8_t turned_b_[kPanelElems];
};

} // namespace simaai::kernels::matrix::detail
