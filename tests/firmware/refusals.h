// SPDX-License-Identifier: LGPL-2.1-or-later
// Packets that the device itself must refuse, host checks bypassed.
#pragma once

#include "firmware/device_case.h"

namespace simaai::test {

/// Spoils every field of the case's packet in turn, its length, its address and the services, and
/// expects the same refusal as the wire checks promise: nothing transferred, nothing written, no
/// route. `strided` packets have their strides spoilt, too.
void expect_malformed_packets_refused(DeviceCase& c, Ev74Entry entry);

} // namespace simaai::test
