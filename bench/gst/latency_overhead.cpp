// SPDX-License-Identifier: LGPL-2.1-or-later
// What a tracer costs: tiny buffers through three identities without one, with one that does nothing (what GStreamer itself
// spends as soon as anything traces), with simaailatency and with the core tracer.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

// Tracers are declared unstable in GStreamer 1.22.
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <gst/gst.h>

namespace {

constexpr int kBuffers = 300'000;
constexpr int kRounds = 5;
constexpr double kHops = 4; // source, three identities, sink

struct Candidate {
  const char* name;
  const char* tracers; ///< value of GST_TRACERS; null: the idle one
  std::vector<double> ns;
};

constexpr const char* kIdle = "SIMAAI_IDLE_TRACER"; // set: GStreamer traces, and nobody listens

/// Has one hook, of an event that the measured part does not have.
void start_idle_tracer() {
  const GType type =
      g_type_register_static_simple(GST_TYPE_TRACER, "IdleTracer", sizeof(GstTracerClass), nullptr,
                                    sizeof(GstTracer), nullptr, GTypeFlags{});
  auto* tracer = static_cast<GstTracer*>(g_object_new(type, nullptr));
  gst_tracing_register_hook(tracer, "element-remove-pad", G_CALLBACK(+[] {}));
}

/// One run in this process, which has the environment of its candidate: nanoseconds a buffer.
int run_here(const char* result) {
  gst_init(nullptr, nullptr);
  if (std::getenv(kIdle) != nullptr)
    start_idle_tracer();
  const std::string text = "fakesrc num-buffers=" + std::to_string(kBuffers) +
                           " sizetype=fixed sizemax=16 ! identity silent=true ! identity "
                           "silent=true ! identity silent=true ! fakesink silent=true";
  GstElement* pipeline = gst_parse_launch(text.c_str(), nullptr);
  GstBus* bus = gst_element_get_bus(pipeline);
  const auto begun = std::chrono::steady_clock::now();
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage* message = gst_bus_timed_pop_filtered(
      bus, GST_CLOCK_TIME_NONE, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begun;
  const bool good = GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS;
  gst_message_unref(message);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  std::FILE* file = std::fopen(result, "w");
  if (file == nullptr || !good)
    return 1;
  std::fprintf(file, "%.3f\n", took.count() / kBuffers);
  return std::fclose(file);
}

double run_child(const char* program, const Candidate& candidate, const std::string& folder) {
  const std::string result = folder + "/ns";
  const pid_t child = fork();
  if (child == 0) {
    if (candidate.tracers == nullptr)
      setenv(kIdle, "1", 1);
    setenv("GST_TRACERS", candidate.tracers != nullptr ? candidate.tracers : "", 1);
    execl(program, program, result.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  double ns = 0;
  waitpid(child, &status, 0);
  std::FILE* file = status == 0 ? std::fopen(result.c_str(), "r") : nullptr;
  if (file == nullptr || std::fscanf(file, "%lf", &ns) != 1) {
    std::fprintf(stderr, "%s: the run failed\n", candidate.name);
    std::exit(1);
  }
  std::fclose(file);
  unlink(result.c_str());
  return ns;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 1)
    return run_here(argv[1]);
  char folder[] = "/tmp/simaai-latency-XXXXXX";
  if (mkdtemp(folder) == nullptr)
    return 1;
  const std::string table = std::string("simaailatency(table=") + folder + "/table)";
  std::array<Candidate, 5> candidates{{{"no tracer", "", {}},
                                       {"a tracer without work", nullptr, {}},
                                       {"simaailatency", table.c_str(), {}},
                                       {"latency, flags=pipeline", "latency(flags=pipeline)", {}},
                                       {"latency, flags=element", "latency(flags=element)", {}}}};
  for (int round = 0; round < kRounds; ++round) {
    for (Candidate& candidate : candidates)
      candidate.ns.push_back(run_child("/proc/self/exe", candidate, folder));
  }
  std::printf("%d buffers through three identities, %d rounds in turn\n%-26s %12s %14s %18s\n",
              kBuffers, kRounds, "", "ns a buffer", "min .. max", "ns a hop, added");
  const double plain = median(candidates[0].ns);
  for (const Candidate& candidate : candidates) {
    const auto [low, high] = std::minmax_element(candidate.ns.begin(), candidate.ns.end());
    std::printf("%-26s %12.0f %6.0f .. %5.0f %18.0f\n", candidate.name, median(candidate.ns), *low,
                *high, (median(candidate.ns) - plain) / kHops);
  }
  unlink((std::string(folder) + "/table").c_str());
  rmdir(folder);
  return 0;
}
