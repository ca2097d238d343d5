// SPDX-License-Identifier: LGPL-2.1-or-later
// What a counted program and the plug-in of QEMU agree on.
#pragma once

#include <cstdint>

namespace simaai::bench {

/// System call number of a mark, far above any real one; its first argument is the mark's number.
inline constexpr std::int64_t kMarkCall = 0x53494d;

} // namespace simaai::bench
