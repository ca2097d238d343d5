// SPDX-License-Identifier: LGPL-2.1-or-later
// The residence that the tracer reports beside what the elements' own clocks, and those of their neighbours, say.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "latency_clocks.h"

namespace {

using namespace simaai::latency;
using namespace simaai::latency::test;

constexpr std::size_t kHeld = 4;

/// Buffers of each case whose neighbours' clocks were apart without a tracer, of how many; by name.
struct Control {
  std::size_t apart = 0;
  std::size_t buffers = 0;
};
using Controls = std::map<std::string, Control>;

/// What the cases of one process add up to.
struct Outcome {
  bool traced = true;
  Controls controls; ///< of the process without a tracer
  std::size_t buffers = 0;
  std::size_t off = 0;
  bool good = true;
};

/// A run of a case: with the tracer, or without it for the control.
class Case {
public:
  Case(Outcome& outcome, std::string name, const std::string& text)
      : outcome_(outcome), name_(std::move(name)) {
    Settings settings;
    settings.spans = 1U << 16;
    if (outcome.traced)
      traced_ = std::make_unique<TracedRun>(text, settings);
    else
      plain_ = std::make_unique<PlainRun>(text);
  }

  [[nodiscard]] const PlainRun& run() const { return traced_ ? *traced_ : *plain_; }
  Clocks clocks;

  /// Plays it and prints its line.
  void finish(const char* element, const std::function<bool(const ElementReport&)>& fits = {}) {
    if (!run().play())
      return fail("did not play");
    if (!traced_)
      return print_control();
    const Report& report = traced_->stop();
    const ElementReport& found = element_of(report, element);
    if (fits && !fits(found))
      return fail("is not accounted for");
    compare(report, found);
  }

private:
  void fail(const char* why) {
    std::printf("%-28s %s  OFF\n", name_.c_str(), why);
    outcome_.good = false;
  }

  void print_control() const {
    std::size_t apart = 0;
    for (const Reading& reading : clocks.readings())
      apart += is_off(reading.around_ns, reading.own_ns) ? 1U : 0U;
    std::printf("%zu %zu %s\n", apart, clocks.readings().size(), name_.c_str());
  }

  void compare(const Report& report, const ElementReport& element);

  Outcome& outcome_;
  std::string name_;
  std::unique_ptr<TracedRun> traced_;
  std::unique_ptr<PlainRun> plain_;
};

/// Samples of an element in the order in which its buffers left.
std::vector<std::uint64_t> samples_of(const Report& report, const std::string& element) {
  std::vector<const Span*> stays;
  for (const Span& span : report.spans) {
    if (span.kind == SpanKind::Residence && report.pads[span.pad].element == element)
      stays.push_back(&span);
  }
  std::stable_sort(stays.begin(), stays.end(),
                   [](const Span* a, const Span* b) { return a->end_ns < b->end_ns; });
  std::vector<std::uint64_t> samples;
  for (const Span* stay : stays)
    samples.push_back(stay->end_ns - stay->begin_ns);
  return samples;
}

/// The percentiles of buckets are off by more than 0.8 %.
bool buckets_are_off(const std::vector<std::uint64_t>& samples, const Stat& exact) {
  const auto distribution = std::make_unique<Distribution>();
  for (const std::uint64_t sample : samples)
    distribution->record(sample);
  const Distribution* const part = distribution.get();
  const Stat rough = Distribution::stat_of({&part, 1});
  for (const auto field : {&Stat::p50, &Stat::p90, &Stat::p95, &Stat::p99}) {
    const auto right = static_cast<double>(exact.*field);
    if (std::abs(static_cast<double>(rough.*field) - right) > right * 0.008)
      return true;
  }
  return false;
}

/// Each buffer: its residence is not less than what the element's own clock says, where that is read within, and not more than
/// what lies between the clocks of its neighbours. How many are within 1 % and 50 us of the own clock is counted.
void Case::compare(const Report& report, const ElementReport& element) {
  const std::vector<std::uint64_t> samples = samples_of(report, element.name);
  const std::vector<Reading> readings = clocks.readings();
  const std::optional<Stat>& reported = element.residence;
  if (!reported || !reported->exact || samples.size() != readings.size() || readings.empty() ||
      reported->count != readings.size() || buckets_are_off(samples, *reported))
    return fail("has other buffers or percentiles than the clocks");
  std::vector<std::uint64_t> own;
  std::vector<std::uint64_t> errors;
  std::size_t within = 0;
  std::size_t between = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Reading& reading = readings[i];
    own.push_back(reading.own_ns);
    errors.push_back(std::max(samples[i], reading.own_ns) - std::min(samples[i], reading.own_ns));
    within += is_off(samples[i], reading.own_ns) ? 0U : 1U;
    const bool above = !reading.is_within || samples[i] >= reading.own_ns;
    between += above && samples[i] <= reading.around_ns ? 1U : 0U;
  }
  const bool good = between == samples.size();
  outcome_.good = outcome_.good && good;
  outcome_.buffers += samples.size();
  outcome_.off += samples.size() - within;
  const Control control = outcome_.controls[name_];
  const Stat exact = exact_stat(own);
  const Stat error = exact_stat(errors);
  std::printf("%-28s", name_.c_str());
  for (const auto field : {&Stat::p50, &Stat::max})
    std::printf(" %9.1f %9.1f", static_cast<double>(exact.*field) / 1e3,
                static_cast<double>((*reported).*field) / 1e3);
  std::printf(" %7.1f %7.1f %4zu of %zu %4zu of %zu %6zu of %zu %s\n",
              static_cast<double>(error.p50) / 1e3, static_cast<double>(error.p95) / 1e3,
              samples.size() - within, samples.size(), control.apart, control.buffers, between,
              samples.size(), good ? "ok" : "OFF");
}

