// SPDX-License-Identifier: LGPL-2.1-or-later
// What Tess admits.
#include <simaai/kernels/ops/tess.h>

#include "ops/common/admission.h"

namespace simaai::kernels::ops::tess {
namespace {

using detail::dtype_bit;

constexpr detail::DTypeRow kDTypes[] = {
    {DType::Int8, dtype_bit(DType::Int8)},
    {DType::BFloat16, dtype_bit(DType::BFloat16)},
};

constexpr detail::OpRule kRule{kDTypes, detail::kLinearLayouts, detail::kTiledOnly, 1};

/// The fill is a matter of the declared storage, not of the extents: empty tensors and exact
/// multiples of 16 need it too.
std::optional<Error> check_fill(const Request& request) noexcept {
  const TensorSpec& output = request.outputs[0];
  const auto& fill = request.params.int8_channel_padding;
  if (output.dtype == DType::BFloat16 && fill.has_value())
    return Error{ErrorCode::ChannelPaddingForbidden, Operand::Params, 0, -1, 0, *fill};
  const auto* tiled = std::get_if<MlaTiled>(&output.layout);
  if (output.dtype == DType::Int8 && !fill.has_value() && tiled != nullptr &&
      tiled->channels == ChannelStorage::PadTo16)
    return Error{ErrorCode::ChannelPaddingRequired, Operand::Params, 0, -1, 0, 0};
  return std::nullopt;
}

} // namespace

std::variant<Plan, Error> check_inference(const Request& request) noexcept {
  return detail::admit<Plan>(kRule, request, check_fill);
}

} // namespace simaai::kernels::ops::tess
