// SPDX-License-Identifier: LGPL-2.1-or-later
// The tracer on elements of known behaviour: what is counted and how frames are recognised. Times are the benchmark's.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

#include <gst/app/gstappsrc.h>

#include "common/job_observer.h"
#include "tests/tracers/traced_run.h"

namespace simaai::latency::test {
namespace {

constexpr const char* kVideo = "videotestsrc name=camera num-buffers=12 "
                               "! video/x-raw,format=GRAY8,width=16,height=16,framerate=100/1 ";

std::string line(const std::string& middle) {
  return kVideo + std::string("! ") + middle + " ! fakesink name=screen";
}

std::uint64_t count(const std::optional<Stat>& stat) { return stat ? stat->count : 0; }

TEST(LatencyTracer, AChainOnOneThread) {
  TracedRun run(line("identity name=filter"));
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& filter = element_of(report, "filter");
  EXPECT_EQ(filter.identity, "meta");
  EXPECT_EQ(filter.entered, 12U);
  EXPECT_EQ(filter.left, 12U);
  EXPECT_EQ(count(filter.residence), 12U);
  EXPECT_EQ(count(filter.processing), 12U);
  EXPECT_EQ(filter.drops, 0U);
  EXPECT_EQ(filter.role, "element");
  EXPECT_EQ(element_of(report, "camera").role, "source");
  EXPECT_EQ(element_of(report, "screen").role, "sink");
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].origin, "camera:src");
  EXPECT_EQ(report.paths[0].sink, "screen:sink");
  EXPECT_EQ(report.paths[0].latency.count, 12U);
  EXPECT_GE(report.paths[0].latency.min, filter.residence->min);
}

TEST(LatencyTracer, ADelayOnTheThreadIsWorkAndNotWaiting) {
  constexpr std::chrono::microseconds kDelay{300};
  TracedRun run(line("latencybehaviour name=slow"));
  run.behave("slow", each([kDelay](GstPad* source, BufferPtr buffer) {
               std::this_thread::sleep_for(kDelay);
               return gst_pad_push(source, buffer.release());
             }));
  ASSERT_TRUE(run.play());
  const ElementReport& slow = element_of(run.stop(), "slow");
  EXPECT_EQ(count(slow.residence), 12U);
  EXPECT_GE(std::chrono::nanoseconds(slow.residence->min), kDelay) << "whatever else went on";
  EXPECT_GE(std::chrono::nanoseconds(slow.processing->min), kDelay);
  EXPECT_EQ(slow.waiting->max, 0U);
}

TEST(LatencyTracer, HeldAndReorderedBuffersAreRecognised) {
  for (const bool swaps : {false, true}) {
    TracedRun run(line("latencybehaviour name=decoder ! identity name=after"));
    run.behave("decoder", swaps ? swaps_pairs() : holds(4));
    ASSERT_TRUE(run.play());
    const Report& report = run.stop();
    const ElementReport& decoder = element_of(report, "decoder");
    EXPECT_EQ(decoder.identity, "meta");
    EXPECT_EQ(count(decoder.residence), 12U);
    EXPECT_EQ(decoder.drops, 0U);
    EXPECT_EQ(element_of(report, "after").entered, 12U);
    EXPECT_EQ(report.paths[0].origin, "camera:src");
  }
}

TEST(LatencyTracer, NewBuffersWithTheTimestampOfTheirInput) {
  TracedRun run(line("latencybehaviour name=encoder ! identity name=after"));
  run.behave("encoder", makes_new(true));
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& encoder = element_of(report, "encoder");
  EXPECT_EQ(encoder.identity, "timestamps");
  EXPECT_EQ(count(encoder.residence), 12U);
  EXPECT_EQ(encoder.drops, 0U);
  EXPECT_EQ(element_of(report, "after").identity, "meta");
  EXPECT_EQ(report.paths[0].origin, "camera:src") << "the frame goes on";
}

