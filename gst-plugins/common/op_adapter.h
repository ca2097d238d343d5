// SPDX-License-Identifier: LGPL-2.1-or-later
// What an op supplies to its element: a table of what it converts, and an adapter that admits and runs it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include <simaai/kernels/buffers.h>
#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>
#include <simaai/runtime/prepare.h>

#include "caps_spec.h"

namespace simaai::gst {

/// Family of layouts of a port. Linear: contiguous, strided. Tiled: mla-tiled, and on sink pads
/// mla-cblocked too.
enum class PortKind { Linear, Tiled };

struct Conversion {
  kernels::DType input;
  kernels::DType output;
};

/// What an op can do, as far as caps are concerned.
struct OpTraits {
  const char* op;                          ///< name of the operation, such as "tess"
  std::uint16_t operation;                 ///< its number in EV74 packets
  std::span<const Conversion> conversions; ///< in order of preference
  PortKind input;
  PortKind output;
  bool takes_channel_fill; ///< has the property int8-channel-padding
};

/// Values of properties that reach the kernel. An op ignores what it does not know.
struct OpParams {
  std::optional<std::int8_t> int8_channel_padding;
};

/// Storage that both ports need.
struct PortNeeds {
  kernels::ops::PortRequirement input;
  kernels::ops::PortRequirement output;
};

using Admission = std::variant<PortNeeds, kernels::Error>;

/// One op on one backend. Plans of up to kMaxTensors tensors live in it.
class OpAdapter {
public:
  OpAdapter() = default;
  virtual ~OpAdapter() = default;
  OpAdapter(const OpAdapter&) = delete;
  OpAdapter& operator=(const OpAdapter&) = delete;

  /// Name of the backend, as the property active-backend shows it. Static storage.
  [[nodiscard]] virtual const char* backend_name() const noexcept = 0;

  /// Checks metadata only. Reentrant, changes nothing.
  [[nodiscard]] virtual Admission admit(const kernels::TensorSpec& input,
                                        const kernels::TensorSpec& output,
                                        const OpParams& params) const noexcept = 0;

  /// Admits and keeps a plan for tensor `slot`, below kMaxTensors. A refusal leaves the slot empty.
  [[nodiscard]] virtual Admission prepare(std::size_t slot, const kernels::TensorSpec& input,
                                          const kernels::TensorSpec& output,
                                          const OpParams& params) noexcept = 0;

  /// Runs the plan of a prepared slot. Does not allocate.
  virtual kernels::Status execute(std::size_t slot, kernels::ConstHostBuffer src,
                                  kernels::HostBuffer dst) noexcept = 0;
};

using AdapterFactory = std::unique_ptr<OpAdapter> (*)();

/// Adapter over simaai::kernels::a65::<op>. `Op` names it:
///   using Plan, using Request; static auto check(const Request&); static Status execute(plan,
///   inputs, outputs); static Params params(const OpParams&).
template <class Op> class A65Adapter final : public OpAdapter {
public:
  [[nodiscard]] const char* backend_name() const noexcept override { return "a65"; }

  [[nodiscard]] Admission admit(const kernels::TensorSpec& input, const kernels::TensorSpec& output,
                                const OpParams& params) const noexcept override {
    const auto checked = check(input, output, params);
    if (const auto* error = std::get_if<kernels::Error>(&checked))
      return *error;
    return needs_of(std::get<Plan>(checked));
  }

  [[nodiscard]] Admission prepare(std::size_t slot, const kernels::TensorSpec& input,
                                  const kernels::TensorSpec& output,
                                  const OpParams& params) noexcept override {
    plans_[slot].reset();
    const auto checked = check(input, output, params);
    if (const auto* error = std::get_if<kernels::Error>(&checked))
      return *error;
    plans_[slot].emplace(std::get<Plan>(checked));
    return needs_of(*plans_[slot]);
  }

  kernels::Status execute(std::size_t slot, kernels::ConstHostBuffer src,
                          kernels::HostBuffer dst) noexcept override {
    const std::array inputs{src};
    const std::array outputs{dst};
    return Op::execute(*plans_[slot], inputs, outputs);
  }

private:
  using Plan = typename Op::Plan;

  static auto check(const kernels::TensorSpec& input, const kernels::TensorSpec& output,
                    const OpParams& params) noexcept {
    const std::array inputs{input};
    const std::array outputs{output};
    return Op::check(typename Op::Request{inputs, outputs, Op::params(params)});
  }

  static PortNeeds needs_of(const Plan& plan) noexcept {
    return {plan.input_requirement(), plan.output_requirement()};
  }

  std::array<std::optional<Plan>, kMaxTensors> plans_;
};

template <class Op> std::unique_ptr<OpAdapter> make_a65_adapter() {
  return std::make_unique<A65Adapter<Op>>();
}

/// Admits an op for the EV74 and encodes its packet.
using PlanFactory = std::variant<runtime::Plan, runtime::Error> (*)(
    const kernels::TensorSpec& input, const kernels::TensorSpec& output, const OpParams& params);

template <class Op>
std::variant<runtime::Plan, runtime::Error> make_device_plan(const kernels::TensorSpec& input,
                                                             const kernels::TensorSpec& output,
                                                             const OpParams& params) {
  const std::array inputs{input};
  const std::array outputs{output};
  return runtime::prepare(typename Op::Request{inputs, outputs, Op::params(params)},
                          runtime::Backend::Ev74);
}

} // namespace simaai::gst
