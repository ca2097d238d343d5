// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of geometry, visiting order and row kernels for tiled operations.
#pragma once

#include <cstdint>

#include <simaai/kernels/ops/plan.h>

#include "a65/common/tile_walk.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {

/// State for an admitted plan from a linear port to an MlaTiled port. `fill` is the byte of INT8
/// channel padding.
[[nodiscard]] TileState prepare_writer(const ops::PortPlan& plan, const RowTable& rows,
                                       std::uint8_t fill) noexcept;

/// State for an admitted plan from a tiled or channel-blocked port to a linear port.
[[nodiscard]] TileState prepare_reader(const ops::PortPlan& plan, const RowTable& rows) noexcept;

} // namespace simaai::kernels::a65::detail
