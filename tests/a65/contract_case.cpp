// SPDX-License-Identifier: LGPL-2.1-or-later
// Building, describing and executing positive cases.
#include "contract_case.h"

#include <algorithm>
#include <sstream>

#include "oracle/linear.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "oracle/tiles.h"
#include "support/compare_bytes.h"
#include "support/guard_buffer.h"

namespace simaai::test {

using kernels::ChannelStorage;
using kernels::DType;
using kernels::Layout;
using kernels::MlaCBlocked;
using kernels::MlaTiled;
using kernels::TensorSpec;
using oracle::Bytes;
using oracle::Tensor;

namespace {

constexpr oracle::Padding kPoison{0xa5, 0x5a};

bool is_tiled(const Layout& layout) {
  return std::holds_alternative<MlaTiled>(layout) || std::holds_alternative<MlaCBlocked>(layout);
}

Bytes background_bytes(std::uint64_t count, std::uint64_t seed) {
  oracle::Random random(seed);
  Bytes bytes;
  bytes.reserve(count);
  std::uint64_t draw = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    draw = i % 8 == 0 ? random.next() : draw >> 8;
    bytes.push_back(static_cast<std::uint8_t>(draw));
  }
  return bytes;
}

template <class List> void put_list(std::ostream& out, const List& list) {
  const char* separator = "[";
  for (const auto value : list) {
    out << separator << value;
    separator = ",";
  }
  out << (separator[0] == '[' ? "[]" : "]");
}

std::string_view dtype_name(DType dtype) {
  constexpr std::array<std::string_view, 6> kNames{"int8",    "uint8",    "int32",
                                                   "float16", "bfloat16", "float32"};
  return kNames.at(static_cast<std::size_t>(dtype));
}

void put_spec(std::ostream& out, const TensorSpec& spec) {
  out << dtype_name(spec.dtype) << ' ';
  put_list(out, spec.shape.extents());
  if (const auto* strided = std::get_if<kernels::Strided>(&spec.layout)) {
    out << " strides ";
    put_list(out, strided->strides_bytes);
  } else if (const auto* tiled = std::get_if<MlaTiled>(&spec.layout)) {
    out << " axes ";
    put_list(out, tiled->axes);
    out << " tile ";
    put_list(out, tiled->tile_shape);
    out << (tiled->channels == ChannelStorage::PadTo16 ? " pad16" : " compact");
  } else if (const auto* blocked = std::get_if<MlaCBlocked>(&spec.layout)) {
    out << " cblocked tile ";
    put_list(out, blocked->tile_shape);
  }
}

::testing::AssertionResult execute_guarded(const Admitted& plan, const Golden& golden,
                                           Placement placement) {
  const char* where = placement == Placement::AtStart ? "at start: " : "at end: ";
  GuardBuffer input(golden.input.size(), placement);
  GuardBuffer output(golden.output.size(), placement);
  std::copy(golden.input.begin(), golden.input.end(), input.data());
  std::copy(golden.background.begin(), golden.background.end(), output.data());
  input.protect_from_writes();
  const std::array inputs{kernels::ConstHostBuffer{input.data(), input.size()}};
  const std::array outputs{kernels::HostBuffer{output.data(), output.size()}};
  const kernels::Status status = plan.execute(inputs, outputs);
  if (!status.ok())
    return ::testing::AssertionFailure() << where << "execute refused: " << status.message();
  if (auto same = same_bytes(golden.output, output.bytes()); !same)
    return ::testing::AssertionFailure() << where << same.message();
  if (!output.canaries_intact())
    return ::testing::AssertionFailure() << where << "bytes outside of the output were written";
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult check_requirement(const kernels::ops::PortRequirement& found,
                                             const TensorSpec& spec, std::uint64_t bytes) {
  if (found.bytes == bytes && found.alignment == port_alignment(spec))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "requirement: expected " << bytes << " bytes aligned to " << port_alignment(spec)
         << ", found " << found.bytes << " aligned to " << found.alignment;
}

} // namespace

std::uint32_t port_alignment(const TensorSpec& spec) {
  return is_tiled(spec.layout) ? 16 : kernels::scalar_bytes(spec.dtype);
}

Case make_case(const Operation& operation, const kernels::Shape& shape, DTypePair dtypes,
               const Layout& linear, const Layout& other, std::uint64_t seed) {
  Case c{{shape, dtypes.from, linear}, {shape, dtypes.to, other}, {}, seed};
  if (operation.tiled_input)
    std::swap(c.input.layout, c.output.layout);
  const auto* tiled = std::get_if<MlaTiled>(&c.output.layout);
  if (tiled != nullptr && tiled->channels == ChannelStorage::PadTo16 && dtypes.to == DType::Int8)
    c.fill = static_cast<std::int8_t>(seed * 37 + 11);
  return c;
}

std::string describe(const Case& c) {
  std::ostringstream out;
  put_spec(out, c.input);
  out << " -> ";
  put_spec(out, c.output);
  if (c.fill.has_value())
    out << " fill " << int{*c.fill};
  out << " seed " << c.seed;
  return out.str();
}

namespace {

/// Float16 values as real tensors have them: normal numbers, by seed with a few zeros, infinities or
/// subnormals among them. Of random bits hardly any row is free of other numbers.
void make_mostly_normal(Tensor* values, std::uint64_t seed) {
  constexpr std::array<std::uint32_t, 6> kOthers{0x0000, 0x8000, 0x7c00, 0xfc00, 0x0001, 0x7e01};
  oracle::Random random(seed + 3);
  for (std::uint32_t& bits : values->bits) {
    const std::uint64_t draw = random.next();
    bits = (bits & 0x83ffU) | static_cast<std::uint32_t>(1 + draw % 30) << 10;
    if (seed % 4 == 3 && draw / 30 % 100 == 0)
      bits = kOthers[draw / 3000 % kOthers.size()];
  }
}

} // namespace

Golden golden_of(const Case& c) {
  Tensor values = oracle::random_tensor(c.input.shape, c.input.dtype, c.seed);
  if (c.input.dtype == DType::Float16 && c.seed % 2 == 1)
    make_mostly_normal(&values, c.seed);
  return golden_of(c, values);
}

Golden golden_of(const Case& c, const Tensor& values) {
  Golden golden;
  if (is_tiled(c.input.layout)) {
    golden.input = oracle::tile(values, c.input.layout, kPoison);
  } else {
    golden.input = background_bytes(
        oracle::linear_span(c.input.shape, c.input.dtype, c.input.layout), c.seed + 1);
    oracle::scatter(values, c.input.layout, golden.input.data());
  }
  const Tensor converted = oracle::convert(values, c.output.dtype);
  if (is_tiled(c.output.layout)) {
    golden.output = oracle::tile(converted, c.output.layout,
                                 {static_cast<std::uint8_t>(c.fill.value_or(0)), 0});
    golden.background = background_bytes(golden.output.size(), c.seed + 2);
  } else {
    golden.background = background_bytes(
        oracle::linear_span(c.output.shape, c.output.dtype, c.output.layout), c.seed + 2);
    golden.output = golden.background;
    oracle::scatter(converted, c.output.layout, golden.output.data());
  }
  return golden;
}

::testing::AssertionResult run_case(const Operation& operation, const Case& c) {
  return run_case(operation, c, golden_of(c));
}

::testing::AssertionResult run_case(const Operation& operation, const Case& c,
                                    const Golden& golden) {
  const std::array inputs{c.input};
  const std::array outputs{c.output};
  const Admission admission = operation.check(inputs, outputs, c.fill);
  if (const auto* error = std::get_if<kernels::Error>(&admission))
    return ::testing::AssertionFailure() << describe(c) << ": refused: " << error->message();
  const Admitted& plan = std::get<Admitted>(admission);
  auto result = check_requirement(plan.input, c.input, golden.input.size());
  if (result)
    result = check_requirement(plan.output, c.output, golden.output.size());
  if (result && plan.empty != golden.output.empty())
    result = ::testing::AssertionFailure() << "empty() is " << plan.empty;
  if (result)
    result = execute_guarded(plan, golden, Placement::AtStart);
  if (result)
    result = execute_guarded(plan, golden, Placement::AtEnd);
  if (result)
    return result;
  return ::testing::AssertionFailure() << describe(c) << ": " << result.message();
}

} // namespace simaai::test
