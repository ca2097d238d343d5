// SPDX-License-Identifier: LGPL-2.1-or-later
// Native entry of CastTess, version 1.
#include "firmware/common/tiling/tile_entry.h"

extern "C" std::uint32_t simaai_kernels_ev74_casttess_v1(const void* packet, std::uint32_t bytes,
                                                         const Ev74Services* services);

extern "C" std::uint32_t simaai_kernels_ev74_casttess_v1(const void* packet, std::uint32_t bytes,
                                                         const Ev74Services* services) {
  using simaai::firmware::Route;
  namespace tiling = simaai::firmware::tiling;
  constexpr tiling::TileRoutes kRoutes{Route::CastTessTiles, Route::CastTessPixels,
                                       Route::CastTessPieces};
  return static_cast<std::uint32_t>(tiling::run_tile_entry<tiling::CastTessSlots>(
      simaai::kernels::wire::Operation::CastTess, kRoutes, packet, bytes, services));
}
