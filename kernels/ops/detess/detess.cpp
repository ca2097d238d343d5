// SPDX-License-Identifier: LGPL-2.1-or-later
// What Detess admits.
#include <simaai/kernels/ops/detess.h>

#include "ops/common/admission.h"

namespace simaai::kernels::ops::detess {
namespace {

using detail::dtype_bit;

constexpr detail::DTypeRow kDTypes[] = {
    {DType::Int8, dtype_bit(DType::Int8)},
    {DType::BFloat16, dtype_bit(DType::BFloat16)},
};

constexpr detail::OpRule kRule{kDTypes, detail::kTiledLayouts, detail::kLinearLayouts, 1};

} // namespace

std::variant<Plan, Error> check_inference(const Request& request) noexcept {
  return detail::admit<Plan>(kRule, request);
}

} // namespace simaai::kernels::ops::detess
