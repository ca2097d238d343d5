// SPDX-License-Identifier: LGPL-2.1-or-later
// Every refusal of a request: code, operand, axis, expected, found, and the words of its message.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "a65/refusals.h"

namespace simaai::test {
namespace {

using kernels::Contiguous;
using kernels::DType;
using kernels::Error;
using kernels::ErrorCode;
using kernels::Layout;
using kernels::MlaCBlocked;
using kernels::MlaTiled;
using kernels::Operand;
using kernels::Shape;
using kernels::Strided;
using kernels::TensorSpec;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

std::int64_t mask_of(std::initializer_list<DType> dtypes) {
  std::int64_t mask = 0;
  for (const DType dtype : dtypes)
    mask |= std::int64_t{1} << static_cast<int>(dtype);
  return mask;
}

TEST(RequestRefusals, Arity) {
  const auto request = [](ErrorCode code, std::int64_t found) {
    return about(Operand::Request, code, 1, found);
  };
  expect_all_refused(operation_under_test(), {{"no input",
                                               [](Draft& d) { d.inputs.clear(); },
                                               request(ErrorCode::WrongInputCount, 0),
                                               {"1 input", "0 inputs"}},
                                              {"two inputs",
                                               [](Draft& d) { d.inputs.push_back(d.inputs[0]); },
                                               request(ErrorCode::WrongInputCount, 2),
                                               {"1 input", "2 inputs"}},
                                              {"no output",
                                               [](Draft& d) { d.outputs.clear(); },
                                               request(ErrorCode::WrongOutputCount, 0),
                                               {"1 output", "0 outputs"}},
                                              {"two outputs",
                                               [](Draft& d) { d.outputs.push_back(d.outputs[0]); },
                                               request(ErrorCode::WrongOutputCount, 2),
                                               {"1 output", "2 outputs"}}});
}

/// Dtypes that some pair takes, and those that go with one input dtype.
std::int64_t inputs_of(const Operation& operation) {
  std::int64_t mask = 0;
  for (const DTypePair& pair : operation.dtypes)
    mask |= mask_of({pair.from});
  return mask;
}

std::int64_t outputs_for(const Operation& operation, DType from) {
  std::int64_t mask = 0;
  for (const DTypePair& pair : operation.dtypes)
    if (pair.from == from)
      mask |= mask_of({pair.to});
  return mask;
}

TEST(RequestRefusals, DTypesOutsideTheTable) {
  const Operation& operation = operation_under_test();
  const std::int64_t accepted = inputs_of(operation);
  for (const DTypePair pair : operation.dtypes) {
    for (int raw = 0; raw < 6; ++raw) {
      const auto dtype = static_cast<DType>(raw);
      const std::int64_t outputs = outputs_for(operation, pair.from);
      if ((accepted >> raw & 1) == 0)
        expect_refused(operation, valid_draft(operation, pair),
                       {"input dtype",
                        [=](Draft& d) { d.inputs[0].dtype = dtype; },
                        about(Operand::Input, ErrorCode::UnsupportedDType, accepted, raw),
                        {"expected", "found"}});
      if ((outputs >> raw & 1) != 0)
        continue;
      // An operation that keeps dtypes calls two admitted ones a mismatch.
      const bool mismatch =
          (operation.name == "tess" || operation.name == "detess") && (accepted >> raw & 1) != 0;
      expect_refused(operation, valid_draft(operation, pair),
                     {"output dtype",
                      [=](Draft& d) { d.outputs[0].dtype = dtype; },
                      mismatch ? about(Operand::Output, ErrorCode::DTypeMismatch,
                                       static_cast<std::int64_t>(pair.from), raw)
                               : about(Operand::Output, ErrorCode::UnsupportedDType, outputs, raw),
                      {"expected", "found"}});
    }
    expect_refused(operation, valid_draft(operation, pair),
                   {"unknown input dtype",
                    [](Draft& d) { d.inputs[0].dtype = static_cast<DType>(77); },
                    about(Operand::Input, ErrorCode::UnknownDType, 0, 77),
                    {"77"}});
    expect_refused(operation, valid_draft(operation, pair),
                   {"unknown output dtype",
                    [](Draft& d) { d.outputs[0].dtype = static_cast<DType>(77); },
                    about(Operand::Output, ErrorCode::UnknownDType, 0, 77),
                    {"77"}});
  }
}

TEST(RequestRefusals, RanksAndShapes) {
  const auto output = Operand::Output;
  std::vector<Refusal> refusals{{"rank seven",
                                 [](Draft& d) {
                                   set_shape(d, {1, 1, 1, 1, 1, 1, 1});
                                 },
                                 about(Operand::Input, ErrorCode::RankTooLarge, 6, 7),
                                 {"6", "7"}},
                                {"rank seven of the output",
                                 [](Draft& d) { d.outputs[0].shape = {1, 1, 1, 1, 1, 1, 1}; },
                                 about(output, ErrorCode::RankTooLarge, 6, 7),
                                 {"6", "7"}},
                                {"output of rank five",
                                 [](Draft& d) {
                                   d.outputs[0].shape = {1, 2, 3, 4, 5};
                                 },
                                 about(output, ErrorCode::RankMismatch, 4, 5),
                                 {"4", "5"}},
                                {"another extent",
                                 [](Draft& d) {
                                   d.outputs[0].shape = {2, 3, 9, 5};
                                 },
                                 about(output, ErrorCode::ShapeMismatch, 4, 9, 2),
                                 {"axis 2", "4", "9"}},
                                {"an empty output of a full input",
                                 [](Draft& d) {
                                   d.outputs[0].shape = {0, 3, 4, 5};
                                 },
                                 about(output, ErrorCode::ShapeMismatch, 2, 0, 0),
                                 {"axis 0", "2", "0"}},
                                {"negative extent",
                                 [](Draft& d) {
                                   set_shape(d, {2, -3, 4, 5});
                                 },
                                 about(Operand::Input, ErrorCode::NegativeExtent, 0, -3, 1),
                                 {"axis 1", "-3"}},
                                {"negative extent of an empty tensor",
                                 [](Draft& d) {
                                   set_shape(d, {0, 3, -4, 5});
                                 },
                                 about(Operand::Input, ErrorCode::NegativeExtent, 0, -4, 2),
                                 {"axis 2", "-4"}},
                                {"least extent",
                                 [](Draft& d) {
                                   set_shape(d, {2, 3, 4, -kHuge - 1});
                                 },
                                 about(Operand::Input, ErrorCode::NegativeExtent, 0, -kHuge - 1, 3),
                                 {"axis 3"}}};
  if (!operation_under_test().is_linear_only())
    refusals.push_back({"rank zero",
                        [](Draft& d) { set_shape(d, Shape{}); },
                        about(Operand::Input, ErrorCode::RankTooSmall, 1, 0),
                        {"1", "0"}});
  expect_all_refused(operation_under_test(), refusals);
}

/// Linear ports of the operation under test.
std::vector<Operand> linear_ports() {
  std::vector<Operand> ports;
  if (!operation_under_test().tiled_input)
    ports.push_back(Operand::Input);
  if (!operation_under_test().tiled_output)
    ports.push_back(Operand::Output);
  return ports;
}

std::int64_t scalar_of(const Draft& draft, Operand operand) {
  return kernels::scalar_bytes(operand == Operand::Input ? draft.inputs[0].dtype
                                                         : draft.outputs[0].dtype);
}

/// Refusals of strides, given in scalars of the port.
struct StrideRefusal {
  const char* name;
  Shape shape;
  std::array<std::int64_t, 6> strides;
  ErrorCode code;
  std::int16_t axis;
  std::int64_t expected; ///< in scalars, or an extent for ZeroStride
};
const StrideRefusal kStrideRefusals[] = {
    {"negative", {2, 3, 4, 5}, {60, -20, 5, 1}, ErrorCode::NegativeStride, 1, 0},
    {"negative on a singleton", {2, 1, 4, 5}, {60, -20, 5, 1}, ErrorCode::NegativeStride, 1, 0},
    {"negative, empty", {0, 3, 4, 5}, {60, 20, -5, 1}, ErrorCode::NegativeStride, 2, 0},
    {"broadcast", {2, 3, 4, 5}, {0, 20, 5, 1}, ErrorCode::ZeroStride, 0, 2},
    {"broadcast, empty", {0, 3, 4, 5}, {60, 0, 5, 1}, ErrorCode::ZeroStride, 1, 3},
    {"overlapping rows", {2, 3, 4, 5}, {60, 19, 5, 1}, ErrorCode::StrideOverlap, 1, 20},
    {"overlapping pixels", {2, 3, 4, 5}, {60, 20, 4, 1}, ErrorCode::StrideOverlap, 2, 5},
    {"interleaved, distinct but unproven",
     {1, 1, 2, 3},
     {0, 0, 3, 2},
     ErrorCode::StrideOverlap,
     2,
     5},
    {"equal strides", {1, 1, 2, 3}, {0, 0, 1, 1}, ErrorCode::StrideOverlap, 3, 2}};

TEST(RequestRefusals, Strides) {
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes)
    for (const Operand operand : linear_ports())
      for (const StrideRefusal& row : kStrideRefusals) {
        const Draft draft = valid_draft(operation, dtypes);
        const std::int64_t scalar = scalar_of(draft, operand);
        const std::int64_t found = row.strides[static_cast<std::size_t>(row.axis)] * scalar;
        const std::int64_t expected =
            row.code == ErrorCode::ZeroStride ? row.expected : row.expected * scalar;
        expect_refused(operation, draft,
                       {row.name,
                        [&](Draft& d) {
                          Strided layout;
                          for (std::size_t axis = 0; axis < 6; ++axis)
                            layout.strides_bytes[axis] = row.strides[axis] * scalar;
                          set_shape(d, row.shape);
                          port(d, operand).layout = layout;
                        },
                        about(operand, row.code, expected, found, row.axis),
                        {"axis " + std::to_string(row.axis), std::to_string(expected),
                         std::to_string(found), "byte"}});
      }
}

TEST(RequestRefusals, MisalignedStrides) {
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes)
    for (const Operand operand : linear_ports()) {
      const Draft draft = valid_draft(operation, dtypes);
      const std::int64_t scalar = scalar_of(draft, operand);
      if (scalar == 1)
        continue;
      for (const std::int64_t first : {2, 0}) // full and empty
        expect_refused(
            operation, draft,
            {"misaligned",
             [=](Draft& d) {
               set_shape(d, {first, 3, 4, 5});
               port(d, operand).layout = Strided{{400, 100 * scalar + 1, 5 * scalar, scalar}};
             },
             about(operand, ErrorCode::MisalignedStride, scalar, 100 * scalar + 1, 1),
             {"axis 1", std::to_string(scalar) + " bytes"}});
    }
}

