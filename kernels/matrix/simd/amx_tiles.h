// SPDX-License-Identifier: LGPL-2.1-or-later
// The tile instructions of AMX as functions. Compilers' own do not tell that they read memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix/simd/avx512_rescale.h"

namespace simaai::kernels::matrix::detail {
namespace {

/// What ldtilecfg reads.
struct TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {}; ///< of eight tiles
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

#if !defined(SIMAAI_MATRIX_EMULATED)
SIMAAI_AMX inline void configure_tiles(const TileConfig& config) noexcept {
  asm volatile("ldtilecfg %0" : : "m"(config));
}
/// Leaves the tiles in their initial state, which a context switch need not save.
SIMAAI_AMX inline void release_tiles() noexcept { asm volatile("tilerelease"); }

template <int Tile> SIMAAI_AMX inline void zero_tile() noexcept {
  asm volatile("tilezero %%tmm%c0" : : "i"(Tile));
}
template <int Tile>
SIMAAI_AMX inline void load_tile(const void* src, std::size_t stride_bytes) noexcept {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2"
               :
               : "r"(src), "r"(stride_bytes), "i"(Tile)
               : "memory");
}
template <int Tile>
SIMAAI_AMX inline void store_tile(void* dst, std::size_t stride_bytes) noexcept {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)"
               :
               : "r"(dst), "r"(stride_bytes), "i"(Tile)
               : "memory");
}
/// sums += a * b: signed bytes, quads along k.
template <int Sums, int A, int B> SIMAAI_AMX inline void multiply_tiles() noexcept {
  asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(Sums), "i"(A), "i"(B));
}
#endif

} // namespace
} // namespace simaai::kernels::matrix::detail
