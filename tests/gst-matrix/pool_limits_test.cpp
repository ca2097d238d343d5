// SPDX-License-Identifier: LGPL-2.1-or-later
// min-buffers and max-buffers of the elements that run no op, the matrix and video elements and simaainpysrc, and what else
// holds for them alike. Op elements have gst_pool_limits.
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/fd_memory.h"
#include "common/gst_ptr.h"
#include "gst/element_harness.h"
#include "oracle/npy.h"
#include "oracle/random_tensor.h"
#include "support/descriptor_limit.h"
#include "weights.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;

constexpr GstClockTime kPatience = 10 * GST_SECOND;

using Settings = std::vector<std::pair<const char*, const char*>>;

/// An element with its input; kept files go with it.
struct Case {
  const char* factory;
  Settings settings;
  const char* caps; ///< null: a source
  Bytes input;
  std::string source; ///< of a pipeline, where zeros are no input
};

class PoolLimitsOf : public testing::TestWithParam<const char*> {
protected:
  PoolLimitsOf()
      : weights_(reference::wire(reference::Random(5).rows(3, 17))), many_(repeated(matrix_, 100)) {
    npy_ = testing::TempDir() + "pool_limits_" + GetParam() + ".npy";
    simaai::oracle::write_npy(npy_, simaai::oracle::random_tensor({4, 5}, DType::Float32, 7));
  }
  ~PoolLimitsOf() override { std::remove(npy_.c_str()); }

  Case describe(Settings limits) {
    const std::string name = GetParam();
    Case made{GetParam(), std::move(limits), nullptr, {}, {}};
    if (name == "simaaimatmul") {
      made.settings.emplace_back("weights", weights_.path().c_str());
      made.caps = "application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=<4,17>";
      made.input.resize(68);
    } else if (name == "simaaivideototensor") {
      made.settings.emplace_back("mean", "<1.0>"); // no uint8: never a view
      made.caps = "video/x-raw,format=RGB,width=4,height=2,framerate=0/1";
      made.input.resize(24);
    } else if (name == "simaaitensortovideo") {
      made.caps = "application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<1,2,4,3>,"
                  "framerate=0/1";
      made.input.resize(96);
    } else if (name == "simaaitgmxenc") {
      made.caps = "application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=<4,17>";
      made.input.resize(68);
    } else if (name == "simaaitgmxdec") {
      made.caps = "application/x-tgmx";
      made.input = matrix_;
      made.source = "filesrc location=" + many_.path();
    } else {
      made.settings.emplace_back("location", npy_.c_str());
      made.settings.emplace_back("loop", "true");
    }
    return made;
  }

private:
  static Bytes repeated(const Bytes& one, int times) {
    Bytes all;
    for (int i = 0; i < times; ++i)
      all.insert(all.end(), one.begin(), one.end());
    return all;
  }

  const Bytes matrix_ = reference::wire(reference::Random(6).rows(3, 17));
  TemporaryFile weights_;
  TemporaryFile many_; ///< matrices
  std::string npy_;
};

/// The buffers of the message that says that an element waits; 0 where none comes.
guint await_notice(GstBus* bus) {
  while (true) {
    const GstPtr<GstMessage> message(
        gst_bus_timed_pop_filtered(bus, kPatience, GST_MESSAGE_ELEMENT));
    if (message == nullptr)
      return 0;
    guint buffers = 0;
    const GstStructure* structure = gst_message_get_structure(message.get());
    if (gst_structure_has_name(structure, "simaai-pool-wait") &&
        gst_structure_get_uint(structure, "buffers", &buffers))
      return buffers;
  }
}

/// What leaves an element is kept, until the test lets one go.
struct Keeper {
  std::mutex mutex;
  std::vector<GstPtr<GstBuffer>> kept;

  static GstPadProbeReturn keep(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto& self = *static_cast<Keeper*>(data);
    const std::lock_guard lock(self.mutex);
    self.kept.emplace_back(gst_buffer_ref(GST_PAD_PROBE_INFO_BUFFER(info)));
    return GST_PAD_PROBE_OK;
  }
  std::size_t count() {
    const std::lock_guard lock(mutex);
    return kept.size();
  }
  void drop_one() {
    GstPtr<GstBuffer> dropped;
    const std::lock_guard lock(mutex);
    dropped = std::move(kept.front());
    kept.erase(kept.begin());
  }
};

