// SPDX-License-Identifier: LGPL-2.1-or-later
// Main loop of one run: progress, live table, end of the samples, end of the stream, Ctrl-C.
#include "measure.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <glib-unix.h>
#include <unistd.h>

#include <gst/gst.h>

#include "common/gst_ptr.h"
#include "tracers/names.h"
#include "tracers/output.h"
#include "waiting.h"

namespace simaai::latency {

namespace {

constexpr guint kTickMs = 100;
constexpr unsigned kTicksOfTable = 5;
constexpr unsigned kTicksOfSecond = 10;
constexpr unsigned kTicksUntilSaid = 5 * kTicksOfSecond;
constexpr unsigned kLeastIdleTicks = 20;
/// 56 bytes each; what a hundred frames leave in forty elements is a hundredth of it.
constexpr std::size_t kSpans = std::size_t{1} << 18;

struct Run {
  const MeasureOptions* options = nullptr;
  Tracing* tracing = nullptr;
  GstElement* pipeline = nullptr;
  GMainLoop* loop = nullptr;
  unsigned ticks = 0;
  unsigned ticks_until_begun = 0; ///< until all frames that are counted had begun; 0: not yet
  unsigned idle_ticks = 0;        ///< since the last of them arrived
  std::uint64_t arrived = 0;
  std::uint64_t progress = 0; ///< frames that have begun, and that have arrived
  unsigned ticks_stuck = 0;   ///< since there was a further one
  Measured result;
};

std::string bar_text(const MeasureOptions& options, std::uint64_t done) {
  constexpr std::size_t kWidth = 30;
  const std::size_t filled =
      options.samples != 0 ? std::min<std::size_t>(kWidth, done * kWidth / options.samples) : 0;
  std::string bar = "\r" + options.label + "[" + std::string(filled, '#') +
                    std::string(kWidth - filled, '.') + "] " + std::to_string(done);
  if (options.samples != 0)
    bar += "/" + std::to_string(options.samples);
  return bar + " ";
}

void show_live(Run& run, const Recorder& recorder) {
  if (run.ticks % kTicksOfTable != 0)
    return;
  const Report report = make_report(recorder, reported_name(GST_OBJECT_CAST(run.pipeline)), false);
  // A file or a pipe gets one table after the other.
  const char* terminal = std::getenv("TERM");
  const bool clears =
      isatty(STDOUT_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
  std::printf("%s%s%s", clears ? "\x1b[H\x1b[2J" : "", table_text(report).c_str(),
              clears ? "" : "\n");
  std::fflush(stdout);
}

/// Whether the frames that are counted and have not arrived yet are taken for lost: all have begun, and
/// for twice as long as that took none arrived.
bool has_lost_the_rest(Run& run, const Recorder& recorder) {
  if (run.ticks_until_begun == 0) {
    if (!recorder.measured_have_begun())
      return false;
    run.ticks_until_begun = run.ticks;
    run.idle_ticks = 0;
  }
  return ++run.idle_ticks >= std::max(kLeastIdleTicks, 2 * run.ticks_until_begun);
}

/// Says what is waited for, and later gives up.
void watch_progress(Run& run, const Recorder* recorder) {
  const std::uint64_t progress =
      recorder != nullptr ? recorder->begun() + recorder->arrived_in_all() : 0;
  if (progress != run.progress)
    run.ticks_stuck = 0;
  run.progress = progress;
  ++run.ticks_stuck;
  const std::uint64_t limit = run.options->timeout * kTicksOfSecond;
  const bool gives_up = limit != 0 && run.ticks_stuck >= limit;
  if (!gives_up && run.ticks_stuck != kTicksUntilSaid)
    return;
  const std::string what = waited_for(run.pipeline, recorder, run.options->samples);
  if (!gives_up) {
    std::fprintf(stderr, "%ssimaai-latency: waiting for %s\n",
                 run.options->progress && !run.options->live ? "\r\x1b[K" : "", what.c_str());
    return;
  }
  if (run.result.error.empty())
    run.result.error = "nothing came for " + std::to_string(run.options->timeout) +
                       " s; it waited for " + what + "; see --timeout";
  g_main_loop_quit(run.loop);
}

gboolean on_tick(gpointer data) noexcept {
  auto& run = *static_cast<Run*>(data);
  ++run.ticks;
  const Recorder* recorder = running(*run.tracing, run.pipeline);
  watch_progress(run, recorder);
  if (recorder == nullptr)
    return G_SOURCE_CONTINUE;
  const std::uint64_t done = recorder->arrived().value_or(0);
  if (run.options->live)
    show_live(run, *recorder);
  else if (run.options->progress)
    std::fputs(bar_text(*run.options, done).c_str(), stderr);
  const std::uint64_t arrived = recorder->arrived_in_all();
  if (arrived != run.arrived)
    run.idle_ticks = 0;
  run.arrived = arrived;
  if (run.options->samples != 0 &&
      (done >= run.options->samples || has_lost_the_rest(run, *recorder)))
    g_main_loop_quit(run.loop);
  return G_SOURCE_CONTINUE;
}

/// What the element says, and the cause, which GStreamer puts behind the place in its sources.
std::string error_text(GstMessage* message) {
  GError* raw_error = nullptr;
  gchar* raw_cause = nullptr;
  gst_message_parse_error(message, &raw_error, &raw_cause);
  const gst::GstPtr<GError> error(raw_error);
  const gst::GTextPtr debug(raw_cause);
  std::string text = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + error->message;
  const std::string_view whole = debug ? std::string_view(debug.get()) : std::string_view();
  const std::size_t line = whole.find('\n');
  if (line != std::string_view::npos && line + 1 < whole.size())
    text.append(" (").append(whole.substr(line + 1)).append(")");
  return text;
}

gboolean on_message(GstBus* /*bus*/, GstMessage* message, gpointer data) noexcept {
  auto& run = *static_cast<Run*>(data);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
    run.result.ended = true;
    g_main_loop_quit(run.loop);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    if (run.result.error.empty())
      run.result.error = error_text(message);
    g_main_loop_quit(run.loop);
  }
  return G_SOURCE_CONTINUE;
}

gboolean on_interrupt(gpointer data) noexcept {
  auto& run = *static_cast<Run*>(data);
  run.result.interrupted = true;
  g_main_loop_quit(run.loop);
  return G_SOURCE_CONTINUE;
}

void play(Run& run) {
  run.loop = g_main_loop_new(nullptr, FALSE);
  const gst::GstPtr<GstBus> bus(gst_element_get_bus(run.pipeline));
  const guint sources[] = {gst_bus_add_watch(bus.get(), &on_message, &run),
                           g_unix_signal_add(SIGINT, &on_interrupt, &run),
                           g_unix_signal_add(SIGTERM, &on_interrupt, &run),
                           g_unix_signal_add(SIGHUP, &on_interrupt, &run),
                           g_timeout_add(kTickMs, &on_tick, &run)};
  const gint64 began_us = g_get_monotonic_time();
  // Where this fails, an error message is on the bus.
  gst_element_set_state(run.pipeline, GST_STATE_PLAYING);
  g_main_loop_run(run.loop);
  run.result.seconds = static_cast<double>(g_get_monotonic_time() - began_us) / 1e6;
  for (const guint source : sources)
    g_source_remove(source);
  g_main_loop_unref(run.loop);
  gst_element_set_state(run.pipeline, GST_STATE_NULL);
  gst_element_get_state(run.pipeline, nullptr, nullptr, GST_CLOCK_TIME_NONE);
  if (run.options->progress && !run.options->live)
    std::fputs("\r\x1b[K", stderr);
}

} // namespace

Settings settings_for(const MeasureOptions& options) {
  Settings settings;
  settings.warmup = options.warmup;
  settings.samples = options.samples;
  if (options.window != 0)
    settings.window = options.window;
  settings.spans = options.spans != 0 ? options.spans : kSpans;
  return settings;
}

Measured measure(Tracing& tracing, const std::string& text, const MeasureOptions& options) {
  Run run;
  run.options = &options;
  run.tracing = &tracing;
  bool reported = false;
  configure(tracing, settings_for(options), [&run, &reported](const Report& report) {
    run.result.report = report;
    reported = true;
  });
  begin_names(text);
  GError* raw_error = nullptr;
  gst::GstPtr<GstElement> pipeline(
      gst_parse_launch_full(text.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &raw_error));
  const gst::GstPtr<GError> error(raw_error);
  if (!pipeline) {
    run.result.error = error ? error->message : "the pipeline cannot be built";
    return run.result;
  }
  // A single element is no pipeline and has no bus.
  if (!GST_IS_PIPELINE(pipeline.get())) {
    gst::GstPtr<GstElement> outer(gst_pipeline_new(nullptr));
    gst_object_ref_sink(outer.get());
    gst_bin_add(GST_BIN(outer.get()), pipeline.release());
    pipeline = std::move(outer);
  }
  run.pipeline = pipeline.get();
  play(run);
  pipeline.reset();
  configure(tracing, settings_for(options), [](const Report& /*report*/) {});
  run.result.report.text = text;
  run.result.flowed = reported;
  if (run.result.error.empty() && !reported)
    run.result.error = "no buffer was pushed";
  return run.result;
}

} // namespace simaai::latency
