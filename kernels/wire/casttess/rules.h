// SPDX-License-Identifier: LGPL-2.1-or-later
// Packets of CastTess: linear to tiled BFloat16. Freestanding C++17.
#pragma once

#include "wire/operation_rules.h"

namespace simaai::kernels::wire {

inline constexpr OperationRules kCastTessRules{Operation::CastTess,
                                               "simaai_kernels_ev74_casttess_v1",
                                               /*allowed_flags=*/kFlagStrided,
                                               /*tiled_source=*/false,
                                               /*tiled_destination=*/true,
                                               /*has_channel_fill=*/false,
                                               3,
                                               {{DTypeTag::Float32, DTypeTag::BFloat16},
                                                {DTypeTag::Float16, DTypeTag::BFloat16},
                                                {DTypeTag::BFloat16, DTypeTag::BFloat16}}};

} // namespace simaai::kernels::wire
