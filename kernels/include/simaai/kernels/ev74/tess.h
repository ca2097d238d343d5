// SPDX-License-Identifier: LGPL-2.1-or-later
// Tess on the EV74: representability on the device, and packets for it. Host code only: nothing
// here runs the operation or touches a device.
#pragma once

#include <variant>

#include <simaai/kernels/ev74/packet.h>
#include <simaai/kernels/export.h>
#include <simaai/kernels/ops/tess.h>
#include <simaai/kernels/status.h>

namespace simaai::kernels::ev74::tess {

using ops::tess::Params;
using ops::tess::Plan;
using ops::tess::Request;

/// Checks that the device can represent an admitted plan. An empty plan always passes: it never
/// reaches the device. Refusals: ExtentTooLarge and TileTooLarge above 2^31 - 1, SpanTooLarge where
/// no nonzero aligned address leaves room for a port below 2^32. Does not allocate. Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API Status check_inference(const Plan& plan) noexcept;

/// ops::tess::check_inference() followed by the check above. Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<Plan, Error>
check_inference(const Request& request) noexcept;

/// Encodes an executable packet: 168 bytes, or 216 where the linear port needs explicit strides.
///
/// Strided storage of the linear port that is row-major once axes of extent one are left out
/// takes the shorter packet.
///
/// Both regions need a nonzero address with the alignment of the plan's requirement, that many
/// bytes of capacity at least, an end of the accessed span at or below 2^32, and spans that do not
/// intersect. Refusals: NoWork (empty plan), those of check_inference(), then ZeroDeviceAddress,
/// BufferMisaligned, BufferTooSmall, ApertureExceeded for the source, for the destination, and
/// BuffersOverlap. Equal arguments give equal bytes. Does not allocate. Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<Invocation, Error>
encode(const Plan& plan, const DeviceRegion& source, const DeviceRegion& destination) noexcept;

/// Encodes the same packet with zero address slots, for a driver that patches them or for bind().
/// Refusals: NoWork and those of check_inference(). Does not allocate. Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<RelocatablePacket, Error>
encode_relocatable(const Plan& plan) noexcept;

/// Fills the address slots of a relocatable packet of this operation, after the region checks of
/// encode(). The result equals that of encode() with the same plan and regions. A packet of another
/// operation is refused (PacketMalformed at byte 6). Does not allocate. Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<Invocation, Error>
bind(const RelocatablePacket& packet, const DeviceRegion& source,
     const DeviceRegion& destination) noexcept;

} // namespace simaai::kernels::ev74::tess
