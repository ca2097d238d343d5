// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs a pipeline to its end, to its first error or until Ctrl-C.
#pragma once

#include <string>

#include <gst/gst.h>

#include "common/gst_ptr.h"

namespace simaai::demo {

/// How a run ended.
struct RunResult {
  std::string error;           ///< first error of the bus, empty where there was none
  std::string missing_decoder; ///< what a plug-in is missing for, empty where nothing is missing
  bool interrupted = false;    ///< Ctrl-C ended it
  double seconds = 0;          ///< from PLAYING to the end of the stream
};

/// Builds a pipeline of gst-launch text. Returns null and the reason where that fails.
[[nodiscard]] gst::GstPtr<GstElement> build_pipeline(const std::string& text, std::string& error);

/// How long a source may take to its first picture.
inline constexpr guint kStartLimitSeconds = 30;

/// Plays until EOS, error or SIGINT (a first one sends EOS, a second one stops at once). The
/// pipeline keeps its state, so that its elements can be asked for their statistics. A pipeline
/// that has nothing to show within the limit ends with an error: decodebin now and then swallows
/// the message that a file has no stream for us.
[[nodiscard]] RunResult run_pipeline(GstElement* pipeline,
                                     guint start_limit_seconds = kStartLimitSeconds);

/// NULL state, waiting for it.
void stop_pipeline(GstElement* pipeline);

} // namespace simaai::demo
