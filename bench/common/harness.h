// SPDX-License-Identifier: LGPL-2.1-or-later
// Main program of a benchmark: registers every case and candidate with Google Benchmark.
#pragma once

#include "operation.h"

namespace simaai::bench {

/// Takes --quick, --all, --rounds=N, --round-us=N, --seed=N and the flags of Google Benchmark. Returns the
/// exit status: 1 where a result was wrong or a case could not run.
int run_benchmarks(int argc, char** argv, const Operation& operation);

} // namespace simaai::bench
