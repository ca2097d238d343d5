// SPDX-License-Identifier: LGPL-2.1-or-later
// Validation of extents, strides and tile fields, and the storage that follows from them.
#include "ops/common/tensor_checks.h"

#include <array>
#include <cstddef>

#include <simaai/kernels/ops/requirement.h>

#include "core/stride_proof.h"
#include "core/tile_geometry.h"
#include "ops/common/spec_geometry.h"

namespace simaai::kernels::ops {
namespace detail {
namespace {

/// Smallest rank of MlaCBlocked, which needs H, W and C.
constexpr std::int64_t kMinBlockedRank = 3;

std::optional<Error> stride_error(const Port& port, const core::StrideProof& proof,
                                  std::int64_t found) noexcept {
  const auto axis = static_cast<std::int64_t>(proof.axis);
  switch (proof.fault) {
  case core::StrideFault::None:
    return std::nullopt;
  case core::StrideFault::Negative:
    return port.error(ErrorCode::NegativeStride, 0, found, axis);
  case core::StrideFault::Misaligned:
    return port.error(ErrorCode::MisalignedStride, proof.expected, found, axis);
  case core::StrideFault::Zero:
    return port.error(ErrorCode::ZeroStride, proof.expected, found, axis);
  case core::StrideFault::Overlap:
    return port.error(ErrorCode::StrideOverlap, proof.expected, found, axis);
  case core::StrideFault::Overflow:
    return port.error(ErrorCode::SizeOverflow, 0, 0, axis);
  }
  return std::nullopt;
}

core::StrideProof prove(const TensorSpec& spec, const Strided& strided) noexcept {
  const auto extents = spec.shape.extents();
  return core::prove_strides(extents.data(), strided.strides_bytes.data(), extents.size(),
                             scalar_bytes(spec.dtype));
}

std::optional<Error> check_strided(const Port& port, const Strided& strided) noexcept {
  const core::StrideProof proof = prove(port.spec, strided);
  if (proof.fault == core::StrideFault::Overflow) // a size, judged after the parameters
    return std::nullopt;
  return stride_error(port, proof, strided.strides_bytes[proof.axis]);
}

std::optional<Error> check_tile_axes(const Port& port, const MlaTiled& tiled) noexcept {
  const auto rank = static_cast<std::int64_t>(port.spec.shape.rank());
  if (tiled.axes[core::kAxisC] == -1)
    return port.error(ErrorCode::MissingChannelAxis, 0, -1);
  for (std::size_t axis = 0; axis < core::kTileAxes; ++axis) {
    const std::int64_t logical = tiled.axes[axis];
    const auto position = static_cast<std::int64_t>(axis);
    if (logical == -1)
      continue;
    if (logical < 0 || logical >= rank)
      return port.error(ErrorCode::AxisOutOfRange, rank, logical, position);
    for (std::size_t earlier = 0; earlier < axis; ++earlier)
      if (tiled.axes[earlier] == logical)
        return port.error(ErrorCode::AxisRepeated, static_cast<std::int64_t>(earlier), logical,
                          position);
  }
  return std::nullopt;
}

std::optional<Error> check_tile_extents(const Port& port,
                                        const std::array<std::int64_t, 4>& tile_shape) noexcept {
  for (std::size_t axis = 0; axis < core::kTileAxes; ++axis)
    if (tile_shape[axis] <= 0)
      return port.error(ErrorCode::NonPositiveTile, 1, tile_shape[axis],
                        static_cast<std::int64_t>(axis));
  return std::nullopt;
}

std::optional<Error> check_channel_storage(const Port& port, ChannelStorage storage) noexcept {
  switch (storage) {
  case ChannelStorage::Compact:
  case ChannelStorage::PadTo16:
    return std::nullopt;
  }
  return port.error(ErrorCode::UnknownChannelStorage, 0, static_cast<std::int64_t>(storage));
}

std::optional<Error> check_tiled(const Port& port, const MlaTiled& tiled) noexcept {
  if (const auto refused = check_tile_axes(port, tiled))
    return refused;
  if (const auto refused = check_tile_extents(port, tiled.tile_shape))
    return refused;
  for (std::size_t axis = 0; axis < core::kTileAxes; ++axis)
    if (tiled.axes[axis] == -1 && tiled.tile_shape[axis] != 1)
      return port.error(ErrorCode::AbsentAxisTile, 1, tiled.tile_shape[axis],
                        static_cast<std::int64_t>(axis));
  return check_channel_storage(port, tiled.channels);
}

std::optional<Error> check_blocked(const Port& port, const MlaCBlocked& blocked) noexcept {
  const auto rank = static_cast<std::int64_t>(port.spec.shape.rank());
  if (rank < kMinBlockedRank)
    return port.error(ErrorCode::RankTooSmall, kMinBlockedRank, rank);
  if (const auto refused = check_tile_extents(port, blocked.tile_shape))
    return refused;
  if (blocked.tile_shape[core::kAxisD] != 1)
    return port.error(ErrorCode::BlockedTileDepth, 1, blocked.tile_shape[core::kAxisD]);
  return std::nullopt;
}

} // namespace

std::optional<Error> check_known_dtype(const Port& port) noexcept {
  if (scalar_bytes(port.spec.dtype) == 0)
    return port.error(ErrorCode::UnknownDType, 0, static_cast<std::int64_t>(port.spec.dtype));
  return std::nullopt;
}

std::optional<Error> check_max_rank(const Port& port) noexcept {
  if (port.spec.shape.rank() > kMaxRank)
    return port.error(ErrorCode::RankTooLarge, static_cast<std::int64_t>(kMaxRank),
                      static_cast<std::int64_t>(port.spec.shape.rank()));
  return std::nullopt;
}

std::optional<Error> check_extents(const Port& port) noexcept {
  for (std::size_t axis = 0; axis < port.spec.shape.rank(); ++axis)
    if (port.spec.shape[axis] < 0)
      return port.error(ErrorCode::NegativeExtent, 0, port.spec.shape[axis],
                        static_cast<std::int64_t>(axis));
  return std::nullopt;
}

std::optional<Error> check_layout_fields(const Port& port) noexcept {
  if (const auto* strided = std::get_if<Strided>(&port.spec.layout))
    return check_strided(port, *strided);
  if (const auto* tiled = std::get_if<MlaTiled>(&port.spec.layout))
    return check_tiled(port, *tiled);
  if (const auto* blocked = std::get_if<MlaCBlocked>(&port.spec.layout))
    return check_blocked(port, *blocked);
  return std::nullopt;
}

std::variant<PortRequirement, Error> derive_requirement(const Port& port) noexcept {
  const TensorSpec& spec = port.spec;
  if (is_tiled(spec)) {
    core::TileGeometry geometry;
    if (!core::derive_tile_geometry(tile_description(spec), &geometry))
      return port.error(ErrorCode::SizeOverflow, 0, 0);
    return PortRequirement{static_cast<std::uint64_t>(geometry.total_bytes),
                           static_cast<std::uint32_t>(core::kChannelBlock)};
  }
  const auto extents = spec.shape.extents();
  std::array<std::int64_t, kMaxRank> row_major{};
  const auto* strided = std::get_if<Strided>(&spec.layout);
  const core::StrideProof proof =
      strided != nullptr ? prove(spec, *strided)
                         : core::row_major_strides(extents.data(), extents.size(),
                                                   scalar_bytes(spec.dtype), row_major.data());
  if (proof.fault != core::StrideFault::None)
    return port.error(ErrorCode::SizeOverflow, 0, 0, static_cast<std::int64_t>(proof.axis));
  return PortRequirement{static_cast<std::uint64_t>(proof.span_bytes), scalar_bytes(spec.dtype)};
}

} // namespace detail

std::variant<PortRequirement, Error> port_requirement(const TensorSpec& spec) noexcept {
  const detail::Port port{spec, Operand::Input};
  if (const auto refused = detail::check_known_dtype(port))
    return *refused;
  if (const auto refused = detail::check_max_rank(port))
    return *refused;
  if (const auto refused = detail::check_extents(port))
    return *refused;
  if (const auto refused = detail::check_layout_fields(port))
    return *refused;
  return detail::derive_requirement(port);
}

} // namespace simaai::kernels::ops
