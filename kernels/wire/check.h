// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of a packet's meaning: geometry, strides, capacities and addresses. The host runs them on
// packets from elsewhere, the firmware on every packet. Freestanding C++17.
#pragma once

#include "core/tile_geometry.h"
#include "wire/descriptor.h"

namespace simaai::kernels::wire {

/// Judges extents, axes, tile shape and strides of a descriptor from read(), and that both
/// capacities equal the spans that follow from them. Overflow of any product is a WrongCapacity.
Finding check_geometry(const Descriptor& descriptor) noexcept;

/// Judges the address slots of a descriptor that passed check_geometry(): nonzero, aligned, within
/// the aperture, spans disjoint.
Finding check_addresses(const Descriptor& descriptor) noexcept;

/// Tile geometry of a descriptor's tiled port; false where a sum exceeds the signed 64-bit range.
/// The descriptor is of a tiled operation with valid extents, axes and tile shape.
bool tile_geometry(const Descriptor& descriptor, core::TileGeometry* geometry) noexcept;

/// True where the strides are those of row-major storage, whatever they say on axes of extent one.
/// Extents are positive and their product with the scalar width fits the signed 64-bit range.
bool is_row_major(const std::int64_t* extents, const std::int64_t* strides_bytes,
                  std::uint32_t rank, std::uint32_t scalar_width_bytes) noexcept;

} // namespace simaai::kernels::wire
