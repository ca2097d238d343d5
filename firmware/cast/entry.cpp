// SPDX-License-Identifier: LGPL-2.1-or-later
// Native entry of Cast, version 1.
#include "firmware/common/entry.h"

#include "firmware/cast/plan.h"
#include "firmware/cast/steps.h"

using simaai::firmware::EntryStatus;

extern "C" std::uint32_t simaai_kernels_ev74_cast_v1(const void* packet, std::uint32_t bytes,
                                                     const Ev74Services* services);

extern "C" std::uint32_t simaai_kernels_ev74_cast_v1(const void* packet, std::uint32_t bytes,
                                                     const Ev74Services* services) {
  namespace firmware = simaai::firmware;
  namespace cast = simaai::firmware::cast;
  simaai::kernels::wire::Descriptor descriptor;
  EntryStatus status =
      firmware::admit(packet, bytes, services, simaai::kernels::wire::Operation::Cast,
                      cast::Slots::kTotalBytes, descriptor);
  if (status == EntryStatus::Completed) {
    const cast::Plan plan = cast::make_plan(descriptor, firmware::offered_workers(*services));
    firmware::report(*services, plan.route);
    status = firmware::launch(*services, plan.workers, cast::Slots::kTotalBytes,
                              plan.matrix ? &cast::run_columns : &cast::run_spans, plan);
  }
  return static_cast<std::uint32_t>(status);
}
