// SPDX-License-Identifier: LGPL-2.1-or-later
// Refusals of execute(): each names operand, expected and found, allocates nothing and leaves the
// output as it was.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "a65/contract_case.h"
#include "support/allocation_counter.h"
#include "support/compare_bytes.h"

namespace simaai::test {
namespace {

using kernels::ConstHostBuffer;
using kernels::Error;
using kernels::ErrorCode;
using kernels::HostBuffer;
using kernels::MlaTiled;
using kernels::Operand;
using kernels::Shape;

/// One admitted plan and a block of memory that holds both ports far apart.
class Binding : public ::testing::Test {
protected:
  static constexpr std::size_t kPortRoom = 4096;

  void SetUp() override {
    const Operation& operation = operation_under_test();
    const MlaTiled tiled{{-1, 1, 2, 3}, {1, 2, 4, 5}};
    const kernels::Layout other =
        operation.is_linear_only() ? kernels::Layout(kernels::Contiguous{}) : tiled;
    case_ = make_case(operation, {2, 3, 4, 5}, operation.dtypes.front(), kernels::Contiguous{},
                      other, 3);
    plan_ = admit(case_);
    golden_ = golden_of(case_);
    std::copy(golden_.input.begin(), golden_.input.end(), input());
    std::copy(golden_.background.begin(), golden_.background.end(), output());
    before_ = memory_;
  }

  static Admitted admit(const Case& c) {
    const std::array inputs{c.input};
    const std::array outputs{c.output};
    return std::get<Admitted>(operation_under_test().check(inputs, outputs, c.fill));
  }

  std::uint8_t* input() { return memory_.data(); }
  std::uint8_t* output() { return memory_.data() + kPortRoom; }
  ConstHostBuffer input_view() { return {input(), plan_.input.bytes}; }
  HostBuffer output_view() { return {output(), plan_.output.bytes}; }

  /// Expects one refusal; `found` of -1 is not compared.
  void expect_refused(Inputs inputs, Outputs outputs, Operand operand, ErrorCode code,
                      std::int64_t expected, std::int64_t found,
                      const std::vector<std::string>& words) {
    const std::uint64_t allocations = allocations_of_this_thread();
    const kernels::Status status = plan_.execute(inputs, outputs);
    EXPECT_EQ(allocations_of_this_thread(), allocations);
    ASSERT_FALSE(status.ok()) << "not refused";
    const Error& error = status.error();
    const std::string message = status.message();
    EXPECT_EQ(error.code, code) << message;
    EXPECT_EQ(error.operand, operand) << message;
    EXPECT_EQ(error.index, 0) << message;
    EXPECT_EQ(error.expected, expected) << message;
    if (found >= 0) {
      EXPECT_EQ(error.found, found) << message;
    }
    for (const std::string& word : words)
      EXPECT_NE(message.find(word), std::string::npos) << "'" << word << "' in: " << message;
    EXPECT_TRUE(same_bytes(before_, memory_)) << message;
  }

