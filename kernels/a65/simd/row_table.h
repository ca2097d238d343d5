// SPDX-License-Identifier: LGPL-2.1-or-later
// Dispatch tables: the row kernels of one instruction set, and the levels of this machine.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "a65/simd/row_args.h"
#include "a65/simd/row_list.h"

namespace simaai::kernels::a65::detail {

/// Instruction sets. A level builds on the one below it in level_below().
enum class Level : std::uint8_t { Scalar, Avx2, Avx512, Avx512Vbmi, Neon };

/// The kernels of a level. In a level's own table a null entry means "same as the level below"; the
/// table that rows_of() returns has none but those of planar and spread panels.
struct RowTable {
#define SIMAAI_A65_LINEAR_MEMBER(name, from, to) LinearRowFn name = nullptr;
#define SIMAAI_A65_PANEL_MEMBER(name, from, to) TilePanelFn name = nullptr;
#define SIMAAI_A65_TILE_MEMBER(name, from, to) TileRowFn name = nullptr;
  SIMAAI_A65_LINEAR_ROWS(SIMAAI_A65_LINEAR_MEMBER)
  SIMAAI_A65_PANEL_ROWS(SIMAAI_A65_PANEL_MEMBER)
  SIMAAI_A65_TILE_ROWS(SIMAAI_A65_TILE_MEMBER)
  SIMAAI_A65_PLANAR_PANELS(SIMAAI_A65_PANEL_MEMBER)
  SIMAAI_A65_SPREAD_PANELS(SIMAAI_A65_PANEL_MEMBER)
#undef SIMAAI_A65_LINEAR_MEMBER
#undef SIMAAI_A65_PANEL_MEMBER
#undef SIMAAI_A65_TILE_MEMBER
  bool takes_boxes = false; ///< panel kernels do; then all of them are the level's own
};

// Scalar kernels of single rows are declared: vector kernels hand their tails to them.
#define SIMAAI_A65_DECLARE_LINEAR(name, from, to)                                                  \
  void name##_row__scalar(const LinearRow& row) noexcept;
#define SIMAAI_A65_DECLARE_TILE(name, from, to)                                                    \
  void name##_row__scalar(const TileRow& row) noexcept;
SIMAAI_A65_LINEAR_ROWS(SIMAAI_A65_DECLARE_LINEAR)
SIMAAI_A65_PANEL_ROWS(SIMAAI_A65_DECLARE_TILE)
SIMAAI_A65_TILE_ROWS(SIMAAI_A65_DECLARE_TILE)
#undef SIMAAI_A65_DECLARE_LINEAR
#undef SIMAAI_A65_DECLARE_TILE

/// Own tables of the levels that this build contains: tile kernels of contiguous channels in
/// rows_<isa>.cpp (readers of AVX2 in rows_read_avx2.cpp), the others in linear_rows_<isa>.cpp.
[[nodiscard]] const RowTable& scalar_rows() noexcept;
#if defined(__x86_64__)
[[nodiscard]] const RowTable& avx2_rows() noexcept;
[[nodiscard]] const RowTable& avx2_reader_rows() noexcept;
[[nodiscard]] const RowTable& avx2_linear_rows() noexcept;
[[nodiscard]] const RowTable& avx512_rows() noexcept;
[[nodiscard]] const RowTable& avx512vbmi_rows() noexcept;
#elif defined(__aarch64__)
[[nodiscard]] const RowTable& neon_rows() noexcept;
[[nodiscard]] const RowTable& neon_linear_rows() noexcept;
#endif

/// Name of a level in SIMAAI_A65_ISA and in reports.
[[nodiscard]] std::string_view level_name(Level level) noexcept;

/// Levels that this build contains and this machine can execute, ascending. Reentrant.
[[nodiscard]] std::span<const Level> supported_levels() noexcept;

/// Complete table of a supported level. Thread-safe.
[[nodiscard]] const RowTable& rows_of(Level level) noexcept;

/// The level that prepare() selects from: the best one, or what SIMAAI_A65_ISA says. Thread-safe.
[[nodiscard]] Level active_level() noexcept;

/// Makes later prepare() calls select from `level`, a supported one, and returns the level before.
/// Tests and benchmarks compare the levels of one process with it. Thread-safe.
Level exchange_active_level(Level level) noexcept;

} // namespace simaai::kernels::a65::detail
