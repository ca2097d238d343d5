// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts heap allocations of the calling thread.
#pragma once

#include <cstdint>

namespace simaai::test {

/// Allocations (malloc, calloc, realloc, the aligned forms and operator new) of this thread since
/// the program started. Under a sanitizer its allocator hooks count; otherwise the C functions are
/// interposed.
std::uint64_t allocations_of_this_thread();

} // namespace simaai::test