  // The vector's storage is aligned to 16 bytes by the allocator.
  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(2 * kPortRoom, 0x3c);
  std::vector<std::uint8_t> before_;
  Case case_;
  Admitted plan_;
  Golden golden_;
};

TEST_F(Binding, TheUnchangedBindingRuns) {
  const std::array inputs{input_view()};
  const std::array outputs{output_view()};
  ASSERT_TRUE(plan_.execute(inputs, outputs).ok());
  EXPECT_TRUE(same_bytes(golden_.output, {output(), golden_.output.size()}));
}

TEST_F(Binding, Arity) {
  const std::array inputs{input_view(), input_view()};
  const std::array outputs{output_view(), output_view()};
  const Inputs all_inputs(inputs);
  const Outputs all_outputs(outputs);
  for (const std::size_t count : {0U, 2U}) {
    const std::string number = std::to_string(count);
    expect_refused(all_inputs.first(count), all_outputs.first(1), Operand::Request,
                   ErrorCode::WrongInputCount, 1, static_cast<std::int64_t>(count),
                   {"1 input", number + " input"});
    expect_refused(all_inputs.first(1), all_outputs.first(count), Operand::Request,
                   ErrorCode::WrongOutputCount, 1, static_cast<std::int64_t>(count),
                   {"1 output", number + " output"});
  }
}

TEST_F(Binding, NullPointers) {
  const std::array no_input{ConstHostBuffer{nullptr, plan_.input.bytes}};
  const std::array no_output{HostBuffer{nullptr, plan_.output.bytes}};
  const std::array inputs{input_view()};
  const std::array outputs{output_view()};
  expect_refused(no_input, outputs, Operand::Input, ErrorCode::NullBuffer,
                 static_cast<std::int64_t>(plan_.input.bytes), -1,
                 {"input 0", std::to_string(plan_.input.bytes), "null"});
  expect_refused(inputs, no_output, Operand::Output, ErrorCode::NullBuffer,
                 static_cast<std::int64_t>(plan_.output.bytes), -1,
                 {"output 0", std::to_string(plan_.output.bytes), "null"});
}

TEST_F(Binding, ShortCapacities) {
  const std::array inputs{input_view()};
  const std::array outputs{output_view()};
  for (const std::size_t missing : {std::size_t{1}, std::size_t{16}}) {
    const std::size_t input_bytes = plan_.input.bytes - missing;
    const std::size_t output_bytes = plan_.output.bytes - missing;
    const std::array short_input{ConstHostBuffer{input(), input_bytes}};
    const std::array short_output{HostBuffer{output(), output_bytes}};
    expect_refused(short_input, outputs, Operand::Input, ErrorCode::BufferTooSmall,
                   static_cast<std::int64_t>(plan_.input.bytes),
                   static_cast<std::int64_t>(input_bytes),
                   {"input 0", std::to_string(plan_.input.bytes), std::to_string(input_bytes)});
    expect_refused(inputs, short_output, Operand::Output, ErrorCode::BufferTooSmall,
                   static_cast<std::int64_t>(plan_.output.bytes),
                   static_cast<std::int64_t>(output_bytes),
                   {"output 0", std::to_string(plan_.output.bytes), std::to_string(output_bytes)});
  }
}

TEST_F(Binding, MisalignedAddresses) {
  const std::array inputs{input_view()};
  const std::array outputs{output_view()};
  for (std::uint32_t offset = 1; offset < 16; ++offset) {
    if (const std::uint32_t wanted = plan_.input.alignment; offset % wanted != 0) {
      const std::array moved{ConstHostBuffer{input() + offset, plan_.input.bytes}};
      expect_refused(moved, outputs, Operand::Input, ErrorCode::BufferMisaligned, wanted,
                     offset % wanted,
                     {"input 0", std::to_string(wanted), std::to_string(offset % wanted)});
    }
    if (const std::uint32_t wanted = plan_.output.alignment; offset % wanted != 0) {
      const std::array moved{HostBuffer{output() + offset, plan_.output.bytes}};
      expect_refused(inputs, moved, Operand::Output, ErrorCode::BufferMisaligned, wanted,
                     offset % wanted,
                     {"output 0", std::to_string(wanted), std::to_string(offset % wanted)});
    }
  }
}

TEST_F(Binding, AddressesThatWrapAround) {
  const std::array inputs{input_view()};
  const std::array outputs{output_view()};
  // Sixteen bytes below the end of the address space; never dereferenced.
  const std::uintptr_t last = ~std::uintptr_t{15};
  const std::array far_input{
      ConstHostBuffer{reinterpret_cast<const void*>(last), plan_.input.bytes}};
  const std::array far_output{HostBuffer{reinterpret_cast<void*>(last), plan_.output.bytes}};
  expect_refused(far_input, outputs, Operand::Input, ErrorCode::AddressOverflow,
                 static_cast<std::int64_t>(plan_.input.bytes), -1,
                 {"input 0", std::to_string(plan_.input.bytes)});
  expect_refused(inputs, far_output, Operand::Output, ErrorCode::AddressOverflow,
                 static_cast<std::int64_t>(plan_.output.bytes), -1,
                 {"output 0", std::to_string(plan_.output.bytes)});
}

TEST_F(Binding, OverlappingRanges) {
  const auto in_bytes = static_cast<std::int64_t>(plan_.input.bytes);
  const auto out_bytes = static_cast<std::int64_t>(plan_.output.bytes);
  // Distance of the output from the input, in steps that keep both aligned.
  const std::int64_t distances[] = {0, 16, -16, (in_bytes - 1) / 16 * 16,
                                    -((out_bytes - 1) / 16 * 16)};
  for (const std::int64_t distance : distances) {
    const std::array inputs{ConstHostBuffer{output(), plan_.input.bytes}};
    const std::array outputs{HostBuffer{output() + distance, plan_.output.bytes}};
    const std::int64_t shared =
        std::min(in_bytes, distance + out_bytes) - std::max<std::int64_t>(0, distance);
    ASSERT_GT(shared, 0);
    expect_refused(inputs, outputs, Operand::Output, ErrorCode::BuffersOverlap, 0, shared,
                   {"output 0", "input", std::to_string(shared)});
  }
}

// Spans count, not the bytes that hold values: the tensor between two rows of the other is refused.
TEST_F(Binding, PortInsideAGapOfTheOtherIsRefused) {
  const Operation& operation = operation_under_test();
  const DTypePair dtypes = operation.dtypes.front();
  const std::int64_t scalar =
      kernels::scalar_bytes(operation.tiled_input ? dtypes.to : dtypes.from);
  const kernels::Layout other = operation.is_linear_only()
                                    ? kernels::Layout(kernels::Contiguous{})
                                    : kernels::Layout(MlaTiled{{-1, -1, 0, 1}, {1, 1, 2, 16}});
  plan_ = admit(make_case(operation, {2, 16}, dtypes, kernels::Strided{{4096, scalar}}, other, 3));
  // Rows of 64 bytes or less at 0 and 4096; the other port, at most 128 bytes, at 1024.
  const bool gap_in_input = !operation.tiled_input;
  const std::array inputs{ConstHostBuffer{memory_.data() + (gap_in_input ? 0 : 1024), 6000}};
  const std::array outputs{HostBuffer{memory_.data() + (gap_in_input ? 1024 : 0), 6000}};
  const auto& inside = gap_in_input ? plan_.output : plan_.input;
  expect_refused(inputs, outputs, Operand::Output, ErrorCode::BuffersOverlap, 0,
                 static_cast<std::int64_t>(inside.bytes), {"output 0", "input"});
}

TEST_F(Binding, TouchingRangesOfOneAllocationRun) {
  // Output right behind the input, then right before it.
  const std::size_t in_room = (plan_.input.bytes + 15) / 16 * 16;
  const std::size_t out_room = (plan_.output.bytes + 15) / 16 * 16;
  for (const bool output_first : {false, true}) {
    std::uint8_t* const in = output_first ? memory_.data() + out_room : memory_.data();
    std::uint8_t* const out = output_first ? in - plan_.output.bytes / 16 * 16 : in + in_room;
    std::copy(golden_.input.begin(), golden_.input.end(), in);
    // Capacities reach to the end of the block, over the other port: only spans count.
    const std::uint8_t* const end = memory_.data() + memory_.size();
    const std::array inputs{ConstHostBuffer{in, static_cast<std::size_t>(end - in)}};
    const std::array outputs{HostBuffer{out, static_cast<std::size_t>(end - out)}};
    if (output_first && plan_.output.bytes % 16 != 0)
      continue;
    const kernels::Status status = plan_.execute(inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(same_bytes(golden_.output, {out, golden_.output.size()}));
    EXPECT_TRUE(same_bytes(golden_.input, {in, golden_.input.size()}));
  }
}

TEST_F(Binding, ExcessCapacityIsUntouched) {
  const std::array inputs{ConstHostBuffer{input(), kPortRoom}};
  const std::array outputs{HostBuffer{output(), kPortRoom}};
  ASSERT_TRUE(plan_.execute(inputs, outputs).ok());
  std::copy(golden_.output.begin(), golden_.output.end(),
            before_.begin() + static_cast<std::ptrdiff_t>(kPortRoom));
  EXPECT_TRUE(same_bytes(before_, memory_));
}

TEST_F(Binding, EmptyPlansTakeNullViewsAndWriteNothing) {
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes)
    for (const Shape& shape : {Shape{0, 3, 4, 5}, Shape{2, 0, 4, 5}, Shape{2, 3, 4, 0}}) {
      Case empty = case_;
      empty.input.shape = empty.output.shape = shape;
      empty.input.dtype = dtypes.from;
      empty.output.dtype = dtypes.to;
      plan_ = admit(empty);
      EXPECT_TRUE(plan_.empty);
      const std::array null_inputs{ConstHostBuffer{}};
      const std::array null_outputs{HostBuffer{}};
      EXPECT_TRUE(plan_.execute(null_inputs, null_outputs).ok());
      const std::array inputs{ConstHostBuffer{input(), kPortRoom}};
      const std::array outputs{HostBuffer{output(), kPortRoom}};
      EXPECT_TRUE(plan_.execute(inputs, outputs).ok());
      EXPECT_TRUE(same_bytes(before_, memory_));
      expect_refused({}, null_outputs, Operand::Request, ErrorCode::WrongInputCount, 1, 0, {});
    }
}

} // namespace
} // namespace simaai::test
