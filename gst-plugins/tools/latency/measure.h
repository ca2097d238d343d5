// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs a pipeline under the tracer until it has given its samples.
#pragma once

#include <cstdint>
#include <string>

#include "tracers/gstsimaailatencytracer.h"
#include "tracers/report.h"

namespace simaai::latency {

struct MeasureOptions {
  std::uint64_t warmup = 10;
  std::uint64_t samples = 100; ///< 0: until the end of the stream
  std::uint64_t window = 0;    ///< 0: that of the tracer
  std::uint64_t spans = 0;     ///< 0: enough for some thousand frames
  std::uint64_t timeout = 60;  ///< seconds after which a run without a further frame ends; 0: never
  bool live = false;           ///< shows the table meanwhile, on standard output
  bool progress = false;       ///< shows a bar, on standard error
  std::string label;           ///< before the bar
};

struct Measured {
  Report report;     ///< of what was counted, after a failure too
  std::string error; ///< the pipeline failed; empty where it did not
  bool interrupted = false;
  bool ended = false;  ///< the stream came to its end
  bool flowed = false; ///< a buffer was pushed
  double seconds = 0;
};

/// Settings of the tracer that give exact samples for the options.
[[nodiscard]] Settings settings_for(const MeasureOptions& options);

/// One run of a pipeline of gst_parse_launch() text, from NULL to NULL.
[[nodiscard]] Measured measure(Tracing& tracing, const std::string& text,
                               const MeasureOptions& options);

} // namespace simaai::latency
