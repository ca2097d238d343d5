// SPDX-License-Identifier: LGPL-2.1-or-later
// What CastTess admits.
#include <simaai/kernels/ops/casttess.h>

#include "ops/common/admission.h"

namespace simaai::kernels::ops::casttess {
namespace {

using detail::dtype_bit;

constexpr detail::DTypeRow kDTypes[] = {
    {DType::Float32, dtype_bit(DType::BFloat16)},
    {DType::Float16, dtype_bit(DType::BFloat16)},
    {DType::BFloat16, dtype_bit(DType::BFloat16)},
};

constexpr detail::OpRule kRule{kDTypes, detail::kLinearLayouts, detail::kTiledOnly, 1};

} // namespace

std::variant<Plan, Error> check_inference(const Request& request) noexcept {
  return detail::admit<Plan>(kRule, request);
}

} // namespace simaai::kernels::ops::casttess
