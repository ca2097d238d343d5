// SPDX-License-Identifier: LGPL-2.1-or-later
// Packets of DetessCast: tiled or channel-blocked BFloat16 to linear. Freestanding C++17.
#pragma once

#include "wire/operation_rules.h"

namespace simaai::kernels::wire {

inline constexpr OperationRules kDetessCastRules{
    Operation::DetessCast,
    "simaai_kernels_ev74_detesscast_v1",
    /*allowed_flags=*/kFlagStrided | kFlagCBlocked,
    /*tiled_source=*/true,
    /*tiled_destination=*/false,
    /*has_channel_fill=*/false,
    2,
    {{DTypeTag::BFloat16, DTypeTag::BFloat16}, {DTypeTag::BFloat16, DTypeTag::Float32}}};

} // namespace simaai::kernels::wire
