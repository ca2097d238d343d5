// SPDX-License-Identifier: LGPL-2.1-or-later
// The services of native entries on a real EV74. Freestanding C++17.
#pragma once

#include "firmware/common/services.h"

namespace simaai::firmware::target {

/// Services over the platform's functions (platform.h). Whoever receives a packet passes them to
/// the entry of its operation.
Ev74Services platform_services() noexcept;

} // namespace simaai::firmware::target