std::string line(const std::string& middle, unsigned buffers) {
  return "videotestsrc name=camera num-buffers=" + std::to_string(buffers) +
         " ! video/x-raw,format=GRAY8,width=16,height=16,framerate=100/1 ! " + middle +
         " ! fakesink name=screen";
}

const std::string kBetween =
    "latencybehaviour name=before ! latencybehaviour name=element ! latencybehaviour name=after";

/// An element between its neighbours, which gets a buffer each `ms`.
void check_element(Outcome& outcome, const char* name, unsigned ms, unsigned buffers,
                   const std::function<std::unique_ptr<Behaviour>(Clocks&)>& make) {
  Case one(outcome, name, line(kBetween, buffers));
  one.run().behave("before", hands_on(one.clocks.before, ms));
  one.run().behave("element", make(one.clocks));
  one.run().behave("after", takes(one.clocks.after, 0));
  one.finish("element");
}

std::unique_ptr<Behaviour> delays(Clocks& clocks) {
  return each([&clocks](GstPad* source, BufferPtr buffer) {
    const std::uint64_t begun = now_ns();
    sleep_ms(3);
    clocks.left(GST_BUFFER_PTS(buffer.get()), begun, now_ns());
    return gst_pad_push(source, buffer.release());
  });
}

struct Held {
  BufferPtr buffer;
  std::uint64_t since_ns = 0;
};

std::unique_ptr<Behaviour> holds_and_times(Clocks& clocks) {
  auto held = std::make_shared<std::deque<Held>>();
  return each([held, &clocks](GstPad* source, BufferPtr buffer) {
    const std::uint64_t now = now_ns();
    held->push_back({std::move(buffer), now});
    if (held->size() <= kHeld)
      return GST_FLOW_OK;
    Held oldest = std::move(held->front());
    held->pop_front();
    clocks.left(GST_BUFFER_PTS(oldest.buffer.get()), oldest.since_ns, now_ns());
    return gst_pad_push(source, oldest.buffer.release());
  });
}

/// Sends buffers in pairs, the second one first, as a decoder of two-frame groups does.
std::unique_ptr<Behaviour> reorders_and_times(Clocks& clocks) {
  auto first = std::make_shared<Held>();
  return each([first, &clocks](GstPad* source, BufferPtr buffer) {
    const std::uint64_t now = now_ns();
    if (!first->buffer) {
      *first = {std::move(buffer), now};
      return GST_FLOW_OK;
    }
    sleep_ms(1);
    clocks.left(GST_BUFFER_PTS(buffer.get()), now, now_ns());
    gst_pad_push(source, buffer.release());
    clocks.left(GST_BUFFER_PTS(first->buffer.get()), first->since_ns, now_ns());
    return gst_pad_push(source, first->buffer.release());
  });
}

/// Makes a new buffer with the timestamp of the one that it took, which is gone by then.
std::unique_ptr<Behaviour> makes_and_times(Clocks& clocks) {
  return each([&clocks](GstPad* source, BufferPtr buffer) {
    const std::uint64_t begun = now_ns();
    const GstClockTime stamp = GST_BUFFER_PTS(buffer.get());
    buffer.reset();
    sleep_ms(2);
    BufferPtr made(gst_buffer_new_allocate(nullptr, 64, nullptr));
    GST_BUFFER_PTS(made.get()) = stamp;
    clocks.left(stamp, begun, now_ns());
    return gst_pad_push(source, made.release());
  });
}

