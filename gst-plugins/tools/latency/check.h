// SPDX-License-Identifier: LGPL-2.1-or-later
// Conditions on a report, such as "detector.p50<2ms" or "total.p99<=33ms".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tracers/report.h"

namespace simaai::latency {

enum class Comparison : std::uint8_t { Less, LessOrEqual, Greater, GreaterOrEqual };

struct Check {
  std::string text;    ///< as it was given
  std::string subject; ///< element, or "total" for source to sink
  std::string
      metric; ///< residence, waiting, thread, processing, drops; of jobs: queued, working, retirement
  std::string figure; ///< p50, p90, p95, p99, min, mean or max; empty for drops
  Comparison comparison = Comparison::Less;
  double bound = 0; ///< nanoseconds, or a number of drops
};

/// SUBJECT[.METRIC].FIGURE COMPARISON NUMBER UNIT, or SUBJECT.drops COMPARISON NUMBER. Units: ns, us,
/// ms, s. A subject may have any character within; the last comparison counts. Empty where the text cannot be read.
[[nodiscard]] std::optional<Check> parse_check(std::string_view text);

/// The report has the element, by its name, its path, or both after the name of the pipeline; for "total", a frame arrived.
[[nodiscard]] bool concerns(const Check& check, const Report& report);

/// What the report says; empty where it does not know.
[[nodiscard]] std::optional<double> value_of(const Check& check, const Report& report);

/// Why it does not know.
[[nodiscard]] std::string why_unknown(const Check& check, const Report& report);

/// The condition holds. A value that is not known does not meet a condition.
[[nodiscard]] bool holds(const Check& check, std::optional<double> value);

} // namespace simaai::latency
