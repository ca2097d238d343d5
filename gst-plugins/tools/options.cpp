// SPDX-License-Identifier: LGPL-2.1-or-later
// Command line of the demo.
#include "options.h"

#include <charconv>
#include <cstdio>
#include <string_view>
#include <vector>

namespace simaai::demo {

namespace {

constexpr const char* kUsage =
    R"(usage: simaai-demo [FILE | URI | /dev/videoN | videotestsrc] [OPTIONS]

Runs video through cast and tessellation and back, compares the numbers bit for bit, saves one
picture before and after, shows where the time went and writes a page about it (simaai-latency does
the same for any pipeline). Without a source a short clip is encoded (VP8 in WebM) and played.

  --output DIR       folder for clip.webm, the pictures and latency.html (default: the current one)
  --frames N         frames taken from a camera or from videotestsrc (default: 300)
  --check-every N    compare one frame of N (default: 5)
  --backend NAME     auto, a65 or ev74 (default: auto)
  --window, --no-window   show the video or do not (default: where a display exists)
  --help             this text

exit status: 0 everything equal, 1 a difference or an error, 2 wrong arguments, 4 a decoder is missing
)";

SourceKind kind_of(std::string_view location) {
  if (location.empty())
    return SourceKind::Clip;
  if (location == "videotestsrc")
    return SourceKind::TestPattern;
  if (location.starts_with("/dev/video"))
    return SourceKind::Camera;
  return location.find("://") != std::string_view::npos ? SourceKind::Uri : SourceKind::File;
}

bool parse_count(std::string_view text, unsigned& count) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  return error == std::errc{} && stop == end && count > 0;
}

/// Stores the value of an option that takes one; false where the option is unknown or the value bad.
bool set_option(Options& options, std::string_view name, std::string_view value) {
  if (name == "--frames")
    return parse_count(value, options.live_frames);
  if (name == "--check-every")
    return parse_count(value, options.check_every);
  if (name == "--output")
    options.output = value;
  else if (name == "--backend")
    options.backend = value;
  else
    return false;
  return !value.empty();
}

} // namespace

std::optional<Options> parse_options(int argc, char** argv, int& status) {
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  Options options;
  status = 2;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      std::fputs(kUsage, stdout);
      status = 0;
      return std::nullopt;
    }
    if (argument == "--window" || argument == "--no-window") {
      options.window = argument == "--window";
    } else if (argument.starts_with("-")) {
      const std::string_view value = i + 1 < arguments.size() ? arguments[i + 1] : "";
      if (!set_option(options, argument, value)) {
        std::fprintf(stderr, "simaai-demo: cannot use '%s %s'; see --help\n",
                     std::string(argument).c_str(), std::string(value).c_str());
        return std::nullopt;
      }
      ++i;
    } else if (options.location.empty() && !argument.empty()) {
      options.location = argument;
    } else {
      std::fprintf(stderr, "simaai-demo: one source at a time, not '%s' too; see --help\n",
                   std::string(argument).c_str());
      return std::nullopt;
    }
  }
  options.kind = kind_of(options.location);
  status = 0;
  return options;
}

} // namespace simaai::demo