TEST(LatencyTracer, NewBuffersWithoutTimestampAreNotGuessed) {
  TracedRun run(line("latencybehaviour name=maker ! identity name=after"));
  run.behave("maker", makes_new(false));
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& maker = element_of(report, "maker");
  EXPECT_EQ(maker.identity, "n/a");
  EXPECT_FALSE(maker.residence);
  EXPECT_FALSE(maker.drops);
  EXPECT_EQ(maker.appeared, 12U);
  EXPECT_EQ(count(maker.processing), 12U) << "calls are measured all the same";
  EXPECT_EQ(report.paths[0].origin, "maker:src");
}

TEST(LatencyTracer, AQueueHandsFramesToAnotherThread) {
  Settings settings;
  settings.spans = 4096;
  TracedRun run(line("queue name=store ! identity name=after"), settings);
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& store = element_of(report, "store");
  EXPECT_EQ(store.identity, "meta");
  EXPECT_EQ(count(store.residence), 12U);
  EXPECT_TRUE(store.residence->exact);
  EXPECT_EQ(store.drops, 0U);
  EXPECT_TRUE(report.spans_complete);
  std::uint32_t before = 0;
  std::uint32_t after = 0;
  for (const Span& span : report.spans) {
    const std::string& element = report.pads[span.pad].element;
    if (span.kind == SpanKind::Processing && element == "store")
      before = span.thread;
    if (span.kind == SpanKind::Processing && element == "after")
      after = span.thread;
  }
  EXPECT_NE(before, 0U);
  EXPECT_NE(before, after);
}

/// Starts a run whose queue `store` hands nothing on while the gate is closed, and waits until the
/// source has sent everything.
class Gate {
public:
  explicit Gate(const TracedRun& run)
      : out_(gst_element_get_static_pad(run.element("gate"), "sink")) {
    block_ = gst_pad_add_probe(
        out_.get(),
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER),
        [](GstPad*, GstPadProbeInfo*, gpointer) { return GST_PAD_PROBE_OK; }, nullptr, nullptr);
    const gst::GstPtr<GstPad> in(gst_element_get_static_pad(run.element("store"), "sink"));
    gst_pad_add_probe(in.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, &on_event, this, nullptr);
    gst_element_set_state(GST_ELEMENT_CAST(GST_OBJECT_PARENT(run.element("store"))),
                          GST_STATE_PLAYING);
    std::unique_lock lock(mutex_);
    sent_.wait(lock, [this] { return all_; });
  }
  void open() { gst_pad_remove_probe(out_.get(), block_); }

private:
  static GstPadProbeReturn on_event(GstPad* /*pad*/, GstPadProbeInfo* info, gpointer data) {
    auto& gate = *static_cast<Gate*>(data);
    if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS) {
      const std::lock_guard lock(gate.mutex_);
      gate.all_ = true;
      gate.sent_.notify_all();
    }
    return GST_PAD_PROBE_OK;
  }

  gst::GstPtr<GstPad> out_;
  gulong block_ = 0;
  std::mutex mutex_;
  std::condition_variable sent_;
  bool all_ = false;
};

TEST(LatencyTracer, ALeakyQueueDropsWhatDoesNotFit) {
  TracedRun run(line("queue name=store leaky=downstream max-size-buffers=2 max-size-bytes=0 "
                     "max-size-time=0 ! identity name=gate"));
  Gate gate(run);
  gate.open();
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& store = element_of(report, "store");
  EXPECT_EQ(store.entered, 12U);
  EXPECT_LE(store.left, 3U) << "two that fit, and one that was on its way out";
  EXPECT_EQ(store.drops, store.entered - store.left);
  EXPECT_EQ(report.paths[0].latency.count, store.left);
}

TEST(LatencyTracer, ATeeWithTwoBranches) {
  TracedRun run(
      std::string(kVideo) +
      "! tee name=split split. ! queue name=q1 ! identity name=a "
      "! fakesink name=left enable-last-sample=false split. ! queue name=q2 ! valve drop=true "
      "drop-mode=forward-sticky-events name=closed ! fakesink name=right async=false");
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& split = element_of(report, "split");
  EXPECT_EQ(split.entered, 12U);
  EXPECT_EQ(split.left, 24U);
  ASSERT_EQ(split.outputs.size(), 2U);
  EXPECT_EQ(count(split.outputs[0].residence), 12U);
  EXPECT_EQ(count(split.outputs[1].residence), 12U);
  EXPECT_EQ(split.drops, 0U);
  EXPECT_EQ(element_of(report, "a").identity, "meta");
  EXPECT_EQ(element_of(report, "closed").drops, 12U);
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].sink, "left:sink");
}

