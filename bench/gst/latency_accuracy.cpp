// SPDX-License-Identifier: LGPL-2.1-or-later
// The residence that the tracer reports beside what the elements' own clocks say.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <unistd.h>

#include "tests/tracers/traced_run.h"

namespace {

using namespace simaai::latency;
using namespace simaai::latency::test;

constexpr std::size_t kHeld = 4;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

/// What an element's own clock says of each buffer.
using OwnTimes = std::vector<std::uint64_t>;

void sleep_ms(unsigned ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

std::unique_ptr<Behaviour> delays(unsigned ms, OwnTimes& own) {
  return each([ms, &own](GstPad* source, BufferPtr buffer) {
    const std::uint64_t begun = now_ns();
    sleep_ms(ms);
    own.push_back(now_ns() - begun);
    return gst_pad_push(source, buffer.release());
  });
}

std::unique_ptr<Behaviour> holds_and_times(OwnTimes& own) {
  struct Held {
    BufferPtr buffer;
    std::uint64_t since;
  };
  auto held = std::make_shared<std::deque<Held>>();
  return each([held, &own](GstPad* source, BufferPtr buffer) {
    held->push_back({std::move(buffer), now_ns()});
    if (held->size() <= kHeld)
      return GST_FLOW_OK;
    own.push_back(now_ns() - held->front().since);
    BufferPtr oldest = std::move(held->front().buffer);
    held->pop_front();
    return gst_pad_push(source, oldest.release());
  });
}

/// Times of buffers between two pads, by their timestamps.
class Stopwatch {
public:
  Stopwatch(GstElement* element, OwnTimes& own) : own_(own) {
    watch(element, "sink", &on_enter);
    watch(element, "src", &on_leave);
  }

private:
  void watch(GstElement* element, const char* name,
             GstPadProbeReturn (*probe)(GstPad*, GstPadProbeInfo*, gpointer)) {
    const simaai::gst::GstPtr<GstPad> pad(gst_element_get_static_pad(element, name));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, probe, this, nullptr);
  }
  static GstPadProbeReturn on_enter(GstPad* /*pad*/, GstPadProbeInfo* info, gpointer self) {
    auto& watch = *static_cast<Stopwatch*>(self);
    const std::lock_guard lock(watch.mutex_);
    watch.entered_[GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info))] = now_ns();
    return GST_PAD_PROBE_OK;
  }
  static GstPadProbeReturn on_leave(GstPad* /*pad*/, GstPadProbeInfo* info, gpointer self) {
    auto& watch = *static_cast<Stopwatch*>(self);
    const std::lock_guard lock(watch.mutex_);
    watch.own_.push_back(now_ns() -
                         watch.entered_[GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info))]);
    return GST_PAD_PROBE_OK;
  }

  OwnTimes& own_;
  std::mutex mutex_;
  std::unordered_map<GstClockTime, std::uint64_t> entered_;
};

/// One line: false where a figure is off by more than 1 % and 50 us.
bool compare(const char* name, const std::optional<Stat>& reported, OwnTimes own) {
  const Stat exact = exact_stat(own);
  bool good = reported && reported->count == exact.count && exact.count != 0;
  std::printf("%-34s", name);
  for (const auto field : {&Stat::p50, &Stat::p95, &Stat::max}) {
    const double truth = static_cast<double>(exact.*field) / 1e3;
    const double found = reported ? static_cast<double>((*reported).*field) / 1e3 : 0;
    good = good && std::abs(found - truth) <= truth / 100 + 50;
    std::printf(" %10.1f %10.1f", truth, found);
  }
  std::printf("  %s\n", good ? "ok" : "OFF");
  return good;
}

std::string line(const char* middle, unsigned buffers) {
  return "videotestsrc name=camera num-buffers=" + std::to_string(buffers) +
         " ! video/x-raw,format=GRAY8,width=16,height=16,framerate=100/1 ! " + middle +
         " ! fakesink name=screen";
}

bool check_delay(bool exact) {
  Settings settings;
  settings.spans = exact ? 1U << 16 : 0;
  OwnTimes own;
  TracedRun run(line("latencybehaviour name=element", 300), settings);
  run.behave("element", delays(3, own));
  return run.play() &&
         compare(exact ? "3 ms on the thread, samples" : "3 ms on the thread, buckets",
                 element_of(run.stop(), "element").residence, own);
}

