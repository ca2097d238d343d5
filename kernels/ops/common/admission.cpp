// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of a one-input, one-output request against an operation's table.
#include "ops/common/admission.h"

#include "ops/common/tensor_checks.h"

namespace simaai::kernels::ops::detail {
namespace {

std::optional<Error> check_arity(std::size_t inputs, std::size_t outputs) noexcept {
  if (inputs != 1)
    return Error{ErrorCode::WrongInputCount,       Operand::Request, 0, -1, 1,
                 static_cast<std::int64_t>(inputs)};
  if (outputs != 1)
    return Error{ErrorCode::WrongOutputCount,       Operand::Request, 0, -1, 1,
                 static_cast<std::int64_t>(outputs)};
  return std::nullopt;
}

/// True where each input dtype goes with itself only: then a wrong pair is a mismatch.
bool keeps_dtype(const OpRule& rule) noexcept {
  for (const DTypeRow& row : rule.dtypes)
    if (row.outputs != dtype_bit(row.input))
      return false;
  return true;
}

std::optional<Error> check_dtypes(const OpRule& rule, const Port& input,
                                  const Port& output) noexcept {
  for (const Port* port : {&input, &output})
    if (const auto refused = check_known_dtype(*port))
      return refused;
  DTypeMask any_input = 0;
  DTypeMask any_output = 0;
  DTypeMask paired = 0;
  for (const DTypeRow& row : rule.dtypes) {
    any_input |= dtype_bit(row.input);
    any_output |= row.outputs;
    if (row.input == input.spec.dtype)
      paired = row.outputs;
  }
  const auto from = static_cast<std::int64_t>(input.spec.dtype);
  const auto to = static_cast<std::int64_t>(output.spec.dtype);
  if (paired == 0)
    return input.error(ErrorCode::UnsupportedDType, any_input, from);
  if ((paired & dtype_bit(output.spec.dtype)) != 0)
    return std::nullopt;
  if (keeps_dtype(rule) && (any_output & dtype_bit(output.spec.dtype)) != 0)
    return output.error(ErrorCode::DTypeMismatch, from, to);
  return output.error(ErrorCode::UnsupportedDType, paired, to);
}

std::optional<Error> check_ranks(const OpRule& rule, const Port& input,
                                 const Port& output) noexcept {
  for (const Port* port : {&input, &output}) {
    if (const auto refused = check_max_rank(*port))
      return refused;
    if (port->spec.shape.rank() < rule.min_rank)
      return port->error(ErrorCode::RankTooSmall, static_cast<std::int64_t>(rule.min_rank),
                         static_cast<std::int64_t>(port->spec.shape.rank()));
  }
  if (input.spec.shape.rank() != output.spec.shape.rank())
    return output.error(ErrorCode::RankMismatch, static_cast<std::int64_t>(input.spec.shape.rank()),
                        static_cast<std::int64_t>(output.spec.shape.rank()));
  return std::nullopt;
}

std::optional<Error> check_layout_kind(const Port& port, LayoutMask admitted) noexcept {
  const std::size_t index = port.spec.layout.index();
  if (index >= kLayoutCount || (admitted >> index & 1U) == 0)
    return port.error(ErrorCode::UnsupportedLayout, admitted, static_cast<std::int64_t>(index));
  return std::nullopt;
}

std::optional<Error> check_shapes(const Port& input, const Port& output) noexcept {
  for (const Port* port : {&input, &output})
    if (const auto refused = check_extents(*port))
      return refused;
  for (std::size_t axis = 0; axis < input.spec.shape.rank(); ++axis)
    if (input.spec.shape[axis] != output.spec.shape[axis])
      return output.error(ErrorCode::ShapeMismatch, input.spec.shape[axis], output.spec.shape[axis],
                          static_cast<std::int64_t>(axis));
  return std::nullopt;
}

} // namespace

std::optional<Error> check_ports(const OpRule& rule, std::span<const TensorSpec> inputs,
                                 std::span<const TensorSpec> outputs) noexcept {
  if (const auto refused = check_arity(inputs.size(), outputs.size()))
    return refused;
  const Port input{inputs[0], Operand::Input};
  const Port output{outputs[0], Operand::Output};
  if (const auto refused = check_dtypes(rule, input, output))
    return refused;
  if (const auto refused = check_ranks(rule, input, output))
    return refused;
  if (const auto refused = check_layout_kind(input, rule.input_layouts))
    return refused;
  if (const auto refused = check_layout_kind(output, rule.output_layouts))
    return refused;
  if (const auto refused = check_shapes(input, output))
    return refused;
  if (const auto refused = check_layout_fields(input))
    return refused;
  return check_layout_fields(output);
}

std::variant<PortPlan, Error> finish_ports(const TensorSpec& input,
                                           const TensorSpec& output) noexcept {
  const auto input_needs = derive_requirement({input, Operand::Input});
  if (const auto* refused = std::get_if<Error>(&input_needs))
    return *refused;
  const auto output_needs = derive_requirement({output, Operand::Output});
  if (const auto* refused = std::get_if<Error>(&output_needs))
    return *refused;
  return PlanAccess::ports(input, output, *std::get_if<PortRequirement>(&input_needs),
                           *std::get_if<PortRequirement>(&output_needs));
}

} // namespace simaai::kernels::ops::detail
