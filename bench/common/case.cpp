// SPDX-License-Identifier: LGPL-2.1-or-later
// Specs and derived figures of a case.
#include "case.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <variant>
#include <vector>

#include <simaai/kernels/ops/requirement.h>

namespace simaai::bench {

using kernels::DType;
using kernels::Shape;
using kernels::TensorSpec;

std::string_view dtype_name(DType dtype) noexcept {
  switch (dtype) {
  case DType::Int8:
    return "i8";
  case DType::UInt8:
    return "u8";
  case DType::Int32:
    return "i32";
  case DType::Float16:
    return "f16";
  case DType::BFloat16:
    return "bf16";
  case DType::Float32:
    return "f32";
  }
  return "unknown";
}

std::string_view storage_name(Storage storage) noexcept {
  switch (storage) {
  case Storage::None:
    return "linear";
  case Storage::Compact:
    return "compact";
  case Storage::Pad16:
    return "pad16";
  case Storage::CBlocked:
    return "cblocked";
  }
  return "unknown";
}

std::string_view linear_name(Linear linear) noexcept {
  switch (linear) {
  case Linear::Dense:
    return "dense";
  case Linear::Pitched:
    return "pitched";
  case Linear::Planar:
    return "planar";
  case Linear::Spread:
    return "spread";
  }
  return "unknown";
}

std::string_view cache_name(Cache cache) noexcept { return cache == Cache::Hot ? "hot" : "cold"; }

std::uint64_t element_count(const Shape& shape) noexcept {
  std::uint64_t count = 1;
  for (const std::int64_t extent : shape.extents())
    count *= static_cast<std::uint64_t>(extent);
  return count;
}

bool is_tiled(const TensorSpec& spec) noexcept {
  return std::holds_alternative<kernels::MlaTiled>(spec.layout) ||
         std::holds_alternative<kernels::MlaCBlocked>(spec.layout);
}

const TensorSpec* tiled_side(const Case& bench_case) noexcept {
  if (is_tiled(bench_case.input))
    return &bench_case.input;
  return is_tiled(bench_case.output) ? &bench_case.output : nullptr;
}

std::int64_t channel_count(const Case& bench_case) noexcept {
  std::size_t axis = bench_case.input.shape.rank() - 1;
  if (const TensorSpec* tiled = tiled_side(bench_case))
    if (const auto* layout = std::get_if<kernels::MlaTiled>(&tiled->layout))
      axis = static_cast<std::size_t>(layout->axes[3]);
  return bench_case.input.shape[axis];
}

TensorSpec linear_spec(const Shape& shape, DType dtype, Linear linear) {
  TensorSpec spec{shape, dtype, kernels::Contiguous{}};
  if (linear == Linear::Dense)
    return spec;
  const std::size_t rank = shape.rank();
  if (rank < 3)
    throw std::runtime_error("strided patterns need height, width and channels");
  // Axes from the innermost to the outermost one.
  std::vector<std::size_t> order;
  for (std::size_t axis = rank; axis-- > 0;)
    order.push_back(axis);
  if (linear == Linear::Planar)
    std::rotate(order.begin(), order.begin() + 1, order.begin() + 3);
  kernels::Strided strided;
  const auto scalar_bytes = static_cast<std::int64_t>(kernels::scalar_bytes(dtype));
  std::int64_t stride = scalar_bytes * (linear == Linear::Spread ? 2 : 1);
  for (std::size_t position = 0; position < rank; ++position) {
    if (linear == Linear::Pitched && position == 2)
      stride = (stride + 63) / 64 * 64 + 64;
    strided.strides_bytes[order[position]] = stride;
    stride *= shape[order[position]];
  }
  spec.layout = strided;
  return spec;
}

std::optional<TensorSpec> tiled_spec(const TensorSpec& row, DType dtype, Storage storage) {
  const auto rank = static_cast<std::int32_t>(row.shape.rank());
  const std::array<std::int32_t, 4> trailing{-1, rank - 3, rank - 2, rank - 1};
  kernels::MlaTiled tiled;
  if (const auto* blocked = std::get_if<kernels::MlaCBlocked>(&row.layout)) {
    tiled.axes = trailing;
    tiled.tile_shape = blocked->tile_shape;
  } else {
    tiled = std::get<kernels::MlaTiled>(row.layout);
  }
  TensorSpec spec{row.shape, dtype, kernels::Contiguous{}};
  switch (storage) {
  case Storage::None:
    return std::nullopt;
  case Storage::Compact:
    tiled.channels = kernels::ChannelStorage::Compact;
    break;
  case Storage::Pad16:
    tiled.channels = kernels::ChannelStorage::PadTo16;
    break;
  case Storage::CBlocked:
    if (rank < 3 || tiled.axes != trailing)
      return std::nullopt;
    spec.layout = kernels::MlaCBlocked{tiled.tile_shape};
    return spec;
  }
  spec.layout = tiled;
  return spec;
}

namespace {

std::uint64_t span_bytes(const TensorSpec& spec) {
  const auto needs = kernels::ops::port_requirement(spec);
  if (const auto* refused = std::get_if<kernels::Error>(&needs))
    throw std::runtime_error(refused->message());
  return std::get<kernels::ops::PortRequirement>(needs).bytes;
}

std::uint64_t payload_bytes(const TensorSpec& spec, std::uint64_t span) {
  return is_tiled(spec) ? span : element_count(spec.shape) * kernels::scalar_bytes(spec.dtype);
}

} // namespace

void finish_case(std::string_view operation, std::string_view shape_name, Case* bench_case) {
  bench_case->input_span = span_bytes(bench_case->input);
  bench_case->output_span = span_bytes(bench_case->output);
  bench_case->read_bytes = payload_bytes(bench_case->input, bench_case->input_span);
  bench_case->write_bytes = payload_bytes(bench_case->output, bench_case->output_span);
  std::string& name = bench_case->name;
  name = operation;
  for (const std::string_view part : {shape_name, dtype_name(bench_case->input.dtype)})
    name.append("/").append(part);
  name.append("-").append(dtype_name(bench_case->output.dtype));
  for (const std::string_view part :
       {storage_name(bench_case->storage), linear_name(bench_case->linear),
        cache_name(bench_case->cache)})
    name.append("/").append(part);
}

} // namespace simaai::bench