/// The element between an endless source of its input and a sink, with a consumer that keeps everything.
GstPtr<GstElement> pipeline_of(const Case& one, Keeper& keeper) {
  GstPtr<GstElement> element(gst_element_factory_make(one.factory, "element"));
  for (const auto& [name, value] : one.settings)
    gst_util_set_object_arg(G_OBJECT(element.get()), name, value);
  const GstPtr<GstPad> pad(gst_element_get_static_pad(element.get(), "src"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, Keeper::keep, &keeper, nullptr);
  GstElement* sink = gst_element_factory_make("fakesink", nullptr);
  g_object_set(sink, "async", FALSE, nullptr);
  GstPtr<GstElement> pipeline(gst_pipeline_new(nullptr));
  gst_object_ref_sink(pipeline.get());
  gst_bin_add_many(GST_BIN(pipeline.get()), element.get(), sink, nullptr);
  GstElement* held = element.release(); // the pipeline's
  EXPECT_TRUE(gst_element_link(held, sink));
  if (one.caps != nullptr) {
    GError* error = nullptr;
    const std::string zeros = "fakesrc sizetype=fixed format=time filltype=zero sizemax=" +
                              std::to_string(one.input.size());
    GstElement* source = gst_parse_bin_from_description(
        ((one.source.empty() ? zeros : one.source) + " ! capsfilter caps=\"" + one.caps + "\"")
            .c_str(),
        TRUE, &error);
    EXPECT_EQ(error, nullptr);
    gst_bin_add(GST_BIN(pipeline.get()), source);
    EXPECT_TRUE(gst_element_link(source, held));
  }
  return pipeline;
}

TEST_P(PoolLimitsOf, AWaitIsAnnouncedAndEndsWithABufferOrAState) {
  Keeper keeper;
  const GstPtr<GstElement> pipeline = pipeline_of(describe({{"max-buffers", "2"}}), keeper);
  const GstPtr<GstBus> bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  EXPECT_EQ(await_notice(bus.get()), 2U);
  EXPECT_EQ(keeper.count(), 2U);
  keeper.drop_one();
  keeper.drop_one();
  // Both are out again, and it waits again; the wait is over when the pipeline is stopped.
  for (int i = 0; i < 1000 && keeper.count() < 2; ++i)
    g_usleep(10000);
  EXPECT_EQ(keeper.count(), 2U);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  const GstPtr<GstMessage> error(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  EXPECT_EQ(error, nullptr) << error_text(error.get());
}

TEST_P(PoolLimitsOf, LeastBuffersAreThereBeforehand) {
  if (std::string(GetParam()) == "simaainpysrc")
    GTEST_SKIP() << "has no input to harness";
  const Case one = describe({{"min-buffers", "4"}, {"max-buffers", "4"}});
  ElementHarness harness(one.factory, one.settings);
  ASSERT_TRUE(harness.send_caps(one.caps));
  std::vector<GstPtr<GstBuffer>> held;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(harness.push(one.input), GST_FLOW_OK);
    EXPECT_EQ(harness.stat("allocations"), 4U);
    held.push_back(harness.pull_buffer());
  }
}

TEST_P(PoolLimitsOf, ThatContradictEachOtherAreRefused) {
  Keeper keeper;
  const GstPtr<GstElement> pipeline =
      pipeline_of(describe({{"min-buffers", "5"}, {"max-buffers", "4"}}), keeper);
  const GstPtr<GstBus> bus(gst_element_get_bus(pipeline.get()));
  EXPECT_EQ(gst_element_set_state(pipeline.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  const GstPtr<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  ASSERT_TRUE(message);
  const std::string error = error_text(message.get());
  EXPECT_TRUE(mentions(error, {"element: property max-buffers is 4", "at least 5"})) << error;
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

TEST_P(PoolLimitsOf, OutputsOfAGapAreOne) {
  const std::string name = GetParam();
  if (name == "simaainpysrc" || name.starts_with("simaaitgmx"))
    GTEST_SKIP() << "has no input, or a stream of bytes on one side";
  const Case one = describe({});
  ElementHarness harness(one.factory, one.settings);
  ASSERT_TRUE(harness.send_caps(one.caps));
  for (const bool gap : {true, false}) {
    auto input = buffer_of(one.input);
    if (gap)
      GST_BUFFER_FLAG_SET(input.get(), GST_BUFFER_FLAG_GAP);
    ASSERT_EQ(harness.push(std::move(input)), GST_FLOW_OK);
    EXPECT_EQ(GST_BUFFER_FLAG_IS_SET(harness.pull_buffer().get(), GST_BUFFER_FLAG_GAP) != FALSE,
              gap);
  }
}

/// Outputs in memory with descriptors, of which there are no more.
TEST_P(PoolLimitsOf, MissingDescriptorsAreSaid) {
  if (std::string(GetParam()) == "simaainpysrc")
    GTEST_SKIP() << "has no input to harness";
  const Case one = describe({});
  ElementHarness harness(one.factory, one.settings);
  gst_harness_set_propose_allocator(harness.get(), simaai::gst::new_fd_allocator().release(),
                                    nullptr);
  ASSERT_TRUE(harness.send_caps(one.caps));
  std::vector<GstPtr<GstBuffer>> held;
  ASSERT_EQ(harness.push(one.input), GST_FLOW_OK);
  held.push_back(harness.pull_buffer());
  EXPECT_EQ(harness.stat("allocations"), 1U);
  GstFlowReturn flow = GST_FLOW_OK;
  {
    const DescriptorLimit limit(6);
    for (int i = 0; i < 200 && flow == GST_FLOW_OK; ++i) {
      flow = harness.push(one.input);
      if (flow == GST_FLOW_OK)
        held.push_back(harness.pull_buffer());
    }
  }
  EXPECT_EQ(flow, GST_FLOW_ERROR);
  const auto errors = harness.take_errors();
  ASSERT_FALSE(errors.empty());
  EXPECT_TRUE(mentions(errors[0], {"no memory for an output buffer", "Too many open files"}))
      << errors[0];
  held.clear();
  EXPECT_EQ(harness.push(one.input), GST_FLOW_OK);
}

INSTANTIATE_TEST_SUITE_P(Elements, PoolLimitsOf,
                         testing::Values("simaaimatmul", "simaaitgmxenc", "simaaitgmxdec",
                                         "simaainpysrc", "simaaivideototensor",
                                         "simaaitensortovideo"),
                         [](const auto& one) { return std::string(one.param); });

} // namespace
