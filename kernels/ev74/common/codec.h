// SPDX-License-Identifier: LGPL-2.1-or-later
// The EV74 host codec behind every operation: plan -> descriptor -> packet, and binding.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include <simaai/kernels/ev74/packet.h>
#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>

#include "wire/packet.h"

namespace simaai::kernels::ev74::detail {

/// What a plan of `operation` says beyond its ports.
struct Lowering {
  wire::Operation operation;
  std::optional<std::int8_t> channel_padding{};
};

/// Representability of an admitted plan; an empty plan passes.
[[nodiscard]] Status check_representable(const ops::PortPlan& plan) noexcept;

[[nodiscard]] std::variant<Invocation, Error> encode_plan(const Lowering& lowering,
                                                          const ops::PortPlan& plan,
                                                          const DeviceRegion& source,
                                                          const DeviceRegion& destination) noexcept;

[[nodiscard]] std::variant<RelocatablePacket, Error>
encode_relocatable_plan(const Lowering& lowering, const ops::PortPlan& plan) noexcept;

[[nodiscard]] std::variant<Invocation, Error> bind_packet(wire::Operation operation,
                                                          const RelocatablePacket& packet,
                                                          const DeviceRegion& source,
                                                          const DeviceRegion& destination) noexcept;

/// Shared admission followed by the representability check.
template <class Plan>
[[nodiscard]] std::variant<Plan, Error>
check_admitted(const std::variant<Plan, Error>& admitted) noexcept {
  const Plan* plan = std::get_if<Plan>(&admitted);
  if (plan == nullptr)
    return admitted;
  if (const Status status = check_representable(*plan); !status.ok())
    return status.error();
  return admitted;
}

} // namespace simaai::kernels::ev74::detail
