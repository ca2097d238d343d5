// SPDX-License-Identifier: LGPL-2.1-or-later
// Main loop of one pipeline.
#include "runner.h"

#include <glib-unix.h>

#include <gst/pbutils/pbutils.h>

namespace simaai::demo {

namespace {

struct Loop {
  GMainLoop* loop = nullptr;
  GstElement* pipeline = nullptr;
  RunResult result;
};

void read_error(GstMessage* message, Loop& run) {
  GError* raw_error = nullptr;
  gst_message_parse_error(message, &raw_error, nullptr);
  const gst::GstPtr<GError> error(raw_error);
  if (run.result.error.empty())
    run.result.error = std::string(GST_MESSAGE_SRC_NAME(message)) + ": " + error->message;
}

gboolean on_message(GstBus* /*bus*/, GstMessage* message, gpointer data) noexcept {
  auto& run = *static_cast<Loop*>(data);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) {
    g_main_loop_quit(run.loop);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    read_error(message, run);
    g_main_loop_quit(run.loop);
  } else if (gst_is_missing_plugin_message(message) != FALSE &&
             run.result.missing_decoder.empty()) {
    const gst::GTextPtr text(gst_missing_plugin_message_get_description(message));
    run.result.missing_decoder = text.get();
  }
  return G_SOURCE_CONTINUE;
}

gboolean on_interrupt(gpointer data) noexcept {
  auto& run = *static_cast<Loop*>(data);
  if (run.result.interrupted)
    g_main_loop_quit(run.loop);
  else
    gst_element_send_event(run.pipeline, gst_event_new_eos());
  run.result.interrupted = true;
  return G_SOURCE_CONTINUE;
}

gboolean on_start_limit(gpointer data) noexcept {
  auto& run = *static_cast<Loop*>(data);
  if (gst_element_get_state(run.pipeline, nullptr, nullptr, 0) == GST_STATE_CHANGE_ASYNC) {
    run.result.error = "no picture arrived in time: there is no video in the source, or it does "
                       "not answer";
    g_main_loop_quit(run.loop);
  }
  return G_SOURCE_CONTINUE;
}

} // namespace

gst::GstPtr<GstElement> build_pipeline(const std::string& text, std::string& error) {
  GError* raw_error = nullptr;
  gst::GstPtr<GstElement> pipeline(
      gst_parse_launch_full(text.c_str(), nullptr, GST_PARSE_FLAG_FATAL_ERRORS, &raw_error));
  const gst::GstPtr<GError> parse_error(raw_error);
  if (!pipeline)
    error = parse_error ? parse_error->message : "the pipeline cannot be built";
  return pipeline;
}

RunResult run_pipeline(GstElement* pipeline, guint start_limit_seconds) {
  Loop run;
  run.loop = g_main_loop_new(nullptr, FALSE);
  run.pipeline = pipeline;
  const gst::GstPtr<GstBus> bus(gst_element_get_bus(pipeline));
  const guint watch = gst_bus_add_watch(bus.get(), &on_message, &run);
  const guint interrupt = g_unix_signal_add(SIGINT, &on_interrupt, &run);
  const guint start_limit = g_timeout_add_seconds(start_limit_seconds, &on_start_limit, &run);

  const gint64 began_us = g_get_monotonic_time();
  // Where this fails, an error message is on the bus.
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_main_loop_run(run.loop);
  run.result.seconds = static_cast<double>(g_get_monotonic_time() - began_us) / 1e6;

  g_source_remove(start_limit);
  g_source_remove(interrupt);
  g_source_remove(watch);
  g_main_loop_unref(run.loop);
  return run.result;
}

void stop_pipeline(GstElement* pipeline) {
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_element_get_state(pipeline, nullptr, nullptr, GST_CLOCK_TIME_NONE);
}

} // namespace simaai::demo
