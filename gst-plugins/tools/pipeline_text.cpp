// SPDX-License-Identifier: LGPL-2.1-or-later
// The pipelines of the demo as text.
#include "pipeline_text.h"

#include <string_view>

#include "common/gst_ptr.h"

namespace simaai::demo {

namespace {

bool is_plain(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "_-+=:,./@%";
  return !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos;
}

/// A property value as gst_parse_launch() reads it: in double quotes where it needs them.
std::string property_value(const std::string& text) {
  if (is_plain(text))
    return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += c;
  }
  return result + '"';
}

/// One word for a shell: in single quotes where it needs them.
std::string shell_word(const std::string& word) {
  if (is_plain(word))
    return word;
  const gst::GTextPtr text(g_shell_quote(word.c_str()));
  return text.get();
}

/// Words of an element: split at spaces outside double quotes.
std::vector<std::string> words(const std::string& element) {
  std::vector<std::string> result(1);
  bool inside = false;
  for (const char c : element) {
    if (c == '"')
      inside = !inside;
    if (c == ' ' && !inside)
      result.emplace_back();
    else
      result.back() += c;
  }
  return result;
}

} // namespace

std::vector<std::string> source_elements(const Options& options, const std::string& uri) {
  const std::string frames = std::to_string(options.live_frames);
  switch (options.kind) {
  case SourceKind::Camera:
    return {"v4l2src device=" + options.location + " num-buffers=" + frames, "decodebin"};
  case SourceKind::TestPattern:
    return {"videotestsrc num-buffers=" + frames, "video/x-raw,width=640,height=480"};
  case SourceKind::Clip:
  case SourceKind::File:
  case SourceKind::Uri:
    break;
  }
  return {"uridecodebin uri=" + property_value(uri)};
}

std::vector<std::string> tensor_elements(const std::string& backend) {
  // 0 to 1: values that BFloat16 cannot hold exactly, so that the rounding is seen.
  const std::string scale = " scale=" + property_value("<0.003921569>");
  const std::string choice = backend == "auto" ? "" : " backend=" + backend;
  return {"videoconvert",
          "video/x-raw,format=RGB",
          "simaaivideototensor name=totensor" + scale,
          "application/vnd.simaai.tensor,dtype=float32",
          "simaaicasttess name=casttess" + choice,
          "simaaidetesscast name=detesscast" + choice,
          "simaaitensortovideo name=tovideo" + scale};
}

std::vector<std::string> sink_elements(bool window) {
  return {"videoconvert", window ? "autovideosink" : "fakesink"};
}

std::vector<std::string> clip_elements(const std::string& path) {
  return {"videotestsrc pattern=smpte horizontal-speed=4 num-buffers=90",
          "video/x-raw,format=I420,width=640,height=480,framerate=30/1",
          "vp8enc deadline=1 cpu-used=8 target-bitrate=2000000", "webmmux",
          "filesink location=" + property_value(path)};
}

std::string parse_text(const std::vector<std::string>& elements) {
  std::string text;
  for (const std::string& element : elements)
    text += (text.empty() ? "" : " ! ") + element;
  return text;
}

std::string shell_text(const std::vector<std::string>& elements, const std::string& plugin_path) {
  constexpr std::size_t kWidth = 100;
  std::string text;
  std::string line;
  if (!plugin_path.empty())
    text = "GST_PLUGIN_PATH=" + shell_word(plugin_path) + " \\\n";
  line = "gst-launch-1.0 -q";
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::string part = i == 0 ? "" : " !";
    for (const std::string& word : words(elements[i]))
      part += " " + shell_word(word);
    if (line.size() + part.size() > kWidth) {
      text += line + " \\\n";
      line = " ";
    }
    line += part;
  }
  return text + line + "\n";
}

} // namespace simaai::demo
