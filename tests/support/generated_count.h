// SPDX-License-Identifier: LGPL-2.1-or-later
// How many generated cases a test runs: all on a real machine, a part under an emulator.
#pragma once

#include <cstddef>

namespace simaai::test {

/// `count`, or where SIMAAI_TEST_DIVISOR is set that part of it, at least one. The first cases of a
/// series have to cover every kind.
std::size_t generated_count(std::size_t count);

} // namespace simaai::test
