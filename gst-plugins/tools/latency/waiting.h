// SPDX-License-Identifier: LGPL-2.1-or-later
// What a run that does not get on waits for.
#pragma once

#include <cstdint>
#include <string>

#include <gst/gst.h>

#include "tracers/recorder.h"

namespace simaai::latency {

/// Sinks that got no buffer to begin with; where all did, the frames that each sink has of those that it should get, 0: all.
/// `recorder` is null where no buffer was pushed.
[[nodiscard]] std::string waited_for(GstElement* pipeline, const Recorder* recorder,
                                     std::uint64_t samples);

} // namespace simaai::latency
