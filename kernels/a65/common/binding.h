// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of the buffers bound to a plan, shared by every operation.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include <simaai/kernels/buffers.h>
#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>

namespace simaai::kernels::a65::detail {

/// The checks of check_binding() in full, with the reason of a refusal.
Status explain_binding(const ops::PortPlan& plan, std::span<const ConstHostBuffer> inputs,
                       std::span<const HostBuffer> outputs) noexcept;

/// True where `bytes` bytes from `address` on are there, aligned, and end inside the address space.
/// Alignments are powers of two.
[[nodiscard]] inline bool port_fits(std::uintptr_t address, std::size_t capacity_bytes,
                                    const ops::PortRequirement& needs) noexcept {
  return address != 0 && capacity_bytes >= needs.bytes &&
         (address & (needs.alignment - std::uintptr_t{1})) == 0 &&
         needs.bytes <= std::numeric_limits<std::uintptr_t>::max() - address;
}

/// Checks arity, then per port null pointer, capacity, alignment and address wrap-around, then
/// overlap of the two ranges that the plan accesses. Plans without work need the arity only. On
/// small tensors this is most of a call: what nearly all calls pass is tested first, in line.
inline Status check_binding(const ops::PortPlan& plan, std::span<const ConstHostBuffer> inputs,
                            std::span<const HostBuffer> outputs) noexcept {
  if (inputs.size() == 1 && outputs.size() == 1) {
    const ops::PortRequirement& reads = plan.input_requirement();
    const ops::PortRequirement& writes = plan.output_requirement();
    const auto input = reinterpret_cast<std::uintptr_t>(inputs[0].data);
    const auto output = reinterpret_cast<std::uintptr_t>(outputs[0].data);
    if (port_fits(input, inputs[0].capacity_bytes, reads) &&
        port_fits(output, outputs[0].capacity_bytes, writes) &&
        (input + reads.bytes <= output || output + writes.bytes <= input))
      return {};
  }
  return explain_binding(plan, inputs, outputs);
}

} // namespace simaai::kernels::a65::detail