void check_queue(Outcome& outcome) {
  Case one(outcome, "queue of 8 before 4 ms",
           line("latencybehaviour name=before ! queue name=element max-size-buffers=8 ! "
                "latencybehaviour name=after",
                200));
  const Stopwatch watch(one.run().element("element"), one.clocks);
  one.run().behave("before", hands_on(one.clocks.before, 0));
  one.run().behave("after", takes(one.clocks.after, 4));
  one.finish("element");
}

void check_leaky_queue(Outcome& outcome) {
  Case one(outcome, "leaky queue of 4, 1 to 5 ms",
           line("latencybehaviour name=before ! queue name=element leaky=downstream "
                "max-size-buffers=4 ! latencybehaviour name=after",
                400));
  const Stopwatch watch(one.run().element("element"), one.clocks);
  one.run().behave("before", hands_on(one.clocks.before, 1));
  one.run().behave("after", takes(one.clocks.after, 5));
  // Drops are frames that are gone: the sink still holds the last one.
  one.finish("element", [](const ElementReport& queue) {
    return queue.drops == queue.entered - queue.left && *queue.drops > 100;
  });
}

/// Two branches of a tee; one of them is looked at.
void check_branch(Outcome& outcome, bool slow) {
  const std::string branch =
      " split. ! queue ! latencybehaviour name=other ! fakesink split. ! queue ! " + kBetween +
      " ! fakesink";
  Case one(outcome, slow ? "branch of a tee, 6 ms" : "branch of a tee, 2 ms",
           "videotestsrc num-buffers=200 ! video/x-raw,format=GRAY8,width=16,height=16 ! tee "
           "name=split" +
               branch);
  one.run().behave("other", each([slow](GstPad* source, BufferPtr buffer) {
                     sleep_ms(slow ? 2 : 6);
                     return gst_pad_push(source, buffer.release());
                   }));
  one.run().behave("before", hands_on(one.clocks.before, 0));
  one.run().behave("element", each([slow, &one](GstPad* source, BufferPtr buffer) {
                     const std::uint64_t begun = now_ns();
                     sleep_ms(slow ? 6 : 2);
                     one.clocks.left(GST_BUFFER_PTS(buffer.get()), begun, now_ns());
                     return gst_pad_push(source, buffer.release());
                   }));
  one.run().behave("after", takes(one.clocks.after, 0));
  one.finish("element");
}

/// One output for each buffer of the fast input, when the slow one, which it repeats, has gone as far. Its clock runs from the
/// newer of the two inputs that went into an output.
class CombinesAndTimes final : public Behaviour {
public:
  CombinesAndTimes(Marks& fast_came, Marks& slow_came, Clocks& clocks)
      : fast_came_(fast_came), slow_came_(slow_came), clocks_(clocks) {}

  GstFlowReturn take(unsigned input, BufferPtr buffer) override {
    (input == 0 ? fast_ : slow_).push_back(GST_BUFFER_PTS(buffer.get()));
    while (!fast_.empty() && !slow_.empty() && slow_.back() >= fast_.front())
      combine();
    return GST_FLOW_OK;
  }

private:
  void combine() {
    const GstClockTime stamp = fast_.front();
    fast_.pop_front();
    while (slow_.size() > 1 && slow_[1] <= stamp)
      slow_.pop_front();
    const bool both = slow_.front() <= stamp;
    const std::uint64_t since =
        std::max(fast_came_.of(stamp), both ? slow_came_.of(slow_.front()) : 0);
    BufferPtr made(gst_buffer_new_allocate(nullptr, 64, nullptr));
    GST_BUFFER_PTS(made.get()) = stamp;
    sleep_ms(1);
    clocks_.left(stamp, since, now_ns(), both ? slow_.front() : GST_CLOCK_TIME_NONE);
    push(std::move(made));
  }

  Marks& fast_came_;
  Marks& slow_came_;
  Clocks& clocks_;
  std::deque<GstClockTime> fast_;
  std::deque<GstClockTime> slow_;
};

