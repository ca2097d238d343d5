// SPDX-License-Identifier: LGPL-2.1-or-later
// Command line of simaai-latency.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "check.h"
#include "tracers/output.h"

namespace simaai::latency {

struct Options {
  std::string pipeline;             ///< what gst-launch-1.0 would take
  std::vector<std::string> program; ///< or a program that is watched
  std::string compare;              ///< the other pipeline, empty: none
  std::uint64_t warmup = 10;
  std::uint64_t samples = 100;
  std::uint64_t repeats = 0;
  std::uint64_t window = 0;             ///< 0: not given
  std::uint64_t spans = 0;              ///< 0: not given
  std::optional<std::uint64_t> timeout; ///< seconds; 0: never
  bool live = false;
  bool quiet = false;
  std::vector<Check> checks;
  Outputs outputs;
};

/// Empty where there is nothing to run; `status` is then what to exit with.
[[nodiscard]] std::optional<Options> parse_options(const std::vector<std::string>& arguments,
                                                   int& status);

} // namespace simaai::latency
