// SPDX-License-Identifier: LGPL-2.1-or-later
// EV74 packets of CastTess.
#include <simaai/kernels/ev74/casttess.h>

#include "ev74/common/codec.h"

namespace simaai::kernels::ev74::casttess {
namespace {

detail::Lowering lowering(const Plan& /*plan*/) noexcept { return {wire::Operation::CastTess}; }

} // namespace

Status check_inference(const Plan& plan) noexcept { return detail::check_representable(plan); }

std::variant<Plan, Error> check_inference(const Request& request) noexcept {
  return detail::check_admitted(ops::casttess::check_inference(request));
}

std::variant<Invocation, Error> encode(const Plan& plan, const DeviceRegion& source,
                                       const DeviceRegion& destination) noexcept {
  return detail::encode_plan(lowering(plan), plan, source, destination);
}

std::variant<RelocatablePacket, Error> encode_relocatable(const Plan& plan) noexcept {
  return detail::encode_relocatable_plan(lowering(plan), plan);
}

std::variant<Invocation, Error> bind(const RelocatablePacket& packet, const DeviceRegion& source,
                                     const DeviceRegion& destination) noexcept {
  return detail::bind_packet(wire::Operation::CastTess, packet, source, destination);
}

} // namespace simaai::kernels::ev74::casttess
