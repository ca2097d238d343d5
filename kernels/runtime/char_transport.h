// SPDX-License-Identifier: LGPL-2.1-or-later
// Transport dev: to a driver behind a character device.
#pragma once

#include <simaai/runtime/transport.h>

namespace simaai::runtime {

/// `path` names the node. Refusals: DeviceUnavailable, ProtocolMismatch.
[[nodiscard]] TransportResult open_char_transport(std::string_view path);

} // namespace simaai::runtime
