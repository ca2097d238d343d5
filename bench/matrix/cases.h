// SPDX-License-Identifier: LGPL-2.1-or-later
// What is measured: each case has data, candidates and the reference's results.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness.h"

namespace matrix_bench {

struct Case {
  std::string name;
  double items; ///< multiplications, or elements where there are none
  const char* item;
  std::vector<Candidate> candidates;
  std::shared_ptr<void> data; ///< what the candidates work on
};

/// Name of our candidate with the instruction set in use, through the public interface.
inline constexpr const char* kOurs = "ours";

/// One case after the other, so that only one holds its data. `small` leaves the largest out.
[[nodiscard]] std::vector<std::function<Case()>> all_cases(bool small);

} // namespace matrix_bench
