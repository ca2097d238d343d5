// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of the backend, plans and jobs on a device.
#include "device_backend.h"

#include <algorithm>
#include <utility>

namespace simaai::gst {
namespace {

void let_go(void* memory) noexcept { gst_memory_unref(static_cast<GstMemory*>(memory)); }

void unlock_and_let_go(void* memory) noexcept {
  gst_memory_unlock(static_cast<GstMemory*>(memory), GST_LOCK_FLAG_EXCLUSIVE);
  let_go(memory);
}

/// The memory is kept, and locked as if one more buffer had it: buffer pools reuse memory that is only referenced, but
/// none that is shared. Memory that somebody keeps mapped for writing cannot be locked.
runtime::Binding binding_of(const FdRange& range) noexcept {
  const bool locked = gst_memory_lock(range.memory, GST_LOCK_FLAG_EXCLUSIVE) != FALSE;
  return {range.fd,
          range.offset_bytes,
          range.length_bytes,
          {gst_memory_ref(range.memory), locked ? unlock_and_let_go : let_go},
          range.object};
}

bool offers(const runtime::Device& device, std::uint16_t operation) noexcept {
  const auto entries = device.capabilities().entries();
  return std::any_of(entries.begin(), entries.end(), [operation](const runtime::Capability& one) {
    return one.operation == operation;
  });
}

} // namespace

std::string DeviceBackend::prepare(std::size_t slot, const kernels::TensorSpec& input,
                                   const kernels::TensorSpec& output, const OpParams& params) {
  plans_[slot].reset();
  auto prepared = factory_(input, output, params);
  if (const auto* error = std::get_if<runtime::Error>(&prepared))
    return error->message();
  const auto& plan = std::get<runtime::Plan>(prepared);
  if (const runtime::Status status = device_.check(plan); !status.ok())
    return status.message() + " (device " + uri_ + ")";
  plans_[slot].emplace(plan);
  return {};
}

std::variant<runtime::Job, runtime::Error>
DeviceBackend::submit(std::size_t slot, const FdRange& source, const FdRange& destination,
                      runtime::AfterSubmit next) noexcept {
  return device_.submit(*plans_[slot], binding_of(source), binding_of(destination), next);
}

std::string DeviceBackend::packet_text(std::size_t slot) const {
  return plans_[slot] ? runtime::packet_text(*plans_[slot]) : std::string();
}

bool may_use_device(bool required, const std::string& device) noexcept {
  return required || (!device.empty() && device.rfind(kDefaultDevice, 0) != 0);
}

BackendSelection select_backend(bool required, const std::string& device, std::uint16_t operation,
                                PlanFactory factory) {
  BackendSelection selection;
  const std::string uri = device.empty() ? std::string(kDefaultDevice) : device;
  if (!may_use_device(required, device))
    return selection;
  auto opened = runtime::Device::open(uri);
  if (const auto* error = std::get_if<runtime::Error>(&opened)) {
    (required ? selection.error : selection.reason) = "device " + uri + ": " + error->message();
    return selection;
  }
  auto& found = std::get<runtime::Device>(opened);
  if (!required && !offers(found, operation)) {
    selection.reason = "device " + uri + " does not offer this operation";
    return selection;
  }
  selection.device = std::make_unique<DeviceBackend>(uri, std::move(found), factory);
  return selection;
}

std::string overdue_problem(const std::string& device) {
  const std::string uri = device.empty() ? std::string(kDefaultDevice) : device;
  const std::size_t overdue = runtime::overdue_jobs(uri);
  if (overdue == 0)
    return {};
  runtime::Error error;
  error.code = runtime::ErrorCode::JobsStillParked;
  error.found = static_cast<std::int64_t>(overdue);
  return "device " + uri + ": " + error.message();
}

} // namespace simaai::gst
