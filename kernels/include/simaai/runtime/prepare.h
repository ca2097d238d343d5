// SPDX-License-Identifier: LGPL-2.1-or-later
// One request, admitted for either backend.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include <simaai/kernels/a65/cast.h>
#include <simaai/kernels/a65/casttess.h>
#include <simaai/kernels/a65/detess.h>
#include <simaai/kernels/a65/detesscast.h>
#include <simaai/kernels/a65/tess.h>
#include <simaai/kernels/buffers.h>
#include <simaai/kernels/ev74/packet.h>
#include <simaai/runtime/error.h>
#include <simaai/runtime/export.h>

namespace simaai::runtime {

enum class Backend : std::uint8_t { A65, Ev74 };

namespace detail {
struct PlanAccess;
} // namespace detail

/// An admitted request, ready for one backend: chosen row kernels (A65) or a packet without addresses (EV74). Immutable,
/// trivially copyable, holds no pointer. Thread-safe to share.
class Plan {
public:
  [[nodiscard]] Backend backend() const noexcept {
    return std::holds_alternative<Ev74>(work_) ? Backend::Ev74 : Backend::A65;
  }
  [[nodiscard]] const kernels::ops::PortPlan& ports() const noexcept { return ports_; }
  /// True where an extent is zero: there is nothing to do.
  [[nodiscard]] bool empty() const noexcept { return ports_.empty(); }
  /// The packet; null for A65 and for empty plans.
  [[nodiscard]] const kernels::ev74::RelocatablePacket* packet() const noexcept {
    const auto* work = std::get_if<Ev74>(&work_);
    return work != nullptr && work->packet ? &*work->packet : nullptr;
  }

private:
  friend struct detail::PlanAccess;
  struct Ev74 {
    std::optional<kernels::ev74::RelocatablePacket> packet; ///< none for an empty plan
  };
  using Work = std::variant<Ev74, kernels::a65::cast::Plan, kernels::a65::tess::Plan,
                            kernels::a65::casttess::Plan, kernels::a65::detess::Plan,
                            kernels::a65::detesscast::Plan>;
  Plan(const kernels::ops::PortPlan& ports, const Work& work) noexcept
      : ports_(ports), work_(work) {}

  kernels::ops::PortPlan ports_;
  Work work_;
};

/// Shared admission, then what the backend adds: nothing on A65, the representability check and the packet on EV74.
/// Never chooses another backend than the one asked for. Refusal: Kernel with the reason. Does not allocate. Reentrant.
[[nodiscard]] SIMAAI_RUNTIME_API std::variant<Plan, Error>
prepare(const kernels::ops::cast::Request& request, Backend backend) noexcept;
[[nodiscard]] SIMAAI_RUNTIME_API std::variant<Plan, Error>
prepare(const kernels::ops::tess::Request& request, Backend backend) noexcept;
[[nodiscard]] SIMAAI_RUNTIME_API std::variant<Plan, Error>
prepare(const kernels::ops::casttess::Request& request, Backend backend) noexcept;
[[nodiscard]] SIMAAI_RUNTIME_API std::variant<Plan, Error>
prepare(const kernels::ops::detess::Request& request, Backend backend) noexcept;
[[nodiscard]] SIMAAI_RUNTIME_API std::variant<Plan, Error>
prepare(const kernels::ops::detesscast::Request& request, Backend backend) noexcept;

/// Every field of an EV74 plan's packet, one a line, for messages; empty where there is no packet. Allocates. Reentrant.
[[nodiscard]] SIMAAI_RUNTIME_API std::string packet_text(const Plan& plan);

/// Runs an A65 plan on host memory, as a65::<op>::execute() does. Refusals: WrongBackend, Kernel. Reentrant.
SIMAAI_RUNTIME_API Status execute(const Plan& plan, kernels::ConstHostBuffer source,
                                  kernels::HostBuffer destination) noexcept;

} // namespace simaai::runtime
