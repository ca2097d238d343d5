// SPDX-License-Identifier: LGPL-2.1-or-later
// Native entry of Tess, version 1.
#include "firmware/common/entry.h"

#include "firmware/common/tiling/tile_writer.h"

using simaai::firmware::EntryStatus;
using simaai::firmware::Route;
using simaai::firmware::tiling::Grain;

namespace {

using Slots = simaai::firmware::tiling::TessSlots;

Route route_of(Grain grain) noexcept {
  switch (grain) {
  case Grain::Tiles:
    return Route::TessTiles;
  case Grain::Pixels:
    return Route::TessPixels;
  case Grain::Pieces:
    return Route::TessPieces;
  }
  return Route::None;
}

} // namespace

extern "C" std::uint32_t simaai_kernels_ev74_tess_v1(const void* packet, std::uint32_t bytes,
                                                     const Ev74Services* services);

extern "C" std::uint32_t simaai_kernels_ev74_tess_v1(const void* packet, std::uint32_t bytes,
                                                     const Ev74Services* services) {
  namespace firmware = simaai::firmware;
  simaai::kernels::wire::Descriptor descriptor;
  EntryStatus status =
      firmware::admit(packet, bytes, services, simaai::kernels::wire::Operation::Tess,
                      Slots::kTotalBytes, descriptor);
  if (status == EntryStatus::Completed) {
    const firmware::tiling::Plan plan =
        firmware::tiling::make_plan(descriptor, firmware::offered_workers(*services));
    firmware::report(*services, route_of(plan.grain));
    status = firmware::launch(*services, plan.workers, Slots::kTotalBytes,
                              &firmware::tiling::run_writer<Slots>, plan);
  }
  return static_cast<std::uint32_t>(status);
}
