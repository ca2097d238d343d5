// SPDX-License-Identifier: LGPL-2.1-or-later
// The tracer on pipelines that change while they run, that are nested, deep, or wide, and on runs that follow each other.
#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/allocation_counter.h"
#include "tests/tracers/traced_run.h"

namespace simaai::latency::test {
namespace {

using gst::GstPtr;

constexpr std::uint64_t kFrames = 12;

std::string line(const std::string& middle, std::uint64_t frames = kFrames) {
  return "videotestsrc name=camera num-buffers=" + std::to_string(frames) +
         " ! video/x-raw,format=GRAY8,width=16,height=16,framerate=100/1 ! " + middle +
         " ! fakesink name=screen";
}

std::uint64_t count(const std::optional<Stat>& stat) { return stat ? stat->count : 0; }

/// All frames went through the element, and each is accounted for.
void expect_all(const Report& report, const char* name, std::uint64_t frames = kFrames) {
  const ElementReport& element = element_of(report, name);
  EXPECT_EQ(element.identity, "meta") << name;
  EXPECT_EQ(element.entered, frames) << name;
  EXPECT_EQ(element.left, frames) << name;
  EXPECT_EQ(count(element.residence), frames) << name;
  EXPECT_EQ(count(element.waiting), frames) << name;
  EXPECT_EQ(count(element.processing), frames) << name;
  EXPECT_EQ(element.drops, 0U) << name;
}

// Each run has threads of its own, so a pad's figures are written by several.
TEST(OddPipelines, RunsBetweenReadyAndPlayingAreOneReport) {
  TracedRun run(line("identity name=filter ! queue name=store ! identity name=after"));
  constexpr std::uint64_t kRuns = 4;
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    ASSERT_TRUE(run.play());
    run.state(GST_STATE_READY);
  }
  const Report& report = run.stop();
  ASSERT_EQ(run.reports().size(), 1U);
  for (const char* name : {"filter", "store", "after"})
    expect_all(report, name, kRuns * kFrames);
  const std::uint64_t intervals = count(element_of(report, "screen").inputs[0].interval);
  EXPECT_LE(intervals, kRuns * (kFrames - 1)) << "none from one run to the next";
  EXPECT_GE(intervals, kRuns * (kFrames - 2)) << "one may be cut where playing begins";
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].latency.count, kRuns * kFrames);
}

TEST(OddPipelines, ManyRunsFromNullToNull) {
  TracedRun run(line("queue name=store ! identity name=after", 3));
  constexpr std::size_t kRuns = 60;
  for (std::size_t i = 0; i < kRuns; ++i) {
    ASSERT_TRUE(run.play());
    run.state(GST_STATE_PAUSED);
    run.state(GST_STATE_PLAYING);
    run.state(GST_STATE_NULL);
  }
  ASSERT_EQ(run.reports().size(), kRuns);
  for (const Report& report : run.reports())
    expect_all(report, "after", 3);
}

TEST(OddPipelines, BinsInBins) {
  TracedRun run(line("( ( queue name=inner ! identity name=deep ) ! ( identity name=next ) ) ! "
                     "identity name=outside"));
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  for (const char* name : {"inner", "deep", "next", "outside"})
    expect_all(report, name);
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].origin, "camera:src");
  for (const ElementReport& element : report.elements)
    EXPECT_NE(element.factory, "bin") << "a bin only hands on";
}

TEST(OddPipelines, AQueueThatFillsMakesItsSourceWait) {
  Settings settings;
  settings.spans = 4096;
  TracedRun run(line("queue name=store max-size-buffers=2 max-size-bytes=0 max-size-time=0 ! "
                     "latencybehaviour name=slow"),
                settings);
  run.behave("slow", each([&run](GstPad* source, BufferPtr buffer) {
               // Until it cannot get fuller: the source has sent as much as there is place for.
               guint level = 0;
               GstElement* store = run.element("store");
               const std::uint64_t number = GST_BUFFER_OFFSET(buffer.get());
               while (number + 2 < kFrames && level < 2)
                 g_object_get(store, "current-level-buffers", &level, nullptr);
               return gst_pad_push(source, buffer.release());
             }));
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  expect_all(report, "store");
  expect_all(report, "slow");
  // In a queue a frame waits, but for the call that puts it there.
  const ElementReport& store = element_of(report, "store");
  EXPECT_LE(store.waiting->max, store.residence->max);
  EXPECT_GT(store.waiting->p50, 0U);
}

/// Blocks a pad and calls `act` once, on its thread, when a buffer with number `number` wants to pass. Not
/// before the pipeline plays: until then another thread sets the states of its elements.
class AtBuffer {
public:
  AtBuffer(const GstPtr<GstPad>& pad, std::uint64_t number, std::function<void()> act)
      : number_(number), act_(std::move(act)) {
    gst_pad_add_probe(
        pad.get(),
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER),
        &on_buffer, this, nullptr);
  }

