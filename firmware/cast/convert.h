// SPDX-License-Identifier: LGPL-2.1-or-later
// The two conversions of Cast on local memory. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simaai::firmware::cast {

/// `count` values from `src`, `src_stride` bytes apart, to consecutive places of `dst`. Both
/// pointers and the stride are aligned to their scalar.
void convert_run(const std::byte* src, std::uint32_t src_stride, std::byte* dst,
                 std::uint32_t count, bool widens) noexcept;

} // namespace simaai::firmware::cast
