// SPDX-License-Identifier: LGPL-2.1-or-later
// Byte comparison with a failure text that locates the first difference.
#pragma once

#include <cstdint>
#include <span>

#include <gtest/gtest.h>

namespace simaai::test {

/// Success, or the offset of the first difference with 16 bytes of both sides around it and the
/// number of differing bytes.
::testing::AssertionResult same_bytes(std::span<const std::uint8_t> expected,
                                      std::span<const std::uint8_t> found);

} // namespace simaai::test
