// SPDX-License-Identifier: LGPL-2.1-or-later
// How much of the generated work a run does: a sample, or with SIMAAI_FIRMWARE_LONG all of it.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "support/generated_count.h"

namespace simaai::test {

struct Effort {
  std::uint64_t cases; ///< of 300
  std::uint64_t seeds; ///< late orders a case and number of workers
};

inline Effort effort() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): read before any thread exists
  return std::getenv("SIMAAI_FIRMWARE_LONG") != nullptr ? Effort{300, 100}
                                                        : Effort{generated_count(90), 2};
}

} // namespace simaai::test
