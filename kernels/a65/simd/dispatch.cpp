// SPDX-License-Identifier: LGPL-2.1-or-later
// Run-time choice of the instruction set.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <simaai/kernels/a65/dispatch.h>

#include "a65/simd/row_table.h"

namespace simaai::kernels::a65 {
namespace detail {
namespace {

struct LevelSet {
  std::array<Level, 5> levels{};
  std::size_t count = 0;
  constexpr void add(Level level) noexcept { levels[count++] = level; }
};

#if defined(__x86_64__)
/// Features of the AVX-512 level. Programs that emulate its kernels have them everywhere.
bool has_avx512() noexcept {
#if defined(SIMAAI_A65_EMULATED)
  return true;
#else
  return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
#endif
}

bool has_avx512vbmi() noexcept {
#if defined(SIMAAI_A65_EMULATED)
  return true;
#else
  return __builtin_cpu_supports("avx512vbmi") != 0;
#endif
}

/// Each level needs what the one below it needs.
void add_x86_levels(LevelSet* set) noexcept {
  if (__builtin_cpu_supports("avx2") == 0)
    return;
  set->add(Level::Avx2);
  if (!has_avx512())
    return;
  set->add(Level::Avx512);
  if (has_avx512vbmi())
    set->add(Level::Avx512Vbmi);
}
#endif

LevelSet detect_levels() noexcept {
  LevelSet set;
  set.add(Level::Scalar);
#if defined(__x86_64__)
  add_x86_levels(&set);
#elif defined(__aarch64__)
  set.add(Level::Neon);
#endif
  return set;
}

const LevelSet& level_set() noexcept {
  static const LevelSet set = detect_levels();
  return set;
}

/// `table` with its null entries taken from `other`.
RowTable completed_by(RowTable table, const RowTable& other) noexcept {
#define SIMAAI_A65_FALL_BACK(name, from, to)                                                       \
  if (table.name == nullptr)                                                                       \
    table.name = other.name;
  SIMAAI_A65_LINEAR_ROWS(SIMAAI_A65_FALL_BACK)
  SIMAAI_A65_PANEL_ROWS(SIMAAI_A65_FALL_BACK)
  SIMAAI_A65_TILE_ROWS(SIMAAI_A65_FALL_BACK)
  SIMAAI_A65_PLANAR_PANELS(SIMAAI_A65_FALL_BACK)
  SIMAAI_A65_SPREAD_PANELS(SIMAAI_A65_FALL_BACK)
#undef SIMAAI_A65_FALL_BACK
  return table;
}

/// Own kernels of a level; the scalar ones where the build has none.
RowTable own_rows(Level level) noexcept {
  switch (level) {
  case Level::Scalar:
    break;
  case Level::Avx512Vbmi:
#if defined(__x86_64__)
    return avx512vbmi_rows();
#else
    break;
#endif
  case Level::Avx512:
#if defined(__x86_64__)
    return avx512_rows();
#else
    break;
#endif
  case Level::Avx2:
#if defined(__x86_64__)
    return completed_by(completed_by(avx2_rows(), avx2_reader_rows()), avx2_linear_rows());
#else
    break;
#endif
  case Level::Neon:
#if defined(__aarch64__)
    return completed_by(neon_rows(), neon_linear_rows());
#else
    break;
#endif
  }
  return scalar_rows();
}

Level level_below(Level level) noexcept {
  switch (level) {
  case Level::Avx512Vbmi:
    return Level::Avx512;
  case Level::Avx512:
    return Level::Avx2;
  case Level::Scalar:
  case Level::Avx2:
  case Level::Neon:
    break;
  }
  return Level::Scalar;
}

/// Takes each kernel from the highest level that has it.
RowTable complete_rows(Level level) noexcept {
  RowTable table = own_rows(level);
  while (level != Level::Scalar) {
    level = level_below(level);
    table = completed_by(table, own_rows(level));
  }
  return table;
}

Level choose_level() noexcept {
  const std::span<const Level> levels = supported_levels();
  const char* wanted = std::getenv("SIMAAI_A65_ISA");
  if (wanted == nullptr || *wanted == '\0')
    return levels.back();
  for (const Level level : levels)
    if (level_name(level) == wanted)
      return level;
  // One write, so that another thread's output cannot come between.
  std::array<char, 256> text{};
  std::size_t used = 0;
  for (const Level level : levels) {
    const std::string_view name = level_name(level);
    used += name.copy(text.data() + used, name.size());
    used += std::string_view(", ").copy(text.data() + used, 2);
  }
  const std::string_view kept = level_name(levels.back());
  std::fprintf(
      stderr, "simaai-kernels: SIMAAI_A65_ISA=%s is not supported here (%.*s), using %.*s\n",
      wanted, static_cast<int>(used - 2), text.data(), static_cast<int>(kept.size()), kept.data());
  return levels.back();
}

std::atomic<Level>& level_slot() noexcept {
  static std::atomic<Level> level{choose_level()};
  return level;
}

} // namespace

std::string_view level_name(Level level) noexcept {
  switch (level) {
  case Level::Scalar:
    return "scalar";
  case Level::Avx2:
    return "avx2";
  case Level::Avx512:
    return "avx512";
  case Level::Avx512Vbmi:
    return "avx512vbmi";
  case Level::Neon:
    return "neon";
  }
  return "unknown";
}

std::span<const Level> supported_levels() noexcept {
  const LevelSet& set = level_set();
  return {set.levels.data(), set.count};
}

const RowTable& rows_of(Level level) noexcept {
  static const std::array<RowTable, 5> tables{
      complete_rows(Level::Scalar), complete_rows(Level::Avx2), complete_rows(Level::Avx512),
      complete_rows(Level::Avx512Vbmi), complete_rows(Level::Neon)};
  return tables[static_cast<std::size_t>(level)];
}

Level active_level() noexcept { return level_slot().load(std::memory_order_relaxed); }

Level exchange_active_level(Level level) noexcept {
  return level_slot().exchange(level, std::memory_order_relaxed);
}

} // namespace detail

std::string_view active_instruction_set() noexcept {
  return detail::level_name(detail::active_level());
}

} // namespace simaai::kernels::a65