TEST(LatencyTracer, AnAggregatorWithTwoRates) {
  TracedRun run("videotestsrc name=fast num-buffers=12 ! "
                "video/x-raw,format=GRAY8,width=16,height=16,framerate=30/1 ! mixer.sink "
                "latencybehaviour name=mixer ! fakesink name=screen "
                "videotestsrc name=slow num-buffers=4 ! "
                "video/x-raw,format=GRAY8,width=16,height=16,framerate=10/1 ! queue name=wait");
  run.behave("mixer", combines_two(), 2);
  ASSERT_TRUE(gst_element_link_pads(run.element("wait"), "src", run.element("mixer"), "sink_1"));
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& mixer = element_of(report, "mixer");
  EXPECT_EQ(mixer.entered, 16U);
  EXPECT_EQ(mixer.left, 12U);
  EXPECT_EQ(count(mixer.residence), 12U);
  EXPECT_EQ(mixer.identity, "timestamps");
  EXPECT_FALSE(mixer.drops);
  std::uint64_t arrived = 0;
  for (const PathReport& path : report.paths) {
    EXPECT_TRUE(path.origin == "fast:src" || path.origin == "slow:src") << path.origin;
    arrived += path.latency.count;
  }
  EXPECT_EQ(arrived, 12U);
}

/// Pushes buffers that it keeps too, so that nothing can be attached to them.
void feed(GstElement* source, unsigned buffers, bool with_timestamps) {
  for (unsigned i = 0; i < buffers; ++i) {
    BufferPtr buffer(gst_buffer_new_allocate(nullptr, 16, nullptr));
    if (with_timestamps)
      GST_BUFFER_PTS(buffer.get()) = i * GST_MSECOND;
    g_object_set_data_full(G_OBJECT(source), std::to_string(i).c_str(),
                           gst_buffer_ref(buffer.get()),
                           [](gpointer kept) { gst_buffer_unref(GST_BUFFER_CAST(kept)); });
    gst_app_src_push_buffer(GST_APP_SRC(source), buffer.release());
  }
  gst_app_src_end_of_stream(GST_APP_SRC(source));
}

// The first buffer is copied by appsrc, to be marked as a discontinuity, and can carry a tag.
TEST(LatencyTracer, ReadOnlyBuffersAreRecognisedByTimestampOrPointer) {
  for (const bool stamped : {true, false}) {
    TracedRun run("appsrc name=app format=time ! queue name=first ! ( queue name=inside ) "
                  "! fakesink name=screen");
    feed(run.element("app"), 9, stamped);
    ASSERT_TRUE(run.play());
    const Report& report = run.stop();
    for (const char* name : {"first", "inside"}) {
      const ElementReport& element = element_of(report, name);
      EXPECT_EQ(element.identity, stamped ? "meta (1) + timestamps (8)" : "meta (1) + pointer (8)")
          << name;
      EXPECT_EQ(count(element.residence), 9U) << name;
      EXPECT_FALSE(element.drops) << name;
    }
    ASSERT_EQ(report.paths.size(), 1U);
    EXPECT_EQ(report.paths[0].origin, "app:src");
    EXPECT_EQ(report.paths[0].latency.count, 9U);
  }
}

TEST(LatencyTracer, BufferLists) {
  TracedRun run(line("latencybehaviour name=packer ! identity name=after"));
  GstBufferList* list = nullptr;
  run.behave("packer", each([&list](GstPad* source, BufferPtr buffer) {
               if (list == nullptr)
                 list = gst_buffer_list_new();
               gst_buffer_list_add(list, buffer.release());
               if (gst_buffer_list_length(list) < 4)
                 return GST_FLOW_OK;
               return gst_pad_push_list(source, std::exchange(list, nullptr));
             }));
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  EXPECT_EQ(count(element_of(report, "packer").residence), 12U);
  EXPECT_EQ(element_of(report, "after").entered, 12U);
  EXPECT_EQ(report.paths[0].latency.count, 12U);
}

