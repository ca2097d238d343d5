// SPDX-License-Identifier: LGPL-2.1-or-later
// The shaped roofline: reads and writes as many bytes as a case and does no other work.
#pragma once

#include <cstddef>

namespace simaai::bench {

/// How the roofline writes.
enum class Stores { Temporal, Streaming };

/// Reads all `read_bytes` at `src` and writes all `write_bytes` at `dst`, both in ascending order and interleaved in
/// their proportion.
using ShapedFn = void (*)(const std::byte* src, std::size_t read_bytes, std::byte* dst,
                          std::size_t write_bytes);

/// The version with the widest vectors that this machine has; null where there is none.
[[nodiscard]] ShapedFn shaped_function(Stores stores);

} // namespace simaai::bench
