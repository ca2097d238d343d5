// SPDX-License-Identifier: LGPL-2.1-or-later
// Admitted plan -> wire descriptor.
#include "ev74/common/lower.h"

#include <cstddef>
#include <cstdint>
#include <variant>

#include <simaai/kernels/tensor_spec.h>

#include "core/stride_proof.h"
#include "wire/check.h"

namespace simaai::kernels::ev74::detail {
namespace {

static_assert(kMaxRank == wire::kMaxRank);

/// Wire tags are stated one by one: the order of the public enumerators is no part of the format.
wire::DTypeTag dtype_tag(DType dtype) noexcept {
  switch (dtype) {
  case DType::Int8:
    return wire::DTypeTag::Int8;
  case DType::Float16:
    return wire::DTypeTag::Float16;
  case DType::BFloat16:
    return wire::DTypeTag::BFloat16;
  case DType::Float32:
    return wire::DTypeTag::Float32;
  case DType::UInt8:
  case DType::Int32:
    break; // no admitted plan has them
  }
  return wire::DTypeTag{};
}

/// Fills the stride slots of one linear port. Contiguous and axes of extent one take the row-major
/// stride.
void explicit_strides(const wire::Descriptor& d, const TensorSpec& spec,
                      std::int64_t (&strides)[wire::kMaxRank]) noexcept {
  // Cannot overflow: the span of an admitted plan covers the row-major one.
  (void)core::row_major_strides(d.shape, d.rank, scalar_bytes(spec.dtype), strides);
  const auto* strided = std::get_if<Strided>(&spec.layout);
  for (std::size_t axis = 0; strided != nullptr && axis < d.rank; ++axis)
    if (d.shape[axis] > 1)
      strides[axis] = strided->strides_bytes[axis];
}

/// Fills the linear port of a tiled operation: nothing where it is row-major, else flag and
/// strides, zero on axes of extent one.
void linear_port(const TensorSpec& spec, wire::Descriptor& d) noexcept {
  const auto* strided = std::get_if<Strided>(&spec.layout);
  if (strided == nullptr ||
      wire::is_row_major(d.shape, strided->strides_bytes.data(), d.rank, scalar_bytes(spec.dtype)))
    return;
  d.flags |= wire::kFlagStrided;
  for (std::size_t axis = 0; axis < d.rank; ++axis)
    if (d.shape[axis] > 1)
      d.linear_strides_bytes[axis] = strided->strides_bytes[axis];
}

void tiled_port(const TensorSpec& spec, wire::Descriptor& d) noexcept {
  if (const auto* tiled = std::get_if<MlaTiled>(&spec.layout)) {
    for (std::size_t slot = 0; slot < wire::kTileAxes; ++slot) {
      d.axes[slot] = tiled->axes[slot];
      d.tile_shape[slot] = tiled->tile_shape[slot];
    }
    d.channel_storage = tiled->channels == ChannelStorage::PadTo16
                            ? wire::ChannelStorageTag::PadTo16
                            : wire::ChannelStorageTag::Compact;
    return;
  }
  const auto* blocked = std::get_if<MlaCBlocked>(&spec.layout);
  if (blocked == nullptr)
    return;
  d.flags |= wire::kFlagCBlocked;
  d.channel_storage = wire::ChannelStorageTag::PadTo16;
  d.axes[0] = -1;
  d.tile_shape[0] = 1;
  for (std::size_t slot = 1; slot < wire::kTileAxes; ++slot) {
    d.axes[slot] = static_cast<std::int32_t>(d.rank + slot - wire::kTileAxes);
    d.tile_shape[slot] = blocked->tile_shape[slot];
  }
}

} // namespace

wire::Descriptor lower(const Lowering& lowering, const ops::PortPlan& plan) noexcept {
  const TensorSpec& source = plan.input();
  const TensorSpec& destination = plan.output();
  wire::Descriptor d;
  d.operation = lowering.operation;
  d.source_dtype = dtype_tag(source.dtype);
  d.destination_dtype = dtype_tag(destination.dtype);
  d.source_capacity_bytes = plan.input_requirement().bytes;
  d.destination_capacity_bytes = plan.output_requirement().bytes;
  const auto extents = source.shape.extents();
  d.rank = static_cast<std::uint8_t>(extents.size());
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    d.shape[axis] = extents[axis];

  const wire::OperationRules& rules = wire::rules_of(lowering.operation);
  if (!rules.tiled()) {
    if (d.rank == 0) { // the device has no scalars
      d.rank = 1;
      d.shape[0] = 1;
    }
    explicit_strides(d, source, d.source_strides_bytes);
    explicit_strides(d, destination, d.destination_strides_bytes);
    return d;
  }
  tiled_port(rules.tiled_source ? source : destination, d);
  linear_port(rules.tiled_source ? destination : source, d);
  if (rules.has_channel_fill && d.source_dtype == wire::DTypeTag::Int8 &&
      d.channel_storage == wire::ChannelStorageTag::PadTo16) {
    d.channel_fill_present = 1;
    d.channel_fill = static_cast<std::uint8_t>(lowering.channel_padding.value_or(0));
  }
  return d;
}

} // namespace simaai::kernels::ev74::detail
