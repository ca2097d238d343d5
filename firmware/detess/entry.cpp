// SPDX-License-Identifier: LGPL-2.1-or-later
// Native entry of Detess, version 1.
#include "firmware/detess/run.h"

extern "C" std::uint32_t simaai_kernels_ev74_detess_v1(const void* packet, std::uint32_t bytes,
                                                       const Ev74Services* services);

extern "C" std::uint32_t simaai_kernels_ev74_detess_v1(const void* packet, std::uint32_t bytes,
                                                       const Ev74Services* services) {
  namespace firmware = simaai::firmware;
  namespace detess = firmware::detess;
  namespace wire = simaai::kernels::wire;
  wire::Descriptor descriptor;
  wire::EntryStatus status =
      firmware::admit(packet, bytes, services, wire::Operation::Detess,
                      detess::GeneralSlots<detess::BFloat16>::Table::kTotalBytes, descriptor);
  if (status == wire::EntryStatus::Completed) {
    const detess::Reader reader = detess::select_reader(descriptor);
    const bool int8 = descriptor.source_dtype == wire::DTypeTag::Int8;
    status = detess::run_reader(descriptor, *services, reader,
                                int8 ? detess::general_body<detess::Int8>(reader)
                                     : detess::general_body<detess::BFloat16>(reader));
  }
  return static_cast<std::uint32_t>(status);
}
