// SPDX-License-Identifier: LGPL-2.1-or-later
// What the entries of the operations that write tiles do.
#pragma once

#include "firmware/common/entry.h"
#include "firmware/common/tiling/tile_writer.h"

namespace simaai::firmware::tiling {

/// What an operation reports, by the grain that its plan moves.
struct TileRoutes {
  Route tiles;
  Route pixels;
  Route pieces;
};

inline Route route_of(const TileRoutes& routes, Grain grain) noexcept {
  switch (grain) {
  case Grain::Tiles:
    return routes.tiles;
  case Grain::Pixels:
    return routes.pixels;
  case Grain::Pieces:
    return routes.pieces;
  }
  return Route::None;
}

/// Admits the packet, plans, reports the route and runs the workers.
template <class Slots>
EntryStatus run_tile_entry(kernels::wire::Operation operation, const TileRoutes& routes,
                           const void* packet, std::uint32_t bytes,
                           const Ev74Services* services) noexcept {
  kernels::wire::Descriptor descriptor;
  const EntryStatus status =
      admit(packet, bytes, services, operation, Slots::kTotalBytes, descriptor);
  if (status != EntryStatus::Completed)
    return status;
  const Plan plan = make_plan(descriptor, offered_workers(*services));
  report(*services, route_of(routes, plan.grain));
  return launch(*services, plan.workers, Slots::kTotalBytes, &run_writer<Slots>, plan);
}

} // namespace simaai::firmware::tiling