TEST(RequestRefusals, SizesOutsideOf63Bits) {
  const Operation& operation = operation_under_test();
  // The last one is 2^64.3 scalars.
  const Shape cases[] = {{2, kHuge, 4, 5}, {kHuge, 3, 4, kHuge}, {1 << 30, 1 << 30, 4, 5}};
  std::vector<Refusal> refusals;
  for (const Shape& shape : cases)
    refusals.push_back({"extents",
                        [=](Draft& d) { set_shape(d, shape); },
                        about(Operand::Input, ErrorCode::SizeOverflow, 0, 0),
                        {"size"}});
  if (!operation.tiled_input) {
    refusals.push_back({"strides",
                        [](Draft& d) {
                          d.inputs[0].layout = Strided{{kHuge / 8 * 8, 400, 80, 8}};
                          set_shape(d, {3, 3, 4, 5});
                        },
                        about(Operand::Input, ErrorCode::SizeOverflow, 0, 0),
                        {"size"}});
    refusals.push_back({"sum of strides",
                        [](Draft& d) {
                          d.inputs[0].layout = Strided{{kHuge / 8 * 8, 400, 80, 8}};
                        },
                        about(Operand::Input, ErrorCode::SizeOverflow, 0, 0),
                        {"size"}});
  }
  if (!operation.tiled_output)
    refusals.push_back({"output strides",
                        [](Draft& d) {
                          d.outputs[0].layout = Strided{{kHuge / 8 * 8, 400, 80, 8}};
                        },
                        about(Operand::Output, ErrorCode::SizeOverflow, 0, 0),
                        {"size"}});
  expect_all_refused(operation, refusals);
}