private:
  static GstPadProbeReturn on_buffer(GstPad* pad, GstPadProbeInfo* info, gpointer data) {
    auto& at = *static_cast<AtBuffer*>(data);
    if (GST_BUFFER_OFFSET(GST_PAD_PROBE_INFO_BUFFER(info)) < at.number_)
      return GST_PAD_PROBE_PASS;
    auto* pipeline = GST_ELEMENT_CAST(GST_OBJECT_PARENT(GST_OBJECT_PARENT(pad)));
    GstState state = GST_STATE_NULL;
    GstState pending = GST_STATE_NULL;
    while (state != GST_STATE_PLAYING || pending != GST_STATE_VOID_PENDING) {
      g_usleep(100);
      gst_element_get_state(pipeline, &state, &pending, 0);
    }
    at.act_();
    return GST_PAD_PROBE_REMOVE;
  }

  std::uint64_t number_;
  std::function<void()> act_;
};

TEST(OddPipelines, AnElementThatIsRemovedWhileDataFlow) {
  TracedRun run(line("identity name=before ! identity name=middle ! identity name=after"));
  GstElement* before = run.element("before");
  GstElement* after = run.element("after");
  constexpr std::uint64_t kBefore = 5;
  AtBuffer at(GstPtr<GstPad>(gst_element_get_static_pad(before, "src")), kBefore, [&] {
    const GstPtr<GstElement> middle(
        GST_ELEMENT_CAST(gst_object_ref(run.element("middle")))); // outlives the removal
    gst_element_unlink_many(before, middle.get(), after, nullptr);
    gst_bin_remove(GST_BIN(GST_OBJECT_PARENT(before)), middle.get());
    gst_element_set_state(middle.get(), GST_STATE_NULL);
    gst_element_link(before, after);
  });
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  // The frame that is on its way when the pads are linked anew has left `before` for the element that was there.
  const ElementReport& middle = element_of(report, "middle");
  EXPECT_EQ(middle.entered, kBefore + 1);
  EXPECT_EQ(middle.left, kBefore);
  EXPECT_EQ(element_of(report, "before").left, kFrames);
  EXPECT_EQ(element_of(report, "after").entered, kFrames - 1) << "the links are followed";
  EXPECT_EQ(count(element_of(report, "after").residence), kFrames - 1);
  EXPECT_EQ(element_of(report, "screen").entered, kFrames);
}

TEST(OddPipelines, BranchesThatComeAndGo) {
  TracedRun run(
      line("identity name=before ! tee name=split allow-not-linked=true split. ! queue name=main"));
  GstElement* split = run.element("split");
  auto* pipeline = GST_BIN(GST_OBJECT_PARENT(split));
  GstElement* branch = nullptr;
  GstPtr<GstPad> request;
  const GstPtr<GstPad> pad(gst_element_get_static_pad(run.element("before"), "src"));
  AtBuffer add(pad, 4, [&] {
    branch = gst_parse_bin_from_description(
        "queue name=extra ! fakesink name=late async=false enable-last-sample=false", TRUE,
        nullptr);
    gst_bin_add(pipeline, branch);
    request.reset(gst_element_request_pad_simple(split, "src_%u"));
    const GstPtr<GstPad> sink(gst_element_get_static_pad(branch, "sink"));
    EXPECT_EQ(gst_pad_link(request.get(), sink.get()), GST_PAD_LINK_OK);
    gst_element_sync_state_with_parent(branch);
  });
  AtBuffer take(pad, 9, [&] {
    const GstPtr<GstPad> sink(gst_element_get_static_pad(branch, "sink"));
    gst_pad_unlink(request.get(), sink.get());
    gst_element_release_request_pad(split, request.get());
    gst_element_set_state(branch, GST_STATE_NULL);
    gst_bin_remove(pipeline, branch);
  });
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  expect_all(report, "main");
  const ElementReport& splitter = element_of(report, "split");
  ASSERT_EQ(splitter.outputs.size(), 2U);
  EXPECT_EQ(splitter.outputs[0].buffers, kFrames);
  EXPECT_EQ(splitter.outputs[1].buffers, 5U);
  EXPECT_EQ(element_of(report, "extra").entered, 5U);
}

