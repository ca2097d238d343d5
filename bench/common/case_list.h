// SPDX-License-Identifier: LGPL-2.1-or-later
// Cases of an operation, from the table of real shapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <simaai/kernels/tensor_spec.h>

#include "case.h"

namespace simaai::bench {

/// Quick: a few shapes, about two minutes for all operations. Table: every shape, but in storages and
/// conversions of less weight only some. Full: all of them.
enum class Extent : std::uint8_t { Quick, Table, Full };

/// Which side of an operation is tiled.
enum class Direction : std::uint8_t { Tile, Untile };

/// What a tiled operation is measured with. In Extent::Table each of the first `full_conversions`
/// conversions is measured with the first storage on every shape, the others and the other storages
/// on some.
struct TiledFamily {
  std::string_view operation;
  Direction direction;
  struct Conversion {
    kernels::DType from;
    kernels::DType to;
  };
  std::vector<Conversion> conversions;
  std::size_t full_conversions;
  std::vector<Storage> storages;
};

/// Cases of a tiled operation: shapes by conversions by storages, hot and cold; strided
/// patterns; one call on a 1x1x16 tensor.
[[nodiscard]] std::vector<Case> tiled_cases(const TiledFamily& family, Extent extent);

/// The same for Cast, between linear tensors.
[[nodiscard]] std::vector<Case> cast_cases(Extent extent);

} // namespace simaai::bench
