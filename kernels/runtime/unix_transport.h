// SPDX-License-Identifier: LGPL-2.1-or-later
// Transport unix:PATH: a device server behind a socket.
#pragma once

#include <string_view>

#include <simaai/runtime/transport.h>

namespace simaai::runtime {

/// Connects to the socket `path` and reads the server's greeting. A server that says nothing for two seconds is taken
/// for none. Refusals: DeviceUnavailable, ProtocolMismatch.
[[nodiscard]] TransportResult open_unix_transport(std::string_view path);

} // namespace simaai::runtime
