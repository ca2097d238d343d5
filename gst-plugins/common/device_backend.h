// SPDX-License-Identifier: LGPL-2.1-or-later
// The backend ev74 of an op element: plans with packets, a device, jobs.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include <simaai/kernels/tensor_spec.h>
#include <simaai/runtime/device.h>
#include <simaai/runtime/prepare.h>

#include "fd_memory.h"
#include "gst_ptr.h"
#include "op_adapter.h"

namespace simaai::gst {

/// URI of the device that `backend=ev74` takes where the property device is not set.
inline constexpr const char* kDefaultDevice = "model:";

/// Plans and jobs on one device. Bound to the streaming thread, but for uri().
class DeviceBackend {
public:
  DeviceBackend(std::string uri, runtime::Device device, PlanFactory factory)
      : uri_(std::move(uri)), device_(std::move(device)), factory_(factory) {}

  [[nodiscard]] const std::string& uri() const noexcept { return uri_; }
  [[nodiscard]] const runtime::Device& device() const noexcept { return device_; }

  /// Keeps a plan for tensor `slot` where the device can run its packet. Empty, or why not.
  [[nodiscard]] std::string prepare(std::size_t slot, const kernels::TensorSpec& input,
                                    const kernels::TensorSpec& output, const OpParams& params);

  /// Hands the plan of a slot over. Both memories are kept until the job is retired, however long that takes. QueueFull:
  /// others keep the device busy.
  [[nodiscard]] std::variant<runtime::Job, runtime::Error>
  submit(std::size_t slot, const FdRange& source, const FdRange& destination,
         runtime::AfterSubmit next) noexcept;

  /// After QueueFull: waits until a job of the device retires, whoever has it, at most so long.
  void await_retirement(std::chrono::nanoseconds most) const noexcept {
    (void)device_.await_retirement(most);
  }
  [[nodiscard]] std::uint64_t retirements() const noexcept { return device_.retirements(); }

  /// Fields of the packet of a slot, one a line.
  [[nodiscard]] std::string packet_text(std::size_t slot) const;

private:
  const std::string uri_;
  runtime::Device device_;
  PlanFactory factory_;
  std::array<std::optional<runtime::Plan>, kMaxTensors> plans_;
};

/// Whether a setting can come to a device at all: `required` is backend=ev74. The model is for those who ask for it.
[[nodiscard]] bool may_use_device(bool required, const std::string& device) noexcept;

/// What a backend setting and a device setting come to.
struct BackendSelection {
  std::unique_ptr<DeviceBackend> device; ///< null: A65
  std::string reason;                    ///< why it is A65 although a device was named; else empty
  std::string error;                     ///< why the element cannot start; else empty
};

/// Opens the device of `backend=ev74`, or of `backend=auto` where a device other than model: is named and offers the
/// operation of that wire number. `auto` falls back to A65 and says why; `ev74` does not.
[[nodiscard]] BackendSelection select_backend(bool required, const std::string& device,
                                              std::uint16_t operation, PlanFactory factory);

/// Why the element must not start: jobs on its device that timed out, or whose connection was lost, and that are not
/// retired. Empty where there are none. What a stop left behind is no reason: the device will be done with it.
[[nodiscard]] std::string overdue_problem(const std::string& device);

} // namespace simaai::gst
