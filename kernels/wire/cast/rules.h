// SPDX-License-Identifier: LGPL-2.1-or-later
// Packets of Cast: linear to linear, strides always explicit. Freestanding C++17.
#pragma once

#include "wire/operation_rules.h"

namespace simaai::kernels::wire {

inline constexpr OperationRules kCastRules{
    Operation::Cast,
    "simaai_kernels_ev74_cast_v1",
    /*allowed_flags=*/0,
    /*tiled_source=*/false,
    /*tiled_destination=*/false,
    /*has_channel_fill=*/false,
    2,
    {{DTypeTag::Float32, DTypeTag::BFloat16}, {DTypeTag::BFloat16, DTypeTag::Float32}}};

} // namespace simaai::kernels::wire
