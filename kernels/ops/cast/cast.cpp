// SPDX-License-Identifier: LGPL-2.1-or-later
// What Cast admits.
#include <simaai/kernels/ops/cast.h>

#include "ops/common/admission.h"

namespace simaai::kernels::ops::cast {
namespace {

using detail::dtype_bit;

constexpr detail::DTypeRow kDTypes[] = {
    {DType::Float32, dtype_bit(DType::BFloat16)},
    {DType::BFloat16, dtype_bit(DType::Float32)},
};

constexpr detail::OpRule kRule{kDTypes, detail::kLinearLayouts, detail::kLinearLayouts, 0};

} // namespace

std::variant<Plan, Error> check_inference(const Request& request) noexcept {
  return detail::admit<Plan>(kRule, request);
}

} // namespace simaai::kernels::ops::cast
