// SPDX-License-Identifier: LGPL-2.1-or-later
// simaai-demo: real video through cast and tessellation and back, checked and timed.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gst/gst.h>
#include <gst/pbutils/pbutils.h>

#include "common/gst_ptr.h"
#include "frame_check.h"
#include "options.h"
#include "pipeline_text.h"
#include "runner.h"
#include "snapshot.h"
#include "tracers/gstsimaailatencytracer.h"
#include "tracers/output.h"

namespace simaai::demo {

namespace {

constexpr int kFailed = 1;
constexpr int kDecoderMissing = 4;
/// Intervals of the report: 56 bytes each, enough for thousands of frames.
constexpr std::size_t kSpans = std::size_t{1} << 18;

int fail(const std::string& reason) {
  std::fprintf(stderr, "simaai-demo: %s\n", reason.c_str());
  return kFailed;
}

gst::GstPtr<GstPad> pad_of(GstElement* pipeline, const char* element, const char* pad) {
  const gst::GstPtr<GstElement> found(gst_bin_get_by_name(GST_BIN(pipeline), element));
  return gst::GstPtr<GstPad>(gst_element_get_static_pad(found.get(), pad));
}

/// Encodes the clip that is played where no source is given.
std::string encode_clip(const std::string& path) {
  std::string error;
  const auto pipeline = build_pipeline(parse_text(clip_elements(path)), error);
  if (!pipeline)
    return error + " (Debian package gstreamer1.0-plugins-good)";
  const RunResult result = run_pipeline(pipeline.get());
  stop_pipeline(pipeline.get());
  return result.interrupted ? "interrupted" : result.error;
}

/// URI of the source; the reason in `error` where it cannot be read.
std::string source_uri(const Options& options, const std::string& clip, std::string& error) {
  if (options.kind == SourceKind::Uri)
    return options.location;
  const std::string path = options.kind == SourceKind::Clip ? clip : options.location;
  std::error_code code;
  if (options.kind == SourceKind::Camera || options.kind == SourceKind::File) {
    const auto status = std::filesystem::status(path, code);
    if (!std::filesystem::exists(status))
      error = path + " does not exist";
    else if (std::filesystem::is_directory(status))
      error = path + " is a folder, not a video or a picture";
  }
  if (!error.empty() || options.kind == SourceKind::Camera)
    return {};
  GError* raw_error = nullptr;
  const gst::GTextPtr uri(gst_filename_to_uri(path.c_str(), &raw_error));
  const gst::GstPtr<GError> uri_error(raw_error);
  if (uri)
    return uri.get();
  error = uri_error ? uri_error->message : path + " cannot be opened";
  return {};
}

bool want_window(const Options& options) {
  const char* x11 = std::getenv("DISPLAY");
  const char* wayland = std::getenv("WAYLAND_DISPLAY");
  const bool display = (x11 != nullptr && *x11 != '\0') || (wayland != nullptr && *wayland != '\0');
  return options.window.value_or(display);
}

/// Reports the end of the run; returns the exit status.
int conclude(const RunResult& run, const FrameCheck& check) {
  if (!run.error.empty() && !run.missing_decoder.empty()) {
    std::fprintf(stderr, "simaai-demo: no plug-in for: %s\n  apt-get install gstreamer1.0-libav\n",
                 run.missing_decoder.c_str());
    return kDecoderMissing;
  }
  if (!run.error.empty())
    return fail(run.error);
  if (!check.failure().empty())
    return fail("MISMATCH: " + check.failure());
  if (check.checked() == 0)
    return fail("no frame was compared");
  return 0;
}

void print_results(const RunResult& run, const FrameCheck& check, bool window) {
  const auto frames = static_cast<double>(check.frames());
  std::printf("frames    %.0f in %.2f s, %.1f frames/s%s%s\n", frames, run.seconds,
              run.seconds > 0 ? frames / run.seconds : 0.0,
              window ? " (at the pace of the video)" : "", run.interrupted ? ", interrupted" : "");
  std::printf("checked   %llu frames, %llu values: %s\n",
              static_cast<unsigned long long>(check.checked()),
              static_cast<unsigned long long>(check.values()),
              check.failure().empty() ? "equal to the input rounded to bfloat16, bit for bit"
                                      : "NOT equal to the input rounded to bfloat16");
}

std::string save_pictures(const Snapshot& before, const Snapshot& after,
                          const std::string& folder) {
  const std::string before_path = folder + "/before.png";
  const std::string after_path = folder + "/after.png";
  std::string error = before.save(before_path);
  if (error.empty())
    error = after.save(after_path);
  if (error.empty())
    std::printf("pictures  %s\n          %s\n", before_path.c_str(), after_path.c_str());
  return error;
}

/// Prints where the time went and writes the page. Returns the reason where that fails.
std::string show_latency(const Options& options, const latency::Report& report) {
  std::printf("\n%s", latency::table_text(report).c_str());
  std::printf("  One frame of %u is compared on the way; the two tile elements carry that time.\n",
              options.check_every);
  latency::Outputs outputs;
  outputs.html = options.output + "/latency.html";
  std::printf("\npage      %s\n", outputs.html.c_str());
  return latency::write_outputs(outputs, report, 1);
}

int play(const Options& options, const std::string& uri, latency::Tracing& tracing) {
  const bool window = want_window(options);
  std::vector<std::string> elements = source_elements(options, uri);
  for (const auto& part : {tensor_elements(options.backend), sink_elements(window)})
    elements.insert(elements.end(), part.begin(), part.end());
  const char* plugin_path = std::getenv("GST_PLUGIN_PATH");
  std::printf("\n%s\n", shell_text(elements, plugin_path != nullptr ? plugin_path : "").c_str());
  std::fflush(stdout);

  std::string error;
  const auto pipeline = build_pipeline(parse_text(elements), error);
  if (!pipeline)
    return fail(error);
  FrameCheck check(options.check_every);
  Snapshot before;
  Snapshot after;
  check.attach(pad_of(pipeline.get(), "casttess", "sink").get(),
               pad_of(pipeline.get(), "detesscast", "src").get());
  before.attach(pad_of(pipeline.get(), "totensor", "sink").get());
  after.attach(pad_of(pipeline.get(), "tovideo", "src").get());

  latency::Settings settings;
  settings.spans = kSpans;
  latency::Report report;
  latency::configure(tracing, settings, [&report](const latency::Report& made) { report = made; });
  const RunResult run = run_pipeline(pipeline.get());
  stop_pipeline(pipeline.get());
  latency::configure(tracing, {}, [](const latency::Report& /*made*/) {});
  report.text = parse_text(elements);
  if (check.frames() > 0)
    print_results(run, check, window);
  const int status = conclude(run, check);
  if (status != 0)
    return status;
  error = save_pictures(before, after, options.output);
  if (!error.empty())
    return fail("cannot save a picture: " + error);
  error = show_latency(options, report);
  return error.empty() ? 0 : fail(error);
}

int run(const Options& options, latency::Tracing& tracing) {
  std::error_code code;
  std::filesystem::create_directories(options.output, code);
  if (code)
    return fail("cannot create " + options.output + ": " + code.message());
  const std::string clip = options.output + "/clip.webm";
  std::string error;
  if (options.kind == SourceKind::Clip) {
    error = encode_clip(clip);
    if (!error.empty())
      return fail("cannot encode " + clip + ": " + error);
    std::printf("encoded   %s (VP8 in WebM, 640x480, 90 frames)\n", clip.c_str());
  }
  std::string uri;
  if (options.kind != SourceKind::TestPattern)
    uri = source_uri(options, clip, error);
  if (!error.empty())
    return fail(error);
  return play(options, uri, tracing);
}

} // namespace

} // namespace simaai::demo

int main(int argc, char** argv) {
  int status = 0;
  const auto options = simaai::demo::parse_options(argc, argv, status);
  if (!options)
    return status;
  gst_init(nullptr, nullptr);
  gst_pb_utils_init();
  // Before any pipeline runs; what is encoded first is not reported.
  simaai::latency::Tracing& tracing = simaai::latency::start_tracing({});
  simaai::latency::configure(tracing, {}, [](const simaai::latency::Report& /*made*/) {});
  return simaai::demo::run(*options, tracing);
}