bool check_holding() {
  OwnTimes own;
  OwnTimes pace;
  TracedRun run(line("latencybehaviour name=pace ! latencybehaviour name=element", 200));
  run.behave("pace", delays(5, pace));
  run.behave("element", holds_and_times(own));
  return run.play() && compare("four buffers held, one each 5 ms",
                               element_of(run.stop(), "element").residence, own);
}

bool check_queue() {
  OwnTimes own;
  OwnTimes pace;
  TracedRun run(line("queue name=element max-size-buffers=8 ! latencybehaviour name=pace", 200));
  const Stopwatch watch(run.element("element"), own);
  run.behave("pace", delays(4, pace));
  return run.play() && compare("queue of 8 before a 4 ms element",
                               element_of(run.stop(), "element").residence, own);
}

bool check_branches() {
  OwnTimes slow;
  OwnTimes fast;
  TracedRun run(
      "videotestsrc num-buffers=200 ! video/x-raw,format=GRAY8,width=16,height=16 ! tee "
      "name=split split. ! queue ! latencybehaviour name=slow ! fakesink split. ! queue ! "
      "latencybehaviour name=fast ! fakesink");
  run.behave("slow", delays(6, slow));
  run.behave("fast", delays(2, fast));
  if (!run.play())
    return false;
  const Report& report = run.stop();
  const bool first = compare("tee, branch of 6 ms", element_of(report, "slow").residence, slow);
  return compare("tee, branch of 2 ms", element_of(report, "fast").residence, fast) && first;
}

/// What the core tracer, which watches the same run, logged of the element, in nanoseconds.
OwnTimes core_times(const char* path) {
  OwnTimes times;
  std::ifstream log(path);
  for (std::string text; std::getline(log, text);) {
    const std::size_t at = text.find("time=(guint64)");
    if (text.find("element-latency,") != std::string::npos && at != std::string::npos &&
        text.find("element=(string)element,") != std::string::npos)
      times.push_back(
          std::strtoull(text.c_str() + at + std::strlen("time=(guint64)"), nullptr, 10));
  }
  return times;
}

/// Four buffers of a source with one each 100 ms are held: both tracers on one run.
int beside_core(int argc, char** argv) {
  char path[] = "/tmp/simaai-latency-XXXXXX";
  const int file = mkstemp(path);
  if (file < 0)
    return 1;
  close(file);
  setenv("GST_TRACERS", "latency(flags=element)", 1);
  setenv("GST_DEBUG", "GST_TRACER:7", 1);
  setenv("GST_DEBUG_FILE", path, 1);
  gst_init(&argc, &argv);
  OwnTimes own;
  OwnTimes pace;
  {
    TracedRun run(line("latencybehaviour name=pace ! latencybehaviour name=element", 30));
    run.behave("pace", delays(100, pace));
    run.behave("element", holds_and_times(own));
    if (!run.play())
      return 1;
    std::printf("an element that holds four buffers, one each 100 ms; residence p50 in us\n"
                "%-34s %10.1f\n%-34s %10.1f\n",
                "its own clock", static_cast<double>(exact_stat(own).p50) / 1e3, "simaailatency",
                static_cast<double>(element_of(run.stop(), "element").residence->p50) / 1e3);
  }
  gst_deinit();
  OwnTimes core = core_times(path);
  std::printf("%-34s %10.1f (%zu log lines)\n", "core tracer, latency(flags=element)",
              static_cast<double>(exact_stat(core).p50) / 1e3, core.size());
  std::remove(path);
  return core.empty() ? 1 : 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--beside-core") == 0)
    return beside_core(argc, argv);
  gst_init(&argc, &argv);
  std::printf("%-34s %21s %21s %21s\n%-34s", "residence in us, own clock | report", "p50", "p95",
              "max", "");
  for (int i = 0; i < 3; ++i)
    std::printf(" %10s %10s", "own", "reported");
  std::printf("\n");
  bool good = check_delay(false);
  good = check_delay(true) && good;
  good = check_holding() && good;
  good = check_queue() && good;
  good = check_branches() && good;
  return good ? 0 : 1;
}