void check_aggregator(Outcome& outcome) {
  const std::string caps = " ! video/x-raw,format=GRAY8,width=16,height=16,framerate=";
  Case one(
      outcome, "aggregator of 90 and 30 /s",
      "videotestsrc num-buffers=180" + caps +
          "90/1 ! latencybehaviour name=pace ! queue ! latencybehaviour name=before ! element.sink "
          "latencybehaviour name=element ! latencybehaviour name=after ! fakesink "
          "videotestsrc num-buffers=61" +
          caps + "30/1 ! latencybehaviour name=slow ! queue ! latencybehaviour name=beside");
  Marks unused;
  one.run().behave("pace", hands_on(unused, 4));
  one.run().behave("slow", hands_on(unused, 12));
  one.run().behave("before", hands_on(one.clocks.before, 0));
  one.run().behave("beside", hands_on(one.clocks.beside, 0));
  one.run().behave("after", takes(one.clocks.after, 0));
  GstElement* mixer = one.run().element("element");
  set_behaviour(mixer, each([](GstPad*, BufferPtr) { return GST_FLOW_ERROR; }), 2);
  Marks fast;
  Marks slow;
  fast.watch(mixer, "sink");
  slow.watch(mixer, "sink_1");
  set_behaviour(mixer, std::make_unique<CombinesAndTimes>(fast, slow, one.clocks), 2);
  if (gst_element_link_pads(one.run().element("beside"), "src", mixer, "sink_1") != FALSE)
    one.finish("element");
  else
    outcome.good = false;
}

void check_all(Outcome& outcome) {
  check_element(outcome, "sleeps 3 ms on the thread", 0, 300, &delays);
  check_element(outcome, "holds 4, one each 5 ms", 5, 200, &holds_and_times);
  check_element(outcome, "pairs in reverse, 3 ms", 3, 200, &reorders_and_times);
  check_element(outcome, "new buffers after 2 ms", 1, 200, &makes_and_times);
  check_queue(outcome);
  check_leaky_queue(outcome);
  check_branch(outcome, true);
  check_branch(outcome, false);
  check_aggregator(outcome);
}

/// The same cases in a process without a tracer.
Controls run_controls() {
  Controls controls;
  const std::string command =
      "'" + std::filesystem::read_symlink("/proc/self/exe").string() + "' --untraced";
  std::FILE* child = popen(command.c_str(), "r");
  char name[64];
  Control control;
  while (child != nullptr &&
         std::fscanf(child, "%zu %zu %63[^\n]", &control.apart, &control.buffers, name) == 3)
    controls[name] = control;
  if (child != nullptr)
    pclose(child);
  return controls;
}

/// What the core tracer, which watches the same run, logged of the element, in nanoseconds.
std::vector<std::uint64_t> core_times(const char* path) {
  std::vector<std::uint64_t> times;
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
  {
    Clocks clocks;
    Settings settings;
    settings.spans = 4096;
    TracedRun run(line(kBetween, 30), settings);
    run.behave("before", hands_on(clocks.before, 100));
    run.behave("element", holds_and_times(clocks));
    run.behave("after", takes(clocks.after, 0));
    if (!run.play())
      return 1;
    std::vector<std::uint64_t> own;
    for (const Reading& reading : clocks.readings())
      own.push_back(reading.own_ns);
    std::printf("an element that holds four buffers, one each 100 ms; residence p50 in us\n"
                "%-34s %10.1f\n%-34s %10.1f\n",
                "its own clock", static_cast<double>(exact_stat(own).p50) / 1e3, "simaailatency",
                static_cast<double>(element_of(run.stop(), "element").residence->p50) / 1e3);
  }
  gst_deinit();
  std::vector<std::uint64_t> core = core_times(path);
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
  Outcome outcome;
  outcome.traced = argc == 1;
  if (!outcome.traced) {
    check_all(outcome);
    return outcome.good ? 0 : 1;
  }
  outcome.controls = run_controls();
  std::printf(
      "residence in us. off: buffers off the element's own clock by more than 1 %% + 50 us; "
      "untraced: buffers between whose\nneighbours' clocks so much more time passes in a process "
      "without a tracer; between: not less than the own clock\nsays, not more than those of the "
      "neighbours\n%-28s %19s %19s %15s\n%-28s",
      "", "p50", "max", "error", "");
  for (int i = 0; i < 2; ++i)
    std::printf(" %9s %9s", "own", "reported");
  std::printf(" %7s %7s %11s %11s %13s\n", "p50", "p95", "off", "untraced", "between");
  check_all(outcome);
  Control all;
  for (const auto& [name, control] : outcome.controls) {
    all.apart += control.apart;
    all.buffers += control.buffers;
  }
  std::printf("%zu of %zu off; without a tracer %zu of %zu apart\n", outcome.off, outcome.buffers,
              all.apart, all.buffers);
  // What the machine does to both may differ from run to run, by so much.
  const bool explained = all.buffers != 0 && outcome.off <= 3 * all.apart + outcome.buffers / 50;
  return outcome.good && explained ? 0 : 1;
}