TEST(LatencyTracer, PullModeAndAParserThatMakesFrames) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("simaai-latency-" + std::to_string(getpid()) + ".raw"))
                               .string();
  std::ofstream(path, std::ios::binary) << std::string(12 * 256, 'x');
  TracedRun run("filesrc name=file location=" + path +
                " ! rawvideoparse name=parser width=16 height=16 format=gray8 framerate=100/1 "
                "! identity name=after ! fakesink name=screen");
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  std::filesystem::remove(path);
  EXPECT_EQ(element_of(report, "file").role, "source");
  EXPECT_GT(count(element_of(report, "file").processing), 0U) << "the calls that pull from it";
  const ElementReport& parser = element_of(report, "parser");
  EXPECT_GT(parser.entered, 0U);
  EXPECT_EQ(parser.appeared, 12U) << "a part of a buffer is no copy of its frame";
  EXPECT_EQ(parser.identity, "n/a");
  EXPECT_EQ(element_of(report, "after").identity, "meta");
  EXPECT_EQ(report.paths[0].origin, "parser:src");
  EXPECT_EQ(report.paths[0].latency.count, 12U);
}

TEST(LatencyTracer, JobsThatAnElementNames) {
  Settings settings;
  settings.spans = 4096;
  TracedRun run(line("latencybehaviour name=cast"), settings);
  GstElement* element = run.element("cast");
  run.behave("cast", each([element](GstPad* source, BufferPtr buffer) {
               const gst::JobObserver* observer = gst::job_observer();
               const std::uint64_t now = gst_util_get_timestamp();
               const runtime::JobTimes times{now, now + 1000, now + 251'000, now + 252'500};
               const gst::JobNotice notice{"test:", times, 0};
               observer->observe(observer->data, element, buffer.get(), &notice);
               while (gst_util_get_timestamp() < times.retired_ns) {
               }
               return gst_pad_push(source, buffer.release());
             }));
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& cast = element_of(report, "cast");
  ASSERT_TRUE(cast.jobs);
  EXPECT_EQ(cast.jobs->device, "test:");
  for (const auto& [stat, ns] :
       {std::pair(cast.jobs->queued, 1000U), std::pair(cast.jobs->working, 250'000U),
        std::pair(cast.jobs->retirement, 1500U)}) {
    ASSERT_EQ(count(stat), 12U);
    EXPECT_TRUE(stat->exact);
    EXPECT_EQ(stat->min, ns);
    EXPECT_EQ(stat->max, ns);
  }
  EXPECT_GE(cast.residence->min, 252'500U - 1000) << "but for the reading of the clock";
  EXPECT_FALSE(element_of(report, "screen").jobs);
  // The clocks of jobs and of hooks have different beginnings.
  constexpr std::uint64_t kSlack = 1'000'000;
  for (const Span& job : report.spans) {
    if (job.kind != SpanKind::JobQueued)
      continue;
    const auto stay = std::find_if(report.spans.begin(), report.spans.end(), [&](const Span& span) {
      return span.kind == SpanKind::Residence && span.id == job.id && span.pad == job.pad;
    });
    ASSERT_NE(stay, report.spans.end());
    EXPECT_GE(job.begin_ns + kSlack, stay->begin_ns);
    EXPECT_LE(job.end_ns, stay->end_ns + kSlack);
  }
}

TEST(LatencyTracer, EachRunHasAReportOfItsOwn) {
  TracedRun run(line("identity name=filter"));
  for (std::size_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(run.play());
    EXPECT_EQ(count(element_of(run.stop(), "filter").residence), 12U);
    EXPECT_EQ(run.reports().size(), i);
  }
}

TEST(LatencyTracer, BuffersThatAStopThrowsAwayAreNoDrops) {
  TracedRun run(line("queue name=store ! identity name=gate"));
  const Gate gate(run);
  const Report& report = run.stop();
  const ElementReport& store = element_of(report, "store");
  EXPECT_EQ(store.entered, 12U);
  EXPECT_EQ(store.drops, 0U);
  EXPECT_EQ(store.unfinished, store.entered - store.left);
  EXPECT_GE(store.unfinished, 11U);
}

} // namespace
} // namespace simaai::latency::test