TEST(OddPipelines, AFlushThrowsAwayWithoutDropping) {
  TracedRun run(line("queue name=store ! identity name=after", 40));
  const GstPtr<GstPad> out(gst_element_get_static_pad(run.element("after"), "sink"));
  std::atomic<bool> blocked{false};
  const gulong block = gst_pad_add_probe(
      out.get(), static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER),
      [](GstPad*, GstPadProbeInfo*, gpointer data) {
        static_cast<std::atomic<bool>*>(data)->store(true);
        return GST_PAD_PROBE_OK;
      },
      &blocked, nullptr);
  auto* pipeline = GST_ELEMENT_CAST(GST_OBJECT_PARENT(run.element("store")));
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  guint level = 0;
  while (!blocked || level < 5)
    g_object_get(run.element("store"), "current-level-buffers", &level, nullptr);
  gst_pad_remove_probe(out.get(), block);
  // What is left in the queue at the flush is neither a drop nor unfinished.
  ASSERT_TRUE(gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& store = element_of(report, "store");
  EXPECT_EQ(store.drops, 0U);
  EXPECT_EQ(store.entered, store.left + store.flushed + store.unfinished);
  EXPECT_GE(store.flushed, 4U);
}

TEST(OddPipelines, SeeksWhileDataFlowAreNoDrops) {
  TracedRun run("videotestsrc name=camera ! video/x-raw,format=GRAY8,width=16,height=16 ! identity "
                "name=before ! queue name=store ! identity name=after ! fakesink name=screen "
                "sync=true");
  run.state(GST_STATE_PLAYING);
  auto* pipeline = GST_ELEMENT_CAST(GST_OBJECT_PARENT(run.element("store")));
  for (GstClockTime second = 0; second < 40; ++second) {
    // The sink takes a frame in 33 ms, so some are left to be thrown away.
    guint level = 0;
    while (level == 0)
      g_object_get(run.element("store"), "current-level-buffers", &level, nullptr);
    ASSERT_TRUE(gst_element_seek_simple(pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH,
                                        static_cast<gint64>(second * GST_SECOND)));
    gst_element_get_state(pipeline, nullptr, nullptr, GST_CLOCK_TIME_NONE);
  }
  const Report& report = run.stop();
  std::uint64_t thrown_away = 0;
  for (const ElementReport& element : report.elements) {
    if (element.role != "element")
      continue;
    EXPECT_EQ(element.drops, 0U) << element.name;
    thrown_away += element.flushed;
  }
  EXPECT_GT(thrown_away, 0U);
}

TEST(OddPipelines, HundredsOfElementsOnOneThread) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer follows 64 locks of a thread, and each pad has one";
#endif
  constexpr std::uint64_t kElements = 600;
  std::string middle;
  for (std::uint64_t i = 0; i < kElements; ++i)
    middle += (i == 0 ? "identity name=e" : " ! identity name=e") + std::to_string(i);
  Settings settings;
  settings.window = 16;
  TracedRun run(line(middle, 5), settings);
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  EXPECT_GE(report.elements.size(), kElements + 2);
  for (const std::uint64_t i : {std::uint64_t{0}, kElements / 2, kElements - 1}) {
    expect_all(report, ("e" + std::to_string(i)).c_str(), 5);
    const ElementReport& element = element_of(report, "e" + std::to_string(i));
    EXPECT_LT(element.waiting->max, element.residence->max) << "the thread is in it all the time";
  }
  EXPECT_EQ(report.paths[0].latency.count, 5U);
}

TEST(OddPipelines, MoreInputsThanAreFollowed) {
  std::string text = "funnel name=joint ! fakesink name=screen";
  constexpr std::uint64_t kInputs = 70;
  for (std::uint64_t i = 0; i < kInputs; ++i)
    text += " videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8,width=16,height=16 ! joint.";
  TracedRun run(text);
  ASSERT_TRUE(run.play());
  const ElementReport& joint = element_of(run.stop(), "joint");
  EXPECT_EQ(joint.left, 2 * kInputs);
  EXPECT_EQ(joint.entered, 2 * Element::kSinks);
  EXPECT_EQ(count(joint.residence), 2 * Element::kSinks);
  EXPECT_EQ(joint.appeared, 2 * (kInputs - Element::kSinks));
}

TEST(OddPipelines, ATeeThatAnAggregatorJoins) {
  TracedRun run("videotestsrc name=camera num-buffers=12 ! "
                "video/x-raw,format=AYUV,width=16,height=16,framerate=30/1 ! tee name=split "
                "split. ! queue name=q1 ! joint.sink_0 split. ! queue name=q2 ! identity name=way "
                "! joint.sink_1 compositor name=joint ! fakesink name=screen");
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& joint = element_of(report, "joint");
  EXPECT_EQ(joint.entered, 24U);
  EXPECT_EQ(joint.left, 12U);
  EXPECT_EQ(count(joint.residence) + joint.ambiguous, 12U);
  EXPECT_FALSE(joint.drops);
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].origin, "camera:src");
  EXPECT_EQ(report.paths[0].latency.count, 12U);
}

