// SPDX-License-Identifier: LGPL-2.1-or-later
// Packets of Detess: tiled or channel-blocked to linear, bits kept. Freestanding C++17.
#pragma once

#include "wire/operation_rules.h"

namespace simaai::kernels::wire {

inline constexpr OperationRules kDetessRules{
    Operation::Detess,
    "simaai_kernels_ev74_detess_v1",
    /*allowed_flags=*/kFlagStrided | kFlagCBlocked,
    /*tiled_source=*/true,
    /*tiled_destination=*/false,
    /*has_channel_fill=*/false,
    2,
    {{DTypeTag::Int8, DTypeTag::Int8}, {DTypeTag::BFloat16, DTypeTag::BFloat16}}};

} // namespace simaai::kernels::wire
