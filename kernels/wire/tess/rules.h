// SPDX-License-Identifier: LGPL-2.1-or-later
// Packets of Tess: linear to tiled, bits kept. Freestanding C++17.
#pragma once

#include "wire/operation_rules.h"

namespace simaai::kernels::wire {

inline constexpr OperationRules kTessRules{
    Operation::Tess,
    "simaai_kernels_ev74_tess_v1",
    /*allowed_flags=*/kFlagStrided,
    /*tiled_source=*/false,
    /*tiled_destination=*/true,
    /*has_channel_fill=*/true,
    2,
    {{DTypeTag::Int8, DTypeTag::Int8}, {DTypeTag::BFloat16, DTypeTag::BFloat16}}};

} // namespace simaai::kernels::wire
