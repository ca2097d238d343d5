// SPDX-License-Identifier: LGPL-2.1-or-later
// Admitted plan -> wire descriptor: public tags, layouts and strides in the packet's own terms.
#pragma once

#include <simaai/kernels/ops/plan.h>

#include "ev74/common/codec.h"
#include "wire/descriptor.h"

namespace simaai::kernels::ev74::detail {

/// Describes a nonempty plan that passed check_representable(). Address slots are zero.
[[nodiscard]] wire::Descriptor lower(const Lowering& lowering, const ops::PortPlan& plan) noexcept;

} // namespace simaai::kernels::ev74::detail
