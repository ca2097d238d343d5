// SPDX-License-Identifier: LGPL-2.1-or-later
// The two ways to run a Cast plan on a worker. Freestanding C++17.
#pragma once

#include <cstddef>

#include "firmware/cast/plan.h"
#include "firmware/common/dma.h"

namespace simaai::firmware::cast {

/// Dense, suffix, gather and scattered: consecutive elements in destination order.
void run_spans(Worker& worker, std::byte* local, const Plan& plan);

/// Matrix: blocks of columns.
void run_columns(Worker& worker, std::byte* local, const Plan& plan);

} // namespace simaai::firmware::cast
