// SPDX-License-Identifier: LGPL-2.1-or-later
// What the demo is asked to do: its command line.
#pragma once

#include <optional>
#include <string>

namespace simaai::demo {

/// Where the video comes from.
enum class SourceKind { Clip, File, Uri, Camera, TestPattern };

struct Options {
  SourceKind kind = SourceKind::Clip;
  std::string location;         ///< path, URI or device, as given
  std::string output = ".";     ///< folder of the clip and of the two pictures
  unsigned live_frames = 300;   ///< frames taken from a camera or from videotestsrc
  unsigned check_every = 5;     ///< one frame of this many is compared
  std::optional<bool> window;   ///< unset: a window where a display exists
  std::string backend = "auto"; ///< backend property of the operations
};

/// Reads the arguments. Prints the reason of a refusal, or the help text, and returns the exit
/// status in `status` where nothing is to be run.
std::optional<Options> parse_options(int argc, char** argv, int& status);

} // namespace simaai::demo
