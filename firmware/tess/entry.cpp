// SPDX-License-Identifier: LGPL-2.1-or-later
// Native entry of Tess, version 1.
#include "firmware/common/tiling/tile_entry.h"

extern "C" std::uint32_t simaai_kernels_ev74_tess_v1(const void* packet, std::uint32_t bytes,
                                                     const Ev74Services* services);

extern "C" std::uint32_t simaai_kernels_ev74_tess_v1(const void* packet, std::uint32_t bytes,
                                                     const Ev74Services* services) {
  using simaai::firmware::Route;
  namespace tiling = simaai::firmware::tiling;
  constexpr tiling::TileRoutes kRoutes{Route::TessTiles, Route::TessPixels, Route::TessPieces};
  return static_cast<std::uint32_t>(tiling::run_tile_entry<tiling::TessSlots>(
      simaai::kernels::wire::Operation::Tess, kRoutes, packet, bytes, services));
}
