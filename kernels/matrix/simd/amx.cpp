// SPDX-License-Identifier: LGPL-2.1-or-later
// AMX: contractions by tdpbssd on tiles of 16 x 64 signed bytes, which are read from a where it lies
// and from b packed. Other work is that of AVX-512.
#include <algorithm>
#include <cstring>

#include <simaai/kernels/matrix/coord.h>

#include "matrix/backends.h"
#include "matrix/simd/amx_beside.h"
#include "matrix/simd/amx_tiles.h"

#define SIMAAI_VECTOR SIMAAI_AMX
#include "matrix/simd/transpose_vbmi.h"

namespace simaai::kernels::matrix::detail {
namespace {

constexpr std::size_t kTileDepth = 64; ///< bytes of a row
constexpr std::size_t kTileBytes = kTile * kTileDepth;

using Dwords = std::uint32_t __attribute__((vector_size(64)));

SIMAAI_AMX inline Dwords zip_low32(Dwords a, Dwords b) noexcept {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
SIMAAI_AMX inline Dwords zip_high32(Dwords a, Dwords b) noexcept {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}

[[nodiscard]] constexpr std::size_t steps_of(std::size_t depth) noexcept {
  return (depth + kTileDepth - 1) / kTileDepth;
}

/// The first `count` (up to 64) bytes, zeros behind them. Reads nothing else.
SIMAAI_AMX inline __m512i load_part(const std::int8_t* src, std::size_t count) noexcept {
  return count >= 64 ? _mm512_loadu_si512(src)
                     : _mm512_maskz_loadu_epi8((std::uint64_t{1} << count) - 1, src);
}

/// Panels of b that stay in the first cache while the rows of a pass; where not even two do, a wide
/// block, since each reads all of a again.
constexpr std::size_t kNearBytes = (std::size_t{16} << 10) + std::size_t{4} * 64;
constexpr std::size_t kMostPanels = 32;

/// Panels of b, sixteen columns each, that are packed at once: all of a cache line at a time.
struct Panels {
  std::size_t count;
  std::size_t cols[kMostPanels]; ///< first column of each
  std::int8_t* dst;              ///< tiles of the first
  std::size_t bytes;             ///< of a panel
};

/// Tiles of b whose rows are adjacent elements: four rows become quads, zeros behind `depth`.
SIMAAI_AMX void pack_rows(const std::int8_t* src, std::size_t stride, std::size_t depth,
                          const Panels& to) noexcept {
  const __m512i quads = _mm512_load_si512(kLanesToQuads.bytes);
  const std::size_t end = steps_of(depth) * kTileDepth;
  std::int8_t* dst = to.dst;
  std::size_t k = 0;
  for (; k + 4 <= depth; k += 4, src += 4 * stride, dst += 64)
    for (std::size_t n = 0; n < to.count; ++n)
      _mm512_store_si512(dst + n * to.bytes,
                         _mm512_permutexvar_epi8(quads, load_lanes(src + to.cols[n], stride)));
  for (; k < end; k += 4, src += 4 * stride, dst += 64)
    for (std::size_t n = 0; n < to.count; ++n) {
      alignas(64) std::int8_t rest[4][16] = {};
      for (std::size_t row = 0; k + row < depth && row < 4; ++row)
        std::memcpy(rest[row], src + row * stride + to.cols[n], 16);
      _mm512_store_si512(dst + n * to.bytes,
                         _mm512_permutexvar_epi8(quads, _mm512_load_si512(rest)));
    }
}

/// The same where columns are adjacent elements: quads are there already and change places.
SIMAAI_AMX void pack_columns(const std::int8_t* src, std::size_t stride, std::size_t depth,
                             std::int8_t* dst) noexcept {
  for (std::size_t k = 0; k < depth; k += kTileDepth, dst += kTileBytes) {
    Dwords rows[2][kTile];
#pragma GCC unroll 16
    for (std::size_t n = 0; n < kTile; ++n)
      rows[0][n] = reinterpret_cast<Dwords>(load_part(src + n * stride + k, depth - k));
#pragma GCC unroll 4
    for (std::size_t step = 0; step < 4; ++step)
#pragma GCC unroll 8
      for (std::size_t n = 0; n < 8; ++n) {
        const Dwords(&from)[kTile] = rows[step % 2];
        rows[1 - step % 2][2 * n] = zip_low32(from[n], from[n + 8]);
        rows[1 - step % 2][2 * n + 1] = zip_high32(from[n], from[n + 8]);
      }
#pragma GCC unroll 16
    for (std::size_t n = 0; n < kTile; ++n)
      _mm512_store_si512(dst + n * 64, reinterpret_cast<__m512i>(rows[0][n]));
  }
}

/// Tiles of up to 32 rows of a along k: whole ones where they lie, the rest padded.
struct RowTiles {
  const std::int8_t* whole[2];
  std::size_t stride;
  std::size_t steps;
  const std::int8_t* rest[2]; ///< rows 64 bytes apart; null: none
};

/// Where tiles of sums go: two by two, four bytes an element.
struct SumTiles {
  std::int32_t* at[2][2];
  std::size_t stride; ///< elements
};

/// One step along k: sums in tiles 0 to 3.
template <int Rows, int Cols>
SIMAAI_AMX inline void multiply_step(const std::int8_t* a0, const std::int8_t* a1,
                                     std::size_t stride, const std::int8_t* b0,
                                     const std::int8_t* b1) noexcept {
  load_tile<6>(b0, kTileDepth);
  load_tile<4>(a0, stride);
  multiply_tiles<0, 4, 6>();
  if constexpr (Cols == 2) {
    load_tile<7>(b1, kTileDepth);
    multiply_tiles<1, 4, 7>();
  }
  if constexpr (Rows == 2) {
    load_tile<5>(a1, stride);
    multiply_tiles<2, 5, 6>();
    if constexpr (Cols == 2)
      multiply_tiles<3, 5, 7>();
  }
}

/// Products of Rows x Cols tiles, on top of what `from` holds; `beside` is done meanwhile.
template <int Rows, int Cols, class Beside>
SIMAAI_AMX void multiply(const RowTiles& a, const std::int8_t* const (&b)[2], const SumTiles* from,
                         const SumTiles& to, Beside& beside) noexcept {
  auto work = beside.divided(a.steps + (a.rest[0] != nullptr ? 1 : 0));
  if (from == nullptr) {
    zero_tile<0>();
    zero_tile<1>();
    zero_tile<2>();
    zero_tile<3>();
  } else {
    const std::size_t stride = from->stride * sizeof(std::int32_t);
    load_tile<0>(from->at[0][0], stride);
    if constexpr (Cols == 2)
      load_tile<1>(from->at[0][1], stride);
    if constexpr (Rows == 2)
      load_tile<2>(from->at[1][0], stride);
    if constexpr (Rows == 2 && Cols == 2)
      load_tile<3>(from->at[1][1], stride);
  }
  const std::int8_t* b0 = b[0];
  const std::int8_t* b1 = b[1];
  for (std::size_t n = 0; n < a.steps; ++n, b0 += kTileBytes, b1 += kTileBytes) {
    multiply_step<Rows, Cols>(a.whole[0] + n * kTileDepth, a.whole[1] + n * kTileDepth, a.stride,
                              b0, b1);
    work.step();
  }
  if (a.rest[0] != nullptr) {
    multiply_step<Rows, Cols>(a.rest[0], a.rest[1], kTileDepth, b0, b1);
    work.step();
  }
  const std::size_t stride = to.stride * sizeof(std::int32_t);
  store_tile<0>(to.at[0][0], stride);
  if constexpr (Cols == 2)
    store_tile<1>(to.at[0][1], stride);
  if constexpr (Rows == 2)
    store_tile<2>(to.at[1][0], stride);
  if constexpr (Rows == 2 && Cols == 2)
    store_tile<3>(to.at[1][1], stride);
}

/// Up to two by two tiles of the output.
struct Block {
  std::size_t row;
  std::size_t col;
  bool two_rows;
  bool two_cols;
};

std::size_t tile_start(std::size_t at, std::size_t extent) noexcept {
  return std::min(at, extent - kTile);
}

constexpr std::size_t kLineBytes = 64;

/// From one packed panel to the next: a line more than a multiple of a page, for rows of many panels
/// are written in turn and would share a few sets of the first cache.
constexpr std::size_t panel_stride(std::size_t depth) noexcept {
  const std::size_t bytes = steps_of(depth) * kTileBytes;
  return bytes % 4096 == 0 ? bytes + kLineBytes : bytes;
}

/// A contraction whose output has at least 16 rows and columns. Tiles at the end of an extent that is
/// no multiple of 16 begin earlier and compute some outputs twice. Output: where sums go, see below.
template <class Output> class AmxMatmul {
public:
  SIMAAI_AMX AmxMatmul(const PlainView& a, const PlainView& b, Output& output) noexcept
      : a_(a), b_(b), output_(output) {}

  SIMAAI_AMX void run() noexcept {
    TileConfig config;
    for (int tile = 0; tile < 8; ++tile) {
      config.row_bytes[tile] = 64;
      config.rows[tile] = kTile;
    }
    configure_tiles(config);
    const std::size_t panel_bytes = panel_stride(a_.cols);
    const std::size_t near = kNearBytes / panel_bytes / 2 * 2; // they are multiplied two by two
    const std::size_t panels =
        near > 0 ? near : std::min(kMostPanels, sizeof packed_b_ / panel_bytes);
    for (std::size_t col = 0; col < b_.cols; col += panels * kTile) {
      const std::size_t count = std::min(panels, (b_.cols - col + kTile - 1) / kTile);
      pack_panels(col, count, panel_bytes);
      for (std::size_t row = 0; row < a_.rows; row += kPairRows)
        run_rows(row, col, count, panel_bytes);
    }
    output_.finish();
    release_tiles();
  }

private:
  /// Depth of a that is turned at once where its columns are adjacent.
  static constexpr std::size_t kTurnedDepth = 1024;
  static constexpr std::size_t kPackedBytes = (std::size_t{512} << 10) + kMostPanels * kLineBytes;
  static_assert(kPackedBytes >= panel_stride(kCoordSpace)); // at least one panel

  SIMAAI_AMX void pack_panels(std::size_t col, std::size_t count, std::size_t bytes) noexcept {
    Panels to{count, {}, packed_b_, bytes};
    for (std::size_t n = 0; n < count; ++n)
      to.cols[n] = tile_start(col + n * kTile, b_.cols);
    if (b_.col_stride == 1)
      return pack_rows(b_.data, b_.row_stride, a_.cols, to);
    for (std::size_t n = 0; n < count; ++n)
      pack_columns(b_.data + to.cols[n] * b_.col_stride, b_.col_stride, a_.cols,
                   packed_b_ + n * bytes);
  }

  /// Rows from `row` on, at depths [k, k + depth).
  SIMAAI_AMX RowTiles row_tiles(std::size_t row, std::size_t k, std::size_t depth) noexcept {
    const std::size_t starts[2] = {tile_start(row, a_.rows), tile_start(row + kTile, a_.rows)};
    if (a_.col_stride != 1) {
      const std::size_t padded = steps_of(depth) * kTileDepth;
      for (std::size_t n = 0; n < 2; ++n)
        turn(starts[n], k, depth, padded, turned_a_ + n * kTile * kTurnedDepth);
      return {{turned_a_, turned_a_ + kTile * kTurnedDepth}, kTurnedDepth, steps_of(depth), {}};
    }
    const std::int8_t* first = a_.data + starts[0] * a_.row_stride + k;
    const std::int8_t* second = a_.data + starts[1] * a_.row_stride + k;
    RowTiles tiles{{first, second}, a_.row_stride, depth / kTileDepth, {}};
    if (const std::size_t rest = depth % kTileDepth; rest != 0) {
      for (std::size_t n = 0; n < kPairRows; ++n)
        _mm512_store_si512(
            rest_a_ + n * kTileDepth,
            load_part((n < kTile ? first : second) + n % kTile * a_.row_stride + depth - rest,
                      rest));
      tiles.rest[0] = rest_a_;
      tiles.rest[1] = rest_a_ + kTileBytes;
    }
    return tiles;
  }

  /// Sixteen rows of a whose columns are adjacent elements, zeros behind `depth`.
  SIMAAI_AMX void turn(std::size_t row, std::size_t k, std::size_t depth, std::size_t padded,
                       std::int8_t* dst) const noexcept {
    transpose_part(a_.data + row + k * a_.col_stride, a_.col_stride, depth, kTile, dst,
                   kTurnedDepth);
    for (std::size_t n = 0; n < kTile && padded > depth; ++n)
      std::memset(dst + n * kTurnedDepth + depth, 0, padded - depth);
  }

  SIMAAI_AMX void run_rows(std::size_t row, std::size_t col, std::size_t panels,
                           std::size_t panel_bytes) noexcept {
    const std::size_t part = a_.col_stride == 1 ? a_.cols : kTurnedDepth;
    for (std::size_t k = 0; k < a_.cols; k += part) {
      const std::size_t depth = std::min(part, a_.cols - k);
      const RowTiles a = row_tiles(row, k, depth);
      const bool last = k + depth == a_.cols;
      for (std::size_t panel = 0; panel < panels; panel += 2) {
        const std::int8_t* b = packed_b_ + panel * panel_bytes + k / kTileDepth * kTileBytes;
        const Block block{row, col + panel * kTile, a_.rows - row > kTile, panel + 1 < panels};
        run_block(block, a, {b, b + panel_bytes}, part_sums_ + panel * 2 * kTile * kTile, k > 0,
                  last);
      }
    }
  }

  SIMAAI_AMX void run_block(const Block& block, const RowTiles& a, const std::int8_t* const (&b)[2],
                            std::int32_t* parts, bool add, bool last) noexcept {
    constexpr std::size_t kTileSums = kTile * kTile;
    const SumTiles between{
        {{parts, parts + kTileSums}, {parts + 2 * kTileSums, parts + 3 * kTileSums}}, kTile};
    const SumTiles to = last ? output_.tiles(block) : between;
    const SumTiles* from = add ? &between : nullptr;
    auto&& beside = output_.beside(block, last);
    if (block.two_rows)
      block.two_cols ? multiply<2, 2>(a, b, from, to, beside)
                     : multiply<2, 1>(a, b, from, to, beside);
    else
      block.two_cols ? multiply<1, 2>(a, b, from, to, beside)
                     : multiply<1, 1>(a, b, from, to, beside);
    if (last)
      output_.take(block);
  }

  const PlainView& a_;
  const PlainView& b_;
  Output& output_;
  alignas(64) std::int8_t packed_b_[kPackedBytes];
  alignas(64) std::int8_t turned_a_[kPairRows * kTurnedDepth];
  alignas(64) std::int8_t rest_a_[2 * kTileBytes];
  alignas(64) std::int32_t part_sums_[kMostPanels * 2 * kTile * kTile];
};

/// Sums are the output.
class SumsOutput {
public:
  SumsOutput(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept
      : rows_(a.rows), cols_(b.cols), c_(c), fetches_(a.rows * b.cols > kMostCached) {}

  [[nodiscard]] SumTiles tiles(const Block& block) const noexcept {
    SumTiles tiles{{}, c_.row_stride};
    for (std::size_t n = 0; n < 2; ++n)
      for (std::size_t m = 0; m < 2; ++m)
        tiles.at[n][m] = c_.sums + tile_start(block.row + n * kTile, rows_) * c_.row_stride +
                         tile_start(block.col + m * kTile, cols_);
    return tiles;
  }
  [[nodiscard]] FetchOutput beside(const Block& block, bool last) const noexcept {
    const bool fetches = last && fetches_;
    return {c_.sums + block.row * c_.row_stride + block.col, c_.row_stride,
            fetches ? std::min(kPairRows, rows_ - block.row) : 0};
  }
  void take(const Block& /*block*/) noexcept {}
  void finish() noexcept {}

private:
  static constexpr std::size_t kMostCached = 8192; ///< sums that leave room in the first cache

  std::size_t rows_;
  std::size_t cols_;
  const PlainOutput& c_;
  bool fetches_;
};

/// Elements are; sums wait between for the multiplication of the next block.
template <class Rescale> class ElementsOutput {
public:
  SIMAAI_AMX ElementsOutput(const Rescale& rescale, const PlainView& a, const PlainView& b,
                            const PlainOutput& c) noexcept
      : rescale_(rescale), rows_(a.rows), cols_(b.cols), c_(c), pending_(rescale) {}

  [[nodiscard]] SumTiles tiles(const Block& /*block*/) noexcept {
    std::int32_t* base = staged_ + turn_ * kBlockSums;
    return {{{base, base + kTile}, {base + kTile * kPairRows, base + kTile * kPairRows + kTile}},
            kPairRows};
  }
  [[nodiscard]] RescaleBlock<Rescale>& beside(const Block& /*block*/, bool /*last*/) noexcept {
    return pending_;
  }
  /// Takes the sums of a block out of tiles().
  SIMAAI_AMX void take(const Block& block) noexcept {
    const std::int32_t* sums = staged_ + turn_ * kBlockSums;
    turn_ = 1 - turn_;
    std::int8_t* to[2];
    for (std::size_t n = 0; n < 2; ++n)
      to[n] = c_.elements + tile_start(block.row + n * kTile, rows_) * c_.row_stride;
    const std::size_t rows = block.two_rows ? kPairRows : kTile;
    if (!block.two_cols || block.col + kPairRows > cols_ || block.row + rows > rows_)
      return rescale_rows(block, sums, to);
    pending_.begin(sums, to[0] + block.col, c_.row_stride, rows);
  }
  SIMAAI_AMX void finish() noexcept {
    auto rest = pending_.divided(1);
    rest.step();
  }

private:
  /// For columns that are not 32 adjacent ones.
  SIMAAI_AMX void rescale_rows(const Block& block, const std::int32_t* sums,
                               std::int8_t* const (&to)[2]) const noexcept {
    for (std::size_t row = 0; row < (block.two_rows ? kPairRows : kTile); ++row)
      for (std::size_t m = 0; m < (block.two_cols ? 2U : 1U); ++m)
        rescale_vectors(rescale_, sums + row * kPairRows + m * kTile, kTile,
                        to[row / kTile] + row % kTile * c_.row_stride +
                            tile_start(block.col + m * kTile, cols_));
  }

  static constexpr std::size_t kBlockSums = kPairRows * kPairRows;
  alignas(64) std::int32_t staged_[2 * kBlockSums + 1]; ///< rescales read one more than two blocks
  const Rescale& rescale_;
  std::size_t rows_;
  std::size_t cols_;
  const PlainOutput& c_;
  RescaleBlock<Rescale> pending_;
  std::size_t turn_ = 0;
};

/// Below this many terms of a sum the tiles are mostly padding.
constexpr std::size_t kLeastDepth = 16;

void gemv_amx(const PlainView& a, const std::int8_t* x, const PlainOutput& y) noexcept {
  avx512vnni_backend.gemv(a, x, y);
}

SIMAAI_AMX void matmul_amx(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept {
  if (a.rows < kTile || b.cols < kTile || a.cols < kLeastDepth)
    return avx512vnni_backend.matmul(a, b, c);
  if (c.requant == nullptr) {
    SumsOutput output(a, b, c);
    return AmxMatmul(a, b, output).run();
  }
  with_rescale(*c.requant, [&](const auto& rescale) SIMAAI_AMX {
    ElementsOutput output(rescale, a, b, c);
    AmxMatmul(a, b, output).run();
  });
}

SIMAAI_AMX void requantize_amx(const std::int32_t* src, std::size_t count, const Requant& requant,
                               std::int8_t* dst) noexcept {
  rescale_avx512(src, count, requant, dst);
}

} // namespace

const Backend amx_backend = {"amx", gemv_amx, matmul_amx, requantize_amx, &avx512vbmi_wire};

} // namespace simaai::kernels::matrix::detail
