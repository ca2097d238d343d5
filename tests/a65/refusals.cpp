// SPDX-License-Identifier: LGPL-2.1-or-later
// Checking of refused requests.
#include "refusals.h"

#include <gtest/gtest.h>

namespace simaai::test {

using kernels::Contiguous;
using kernels::Error;
using kernels::ErrorCode;
using kernels::MlaTiled;
using kernels::Operand;
using kernels::Shape;
using kernels::TensorSpec;

Draft valid_draft(const Operation& operation, DTypePair dtypes) {
  const Shape shape{2, 3, 4, 5};
  MlaTiled tiled{{-1, 1, 2, 3}, {1, 2, 4, 5}};
  Draft draft{{{shape, dtypes.from, Contiguous{}}}, {{shape, dtypes.to, Contiguous{}}}, {}};
  if (operation.tiled_input)
    draft.inputs[0].layout = tiled;
  if (operation.tiled_output)
    draft.outputs[0].layout = tiled;
  return draft;
}

void set_shape(Draft& draft, const Shape& shape) {
  draft.inputs[0].shape = shape;
  draft.outputs[0].shape = shape;
}

TensorSpec& port(Draft& draft, Operand operand) {
  return operand == Operand::Input ? draft.inputs[0] : draft.outputs[0];
}

Error about(Operand operand, ErrorCode code, std::int64_t expected, std::int64_t found,
            std::int16_t axis) {
  return {code, operand, 0, axis, expected, found};
}

/// Checks one refusal by both entry points.
void expect_refused(const Operation& operation, Draft draft, const Refusal& refusal) {
  SCOPED_TRACE(refusal.name);
  refusal.change(draft);
  const Admission admission = operation.check(draft.inputs, draft.outputs, draft.fill);
  const auto* error = std::get_if<Error>(&admission);
  ASSERT_NE(error, nullptr) << "admitted";
  const std::string message = error->message();
  EXPECT_EQ(error->code, refusal.expected.code) << message;
  EXPECT_EQ(error->operand, refusal.expected.operand) << message;
  EXPECT_EQ(error->index, refusal.expected.index) << message;
  if (refusal.expected.code != ErrorCode::SizeOverflow) {
    EXPECT_EQ(error->axis, refusal.expected.axis) << message;
    EXPECT_EQ(error->expected, refusal.expected.expected) << message;
    EXPECT_EQ(error->found, refusal.expected.found) << message;
  }
  for (const std::string& word : refusal.words)
    EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' in: " << message;
  const char* operand = refusal.expected.operand == Operand::Input    ? "input 0"
                        : refusal.expected.operand == Operand::Output ? "output 0"
                        : refusal.expected.operand == Operand::Params ? "parameters"
                                                                      : "request";
  EXPECT_NE(message.find(operand), std::string::npos) << message;

  const Admission shared = operation.check_in_two_steps(draft.inputs, draft.outputs, draft.fill);
  const auto* shared_error = std::get_if<Error>(&shared);
  ASSERT_NE(shared_error, nullptr) << "the shared admission admits";
  EXPECT_EQ(*shared_error, *error);
  EXPECT_EQ(operation.allocations_in_check(draft.inputs, draft.outputs, draft.fill), 0U);
}

void expect_all_refused(const Operation& operation, const std::vector<Refusal>& refusals) {
  for (const DTypePair dtypes : operation.dtypes) {
    const Draft draft = valid_draft(operation, dtypes);
    const Admission admission = operation.check(draft.inputs, draft.outputs, draft.fill);
    ASSERT_TRUE(std::holds_alternative<Admitted>(admission)) << "the unchanged draft is refused";
    for (const Refusal& refusal : refusals)
      expect_refused(operation, draft, refusal);
  }
}

} // namespace simaai::test
