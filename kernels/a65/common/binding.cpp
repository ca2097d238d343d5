// SPDX-License-Identifier: LGPL-2.1-or-later
// Binding checks: everything that could go wrong with a buffer, before the first write.
#include "a65/common/binding.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace simaai::kernels::a65::detail {
namespace {

std::int64_t clamp_to_int64(std::uint64_t value) noexcept {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  return value > static_cast<std::uint64_t>(kMax) ? kMax : static_cast<std::int64_t>(value);
}

Error port_error(ErrorCode code, Operand operand, std::uint64_t expected,
                 std::uint64_t found) noexcept {
  return {code, operand, 0, -1, clamp_to_int64(expected), clamp_to_int64(found)};
}

Status check_port(Operand operand, const void* data, std::size_t capacity_bytes,
                  const ops::PortRequirement& needs) noexcept {
  if (data == nullptr)
    return port_error(ErrorCode::NullBuffer, operand, needs.bytes, 0);
  if (capacity_bytes < needs.bytes)
    return port_error(ErrorCode::BufferTooSmall, operand, needs.bytes, capacity_bytes);
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if (address % needs.alignment != 0)
    return port_error(ErrorCode::BufferMisaligned, operand, needs.alignment,
                      address % needs.alignment);
  if (needs.bytes > std::numeric_limits<std::uintptr_t>::max() - address)
    return port_error(ErrorCode::AddressOverflow, operand, needs.bytes, 0);
  return {};
}

} // namespace

Status explain_binding(const ops::PortPlan& plan, std::span<const ConstHostBuffer> inputs,
                       std::span<const HostBuffer> outputs) noexcept {
  if (inputs.size() != 1)
    return port_error(ErrorCode::WrongInputCount, Operand::Request, 1, inputs.size());
  if (outputs.size() != 1)
    return port_error(ErrorCode::WrongOutputCount, Operand::Request, 1, outputs.size());
  if (plan.empty())
    return {};
  const ops::PortRequirement& reads = plan.input_requirement();
  const ops::PortRequirement& writes = plan.output_requirement();
  if (const Status refused =
          check_port(Operand::Input, inputs[0].data, inputs[0].capacity_bytes, reads);
      !refused)
    return refused;
  if (const Status refused =
          check_port(Operand::Output, outputs[0].data, outputs[0].capacity_bytes, writes);
      !refused)
    return refused;
  const auto input_begin = reinterpret_cast<std::uintptr_t>(inputs[0].data);
  const auto output_begin = reinterpret_cast<std::uintptr_t>(outputs[0].data);
  const std::uintptr_t begin = std::max(input_begin, output_begin);
  const std::uintptr_t end = std::min(input_begin + reads.bytes, output_begin + writes.bytes);
  if (begin < end)
    return port_error(ErrorCode::BuffersOverlap, Operand::Output, 0, end - begin);
  return {};
}

} // namespace simaai::kernels::a65::detail
