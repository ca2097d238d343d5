// SPDX-License-Identifier: LGPL-2.1-or-later
// EV74 packets as text, for people.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <simaai/kernels/export.h>

namespace simaai::kernels::ev74 {

/// Every field of a packet that `bytes` holds, one a line: byte offset, name, value, and what the value means. Works on
/// any bytes: what is cut off is left out, and a body whose operation is unknown is shown in hexadecimal. The last line
/// begins with "verdict: " and says whether a device would run the packet, whether it waits for addresses, or which
/// field is wrong. Allocates. Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API std::string describe_packet(std::span<const std::byte> bytes);

} // namespace simaai::kernels::ev74
