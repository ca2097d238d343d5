// SPDX-License-Identifier: LGPL-2.1-or-later
// One request for either backend.
#include <span>
#include <variant>

#include <simaai/kernels/ev74/cast.h>
#include <simaai/kernels/ev74/casttess.h>
#include <simaai/kernels/ev74/describe.h>
#include <simaai/kernels/ev74/detess.h>
#include <simaai/kernels/ev74/detesscast.h>
#include <simaai/kernels/ev74/tess.h>
#include <simaai/runtime/prepare.h>

namespace simaai::runtime {
namespace detail {

struct PlanAccess {
  using Ev74 = Plan::Ev74;
  static Plan make(const kernels::ops::PortPlan& ports, const Plan::Work& work) noexcept {
    return {ports, work};
  }
  static const Plan::Work& work(const Plan& plan) noexcept { return plan.work_; }
};

} // namespace detail

namespace {

using detail::PlanAccess;
namespace k = kernels;

Error wrong_backend() noexcept {
  Error error;
  error.code = ErrorCode::WrongBackend;
  return error;
}

/// `admit` is the operation's shared admission, `encode` its codec, `prepare` its A65 preparation.
template <class Request, class Metadata, class Prepared>
std::variant<Plan, Error>
prepare_op(const Request& request, Backend backend,
           std::variant<Metadata, k::Error> (*admit)(const Request&) noexcept,
           std::variant<k::ev74::RelocatablePacket, k::Error> (*encode)(const Metadata&) noexcept,
           Prepared (*prepare_a65)(const Metadata&) noexcept) noexcept {
  const auto admitted = admit(request);
  if (const auto* error = std::get_if<k::Error>(&admitted))
    return kernel_error(*error);
  const Metadata& plan = *std::get_if<Metadata>(&admitted);
  switch (backend) {
  case Backend::A65:
    return PlanAccess::make(plan, prepare_a65(plan));
  case Backend::Ev74:
    break;
  }
  if (plan.empty())
    return PlanAccess::make(plan, PlanAccess::Ev74{});
  const auto encoded = encode(plan);
  if (const auto* error = std::get_if<k::Error>(&encoded))
    return kernel_error(*error);
  return PlanAccess::make(plan,
                          PlanAccess::Ev74{*std::get_if<k::ev74::RelocatablePacket>(&encoded)});
}

Status outcome(const k::Status& status) noexcept {
  return status.ok() ? Status() : Status(kernel_error(status.error()));
}

} // namespace

std::variant<Plan, Error> prepare(const k::ops::cast::Request& request, Backend backend) noexcept {
  return prepare_op(request, backend, k::ops::cast::check_inference,
                    k::ev74::cast::encode_relocatable, k::a65::cast::prepare);
}

std::variant<Plan, Error> prepare(const k::ops::tess::Request& request, Backend backend) noexcept {
  return prepare_op(request, backend, k::ops::tess::check_inference,
                    k::ev74::tess::encode_relocatable, k::a65::tess::prepare);
}

std::variant<Plan, Error> prepare(const k::ops::casttess::Request& request,
                                  Backend backend) noexcept {
  return prepare_op(request, backend, k::ops::casttess::check_inference,
                    k::ev74::casttess::encode_relocatable, k::a65::casttess::prepare);
}

std::variant<Plan, Error> prepare(const k::ops::detess::Request& request,
                                  Backend backend) noexcept {
  return prepare_op(request, backend, k::ops::detess::check_inference,
                    k::ev74::detess::encode_relocatable, k::a65::detess::prepare);
}

std::variant<Plan, Error> prepare(const k::ops::detesscast::Request& request,
                                  Backend backend) noexcept {
  return prepare_op(request, backend, k::ops::detesscast::check_inference,
                    k::ev74::detesscast::encode_relocatable, k::a65::detesscast::prepare);
}

std::string packet_text(const Plan& plan) {
  const auto* packet = plan.packet();
  return packet == nullptr ? std::string() : k::ev74::describe_packet(packet->bytes());
}

Status execute(const Plan& plan, k::ConstHostBuffer source, k::HostBuffer destination) noexcept {
  const auto& work = PlanAccess::work(plan);
  const std::span<const k::ConstHostBuffer> inputs(&source, 1);
  const std::span<const k::HostBuffer> outputs(&destination, 1);
  if (const auto* cast = std::get_if<k::a65::cast::Plan>(&work))
    return outcome(k::a65::cast::execute(*cast, inputs, outputs));
  if (const auto* tess = std::get_if<k::a65::tess::Plan>(&work))
    return outcome(k::a65::tess::execute(*tess, inputs, outputs));
  if (const auto* casttess = std::get_if<k::a65::casttess::Plan>(&work))
    return outcome(k::a65::casttess::execute(*casttess, inputs, outputs));
  if (const auto* detess = std::get_if<k::a65::detess::Plan>(&work))
    return outcome(k::a65::detess::execute(*detess, inputs, outputs));
  if (const auto* detesscast = std::get_if<k::a65::detesscast::Plan>(&work))
    return outcome(k::a65::detesscast::execute(*detesscast, inputs, outputs));
  return wrong_backend();
}

} // namespace simaai::runtime
