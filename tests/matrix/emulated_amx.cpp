// SPDX-License-Identifier: LGPL-2.1-or-later
// The AMX file of the library over SIMDe and a model of the tile instructions.
#include <cstdlib>
#include <cstring>

#include "emulated_avx512.h"
#include "matrix/simd/amx_tiles.h"

namespace simaai::kernels::matrix::detail {
namespace {

/// Eight tiles of 16 x 64 bytes as the instructions see them.
struct Tiles {
  TileConfig config;
  bool configured = false;
  std::uint8_t bytes[8][16][64];
};
Tiles model;

void require(bool condition) {
  if (!condition)
    std::abort(); // the instruction would raise #UD
}

void configure_tiles(const TileConfig& config) noexcept {
  require(config.palette == 1);
  for (int tile = 0; tile < 8; ++tile)
    require(config.rows[tile] <= 16 && config.row_bytes[tile] <= 64);
  model.config = config;
  model.configured = true;
  std::memset(model.bytes, 0, sizeof model.bytes);
}
void release_tiles() noexcept { model.configured = false; }

template <int Tile> void zero_tile() noexcept {
  require(model.configured);
  std::memset(model.bytes[Tile], 0, sizeof model.bytes[Tile]);
}
template <int Tile> void load_tile(const void* src, std::size_t stride_bytes) noexcept {
  require(model.configured);
  std::memset(model.bytes[Tile], 0, sizeof model.bytes[Tile]);
  for (std::size_t row = 0; row < model.config.rows[Tile]; ++row)
    std::memcpy(model.bytes[Tile][row], static_cast<const char*>(src) + row * stride_bytes,
                model.config.row_bytes[Tile]);
}
template <int Tile> void store_tile(void* dst, std::size_t stride_bytes) noexcept {
  require(model.configured);
  for (std::size_t row = 0; row < model.config.rows[Tile]; ++row)
    std::memcpy(static_cast<char*>(dst) + row * stride_bytes, model.bytes[Tile][row],
                model.config.row_bytes[Tile]);
}
template <int Sums, int A, int B> void multiply_tiles() noexcept {
  require(model.configured && model.config.rows[Sums] == model.config.rows[A] &&
          model.config.row_bytes[Sums] == model.config.row_bytes[B] &&
          model.config.rows[B] * 4 == model.config.row_bytes[A]);
  for (std::size_t m = 0; m < model.config.rows[A]; ++m)
    for (std::size_t n = 0; n < model.config.row_bytes[B] / 4U; ++n) {
      std::int32_t sum = 0;
      std::memcpy(&sum, &model.bytes[Sums][m][4 * n], sizeof sum);
      for (std::size_t k = 0; k < model.config.row_bytes[A]; ++k)
        sum += static_cast<std::int8_t>(model.bytes[A][m][k]) *
               static_cast<std::int8_t>(model.bytes[B][k / 4][4 * n + k % 4]);
      std::memcpy(&model.bytes[Sums][m][4 * n], &sum, sizeof sum);
    }
}

} // namespace
} // namespace simaai::kernels::matrix::detail

#include "matrix/simd/amx.cpp"