/// Joins the n-th buffers of two inputs to a new one with the metas of the first.
class JoinsPairs final : public Behaviour {
public:
  GstFlowReturn take(unsigned input, BufferPtr buffer) override {
    waiting_[input].push_back(std::move(buffer));
    if (waiting_[0].empty() || waiting_[1].empty())
      return GST_FLOW_OK;
    BufferPtr made(gst_buffer_new_allocate(nullptr, 16, nullptr));
    constexpr auto kWhat =
        static_cast<GstBufferCopyFlags>(GST_BUFFER_COPY_META | GST_BUFFER_COPY_TIMESTAMPS);
    gst_buffer_copy_into(made.get(), waiting_[0].front().get(), kWhat, 0, G_MAXSIZE);
    for (auto& queue : waiting_)
      queue.pop_front();
    return push(std::move(made));
  }

private:
  std::array<std::deque<BufferPtr>, 2> waiting_;
};

TEST(OddPipelines, AnAggregatorThatPassesOnTheMetasOfAnInput) {
  TracedRun run("videotestsrc name=camera num-buffers=12 ! "
                "video/x-raw,format=GRAY8,width=16,height=16,framerate=30/1 ! tee name=split "
                "split. ! queue name=q1 ! joint.sink split. ! queue name=q2 latencybehaviour "
                "name=joint ! identity name=after ! queue name=store ! fakesink name=screen");
  set_behaviour(run.element("joint"), std::make_unique<JoinsPairs>(), 2);
  ASSERT_TRUE(gst_element_link_pads(run.element("q2"), "src", run.element("joint"), "sink_1"));
  ASSERT_TRUE(run.play());
  const Report& report = run.stop();
  const ElementReport& joint = element_of(report, "joint");
  EXPECT_EQ(joint.entered, 24U);
  EXPECT_EQ(joint.left, 12U);
  EXPECT_EQ(count(joint.residence), 12U);
  expect_all(report, "after");
  expect_all(report, "store");
  ASSERT_EQ(report.paths.size(), 1U);
  EXPECT_EQ(report.paths[0].origin, "camera:src");
  EXPECT_EQ(report.paths[0].latency.count, 12U);
}

TEST(OddPipelines, TwoPipelinesDoNotMix) {
  TracedRun run(line("identity name=filter"));
  const GstPtr<GstElement> other(
      gst_parse_launch("videotestsrc num-buffers=7 ! identity name=filter ! fakesink", nullptr));
  gst_element_set_state(other.get(), GST_STATE_PLAYING);
  ASSERT_TRUE(run.play());
  const GstPtr<GstBus> bus(gst_element_get_bus(other.get()));
  const GstPtr<GstMessage> end(
      gst_bus_timed_pop_filtered(bus.get(), GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS));
  run.stop();
  gst_element_set_state(other.get(), GST_STATE_NULL);
  ASSERT_EQ(run.reports().size(), 2U);
  expect_all(run.reports()[0], "filter", kFrames);
  expect_all(run.reports()[1], "filter", 7);
}

TEST(OddPipelines, FiguresAreReadWhileTheyAreWritten) {
  TracedRun run(line("identity name=filter ! queue name=store ! identity name=after", 3000));
  std::atomic<bool> ends{false};
  std::uint64_t seen = 0;
  std::thread reader([&] {
    while (!ends) {
      const Recorder* recorder = run.recorder();
      if (recorder == nullptr)
        continue;
      for (const ElementReport& element : make_report(*recorder, "live", false).elements)
        seen = std::max(seen, count(element.residence));
    }
  });
  const bool played = run.play();
  while (played && run.recorder() != nullptr && run.recorder()->arrived().value_or(0) < 3000)
    std::this_thread::yield();
  ends = true;
  reader.join();
  ASSERT_TRUE(played);
  EXPECT_LE(seen, 3000U);
  for (const char* name : {"filter", "store", "after"})
    expect_all(run.stop(), name, 3000);
}

// GStreamer allocates buffers and metas by itself; the tracer adds nothing of its own.
TEST(OddPipelines, ABufferCostsNoAllocation) {
  // The source takes its buffers from a pool.
  TracedRun run(line("identity ! tee ! identity ! latencybehaviour name=last", 200));
  std::vector<std::uint64_t> allocations;
  allocations.reserve(200);
  run.behave("last", each([&allocations](GstPad* source, BufferPtr buffer) {
               allocations.push_back(simaai::test::allocations_of_this_thread());
               return gst_pad_push(source, buffer.release());
             }));
  ASSERT_TRUE(run.play());
  ASSERT_EQ(allocations.size(), 200U);
  EXPECT_EQ(allocations[2], allocations.back());
}

} // namespace
} // namespace simaai::latency::test
