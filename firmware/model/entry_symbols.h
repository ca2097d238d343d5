// SPDX-License-Identifier: LGPL-2.1-or-later
// Symbols of the native entries, one an operation.
#pragma once

#include <cstdint>

#include "firmware/common/services.h"

extern "C" {
std::uint32_t simaai_kernels_ev74_cast_v1(const void* packet, std::uint32_t bytes,
                                          const Ev74Services* services);
std::uint32_t simaai_kernels_ev74_tess_v1(const void* packet, std::uint32_t bytes,
                                          const Ev74Services* services);
std::uint32_t simaai_kernels_ev74_casttess_v1(const void* packet, std::uint32_t bytes,
                                              const Ev74Services* services);
std::uint32_t simaai_kernels_ev74_detess_v1(const void* packet, std::uint32_t bytes,
                                            const Ev74Services* services);
std::uint32_t simaai_kernels_ev74_detesscast_v1(const void* packet, std::uint32_t bytes,
                                                const Ev74Services* services);
}