/// Empty tensors do not multiply their other extents.
TEST(RequestRefusals, EmptyTensorsOfHugeExtentsAreAdmitted) {
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes) {
    Draft draft = valid_draft(operation, dtypes);
    set_shape(draft, {0, kHuge, kHuge, kHuge});
    for (const bool strided : {false, true}) {
      for (const Operand operand : linear_ports())
        if (strided)
          port(draft, operand).layout = Strided{{kHuge / 8 * 8, 8, 8, 8}};
      const Admission admission = operation.check(draft.inputs, draft.outputs, draft.fill);
      const auto* plan = std::get_if<Admitted>(&admission);
      ASSERT_NE(plan, nullptr) << std::get<Error>(admission).message();
      EXPECT_TRUE(plan->empty);
      EXPECT_EQ(plan->input.bytes, 0U);
      EXPECT_EQ(plan->output.bytes, 0U);
    }
  }
}

// Positions in Layout, and in D, H, W, C.
constexpr int kLinearKinds = 0b0011;
constexpr int kTiledKind = 0b0100;
constexpr int kTiledKinds = 0b1100;

int admitted_kinds(Operand operand) {
  const Operation& operation = operation_under_test();
  if (operand == Operand::Input)
    return operation.tiled_input ? kTiledKinds : kLinearKinds;
  return operation.tiled_output ? kTiledKind : kLinearKinds;
}

TEST(RequestRefusals, LayoutKindsThatThePortDoesNotTake) {
  constexpr std::array<const char*, 4> kNames{"contiguous", "strided", "mla-tiled", "mla-cblocked"};
  const Layout layouts[] = {Contiguous{}, Strided{{400, 160, 40, 8}},
                            MlaTiled{{-1, 1, 2, 3}, {1, 2, 4, 5}}, MlaCBlocked{{1, 2, 4, 5}}};
  std::vector<Refusal> refusals;
  for (const Operand operand : {Operand::Input, Operand::Output})
    for (const Layout& layout : layouts) {
      const int kinds = admitted_kinds(operand);
      const auto kind = static_cast<int>(layout.index());
      if ((kinds >> kind & 1) == 0)
        refusals.push_back({"layout kind",
                            [=](Draft& d) { port(d, operand).layout = layout; },
                            about(operand, ErrorCode::UnsupportedLayout, kinds, kind),
                            {"expected", kNames[layout.index()]}});
    }
  ASSERT_GE(refusals.size(), 4U);
  expect_all_refused(operation_under_test(), refusals);
}

} // namespace
} // namespace simaai::test
