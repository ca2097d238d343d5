// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensormux: caps of the set, order, shared memory, limits, pads that come and go, and the way back.
#include <gtest/gtest.h>

#include "gst/tensor_text.h"
#include "mux_harness.h"
#include "set_sample.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;

constexpr GstClockTime kMs = GST_MSECOND;

/// One buffer into each pad, from threads of their own.
void push_all(Mux& mux, const std::vector<std::string>& caps,
              std::vector<GstPtr<GstBuffer>> buffers, bool start = true) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < buffers.size(); ++i)
    threads.emplace_back([&, i] {
      if (start)
        mux.in[i]->start(caps[i]);
      mux.in[i]->push(std::move(buffers[i]), 0, 20 * kMs);
    });
  for (std::thread& thread : threads)
    thread.join();
}

/// Collects what a category logs at ERROR level.
class LogOf {
public:
  explicit LogOf(const char* category) : category_(category) {
    gst_debug_set_active(TRUE);
    gst_debug_set_color_mode(
        GST_DEBUG_COLOR_MODE_OFF); // the log goes to the results of the tests, too
    gst_debug_set_threshold_for_name(category, GST_LEVEL_ERROR);
    (gst_debug_add_log_function)(keep, this, nullptr); // the macro compares void* with a function
  }
  ~LogOf() {
    gst_debug_remove_log_function_by_data(this);
    gst_debug_unset_threshold_for_name(category_);
  }
  LogOf(const LogOf&) = delete;
  LogOf& operator=(const LogOf&) = delete;
  [[nodiscard]] const std::string& errors() const { return errors_; }

private:
  static void keep(GstDebugCategory* category, GstDebugLevel level, const gchar* /*file*/,
                   const gchar* /*function*/, gint /*line*/, GObject* /*object*/,
                   GstDebugMessage* message, gpointer self) {
    auto* log = static_cast<LogOf*>(self);
    if (level == GST_LEVEL_ERROR && std::string(category->name) == log->category_)
      log->errors_ += std::string(gst_debug_message_get(message)) + "\n";
  }

  const char* category_;
  std::string errors_;
};

bool same_caps(const std::string& found, const std::string& wanted) {
  const GstPtr<GstCaps> a(gst_caps_from_string(found.c_str()));
  const GstPtr<GstCaps> b(gst_caps_from_string(wanted.c_str()));
  return a && b && gst_caps_is_equal(a.get(), b.get());
}

TEST(Mux, SharesMemoriesInTheOrderOfThePads) {
  const auto members = random_members("simaaicasttess", 6, 3);
  const SetSample sample(members, 3);
  Mux mux(0);
  // Requested out of order: the number decides.
  for (const char* name : {"sink_4", "sink_0", "sink_5", "sink_2", "sink_1", "sink_3"})
    mux.add_pad(name);
  const std::size_t at[] = {4, 0, 5, 2, 1, 3};
  std::vector<std::string> caps;
  std::vector<GstPtr<GstBuffer>> buffers;
  std::vector<GstMemory*> memories(6);
  for (const std::size_t i : at) {
    caps.push_back(caps_of(members[i].input));
    buffers.push_back(buffer_of(sample.inputs[i]));
    memories[i] = gst_buffer_peek_memory(buffers.back().get(), 0);
  }
  push_all(mux, caps, std::move(buffers));
  const auto set = mux.out->next();
  ASSERT_TRUE(set);
  EXPECT_TRUE(same_caps(mux.out->caps(), set_caps(inputs_of(members)))) << mux.out->caps();
  ASSERT_EQ(gst_buffer_n_memory(set.get()), 6U);
  for (guint i = 0; i < 6; ++i)
    EXPECT_EQ(gst_buffer_peek_memory(set.get(), i), memories[i]);
  EXPECT_EQ(mux.stat("copies"), 0U);
}

TEST(Mux, CapsCarryNamesTheLowestFramerateAndUnknownFields) {
  Mux mux(2);
  mux.set_pad("sink_1", "tensor-id", "scores");
  push_all(mux,
           {Mux::mark_caps(",framerate=30/1,tensor-id=boxes,note=x"),
            Mux::mark_caps(",framerate=10/1,tensor-id=old")},
           [] {
             std::vector<GstPtr<GstBuffer>> two;
             two.push_back(Mux::mark(0, 0));
             two.push_back(Mux::mark(1, 0));
             return two;
           }());
  ASSERT_TRUE(mux.out->next());
  EXPECT_TRUE(same_caps(mux.out->caps(),
                        "application/vnd.simaai.tensor-set,framerate=10/1,tensors=(structure)<[" +
                            Mux::mark_caps(",tensor-id=boxes,note=x") + "],[" +
                            Mux::mark_caps(",tensor-id=scores") + "]>"))
      << mux.out->caps();
}

std::vector<GstPtr<GstBuffer>> marks(std::size_t count) {
  std::vector<GstPtr<GstBuffer>> buffers;
  for (std::size_t i = 0; i < count; ++i)
    buffers.push_back(Mux::mark(i, 0));
  return buffers;
}

TEST(Mux, DownstreamThatNamesTensorsGetsThemInItsOrder) {
  Mux mux(3);
  mux.out->accept(
      "application/vnd.simaai.tensor-set,tensors=(structure)<"
      "[application/vnd.simaai.tensor,tensor-id=c],[application/vnd.simaai.tensor,tensor-id=a],"
      "[application/vnd.simaai.tensor,tensor-id=b]>");
  push_all(mux,
           {Mux::mark_caps(",tensor-id=a"), Mux::mark_caps(",tensor-id=b"),
            Mux::mark_caps(",tensor-id=c")},
           marks(3));
  const auto set = mux.out->next();
  ASSERT_TRUE(set) << mux.error();
  EXPECT_EQ(memory_bytes(set.get(), 0)[0], 2);
  EXPECT_EQ(memory_bytes(set.get(), 1)[0], 0);
  EXPECT_EQ(memory_bytes(set.get(), 2)[0], 1);
}

TEST(Mux, DownstreamThatCannotTakeTheSetIsNamed) {
  Mux mux(2);
  mux.out->accept("application/vnd.simaai.tensor-set,tensors=(structure)<[application/"
                  "vnd.simaai.tensor,tensor-id=z]>");
  push_all(mux, {Mux::mark_caps(), Mux::mark_caps()}, marks(2));
  const std::string error = mux.error();
  EXPECT_TRUE(mentions(error, {"downstream cannot take the set", "'tensors'",
                               "downstream wants 1 structures", "offers 2"}))
      << error;
}

TEST(Mux, TheTensorThatDownstreamCannotTakeIsNamed) {
  Mux mux(2);
  mux.out->accept("application/vnd.simaai.tensor-set,tensors=(structure)<"
                  "[application/vnd.simaai.tensor],[application/vnd.simaai.tensor,dtype=uint8]>");
  push_all(mux, {Mux::mark_caps(), Mux::mark_caps(",tensor-id=b")}, marks(2));
  const std::string error = mux.error();
  EXPECT_TRUE(mentions(error, {"tensor 1 (b)", "'dtype'", "downstream wants uint8", "offers int8"}))
      << error;
}

TEST(Mux, SixteenPadsAreTheMost) {
  Mux mux(16);
  LogOf log("simaaitensormux");
  EXPECT_EQ(GstPtr<GstPad>(gst_element_request_pad_simple(mux.element(), "sink_%u")), nullptr);
  EXPECT_TRUE(mentions(log.errors(), {"a 17th pad", "at most 16"})) << log.errors();
  EXPECT_TRUE(mentions(mux.warning(), {"a 17th pad", "at most 16"}));
  push_all(mux, std::vector<std::string>(16, Mux::mark_caps()), marks(16));
  const auto set = mux.out->next();
  ASSERT_TRUE(set);
  ASSERT_EQ(gst_buffer_n_memory(set.get()), 16U);
  for (guint i = 0; i < 16; ++i)
    EXPECT_EQ(memory_bytes(set.get(), i)[0], i);
}

TEST(Mux, SetsGoIntoSetsUpToSixteenTensors) {
  const std::vector<TensorSpec> nine(9, {{4}, DType::Int8});
  const std::vector<Bytes> parts(9, Bytes{9, 9, 9, 9});
  Mux mux(2);
  {
    std::vector<GstPtr<GstBuffer>> buffers;
    buffers.push_back(separate(parts));
    buffers.push_back(Mux::mark(1, 3));
    push_all(mux, {set_caps(nine, {}, ",framerate=5/1"), Mux::mark_caps()}, std::move(buffers));
  }
  const auto set = mux.out->next();
  ASSERT_TRUE(set);
  EXPECT_EQ(gst_buffer_n_memory(set.get()), 10U);
  EXPECT_TRUE(mentions(mux.out->caps(), {"framerate=(fraction)5/1"}));
  Mux full(2);
  {
    std::vector<GstPtr<GstBuffer>> buffers;
    buffers.push_back(separate(parts));
    buffers.push_back(separate(parts));
    push_all(full, {set_caps(nine), set_caps(nine)}, std::move(buffers));
  }
  const std::string error = full.error();
  EXPECT_TRUE(mentions(error, {"18 tensors", "at most 16", "merges"})) << error;
}

TEST(Mux, RefusedCapsNameThePad) {
  Mux mux(2);
  (void)mux.in[0]->start("application/vnd.simaai.tensor,dtype=float32,layout=contiguous");
  std::thread other([&] { (void)mux.in[0]->push(Mux::mark(0, 0), 0, kMs); });
  const std::string error = mux.error();
  EXPECT_TRUE(mentions(error, {"caps of pad sink_0", "'shape'", "missing"})) << error;
  gst_element_set_state(mux.element(), GST_STATE_READY);
  other.join();
}

TEST(Mux, SpreadTensorsAreCopiedAndCountedOrRefused) {
  for (const bool refuses : {false, true}) {
    Mux mux(2, false, {{"require-zero-copy", refuses ? "true" : "false"}});
    std::vector<GstPtr<GstBuffer>> buffers;
    buffers.push_back(separate({Bytes{0, 1}, Bytes{2, 3}}));
    buffers.push_back(Mux::mark(1, 0));
    push_all(mux, {Mux::mark_caps(), Mux::mark_caps()}, std::move(buffers));
    if (refuses) {
      const std::string error = mux.error();
      EXPECT_TRUE(mentions(error, {"sink_0", "several memories", "require-zero-copy"})) << error;
      continue;
    }
    const auto set = mux.out->next();
    ASSERT_TRUE(set);
    ASSERT_EQ(gst_buffer_n_memory(set.get()), 2U);
    EXPECT_EQ(memory_bytes(set.get(), 0), (Bytes{0, 1, 2, 3}));
    EXPECT_EQ(mux.stat("copies"), 1U);
    EXPECT_EQ(mux.stat("allocations"), 1U);
    for (const char* field : {"bytes", "bytes-in", "bytes-out"})
      EXPECT_EQ(mux.stat(field), 8U) << field;
  }
}

TEST(Mux, LongerMemoriesAreCutWithoutACopy) {
  Mux mux(2);
  std::vector<GstPtr<GstBuffer>> buffers;
  buffers.push_back(buffer_of(Bytes{0, 1, 2, 3, 4, 5, 6, 7}));
  buffers.push_back(Mux::mark(1, 0));
  push_all(mux, {Mux::mark_caps(), Mux::mark_caps()}, std::move(buffers));
  const auto set = mux.out->next();
  ASSERT_TRUE(set);
  EXPECT_EQ(memory_bytes(set.get(), 0), (Bytes{0, 1, 2, 3}));
  EXPECT_EQ(mux.stat("copies"), 0U);
}

TEST(Mux, ShortBuffersTellThePadAndBytes) {
  Mux mux(2);
  std::vector<GstPtr<GstBuffer>> buffers;
  buffers.push_back(Mux::mark(0, 0));
  buffers.push_back(buffer_of(Bytes{1, 2, 3}));
  push_all(mux, {Mux::mark_caps(), Mux::mark_caps()}, std::move(buffers));
  const std::string error = mux.error();
  EXPECT_TRUE(mentions(error, {"sink_1", "shorter", "needed: 4", "found: 3"})) << error;
}

TEST(Mux, CapsOfAPadChangeBetweenBuffers) {
  Mux mux(2);
  std::thread first([&] {
    mux.in[0]->start(Mux::mark_caps());
    for (std::size_t i = 0; i < 4; ++i)
      mux.in[0]->push(Mux::mark(0, i), i * 20 * kMs, 20 * kMs);
  });
  mux.in[1]->start(Mux::mark_caps());
  mux.in[1]->push(Mux::mark(1, 0), 0, 20 * kMs);
  mux.in[1]->push(Mux::mark(1, 1), 20 * kMs, 20 * kMs);
  const std::string longer = "application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=<6>";
  ASSERT_TRUE(mux.in[1]->event(
      gst_event_new_caps(GstPtr<GstCaps>(gst_caps_from_string(longer.c_str())).get())));
  for (std::size_t i = 2; i < 4; ++i)
    mux.in[1]->push(buffer_of(Bytes{1, static_cast<std::uint8_t>(i), 0, 0, 0, 0}), i * 20 * kMs,
                    20 * kMs);
  first.join();
  for (guint i = 0; i < 4; ++i) {
    const auto set = mux.out->next();
    ASSERT_TRUE(set);
    EXPECT_EQ(memory_bytes(set.get(), 0)[1], i);
    EXPECT_EQ(memory_bytes(set.get(), 1).size(), i < 2 ? 4U : 6U);
    EXPECT_EQ(memory_bytes(set.get(), 1)[1], i);
  }
  EXPECT_TRUE(mentions(mux.out->caps(), {"shape=(int)< 6 >"}));
}

TEST(Mux, PadsComeAndGoWhilePlaying) {
  Mux mux(1);
  mux.in[0]->start(Mux::mark_caps());
  mux.in[0]->push(Mux::mark(0, 0), 0, 20 * kMs);
  auto set = mux.out->next();
  ASSERT_TRUE(set);
  EXPECT_EQ(gst_buffer_n_memory(set.get()), 1U);
  Feeder& added = mux.add_pad("sink_7");
  std::thread second([&] {
    added.start(Mux::mark_caps(",tensor-id=late"));
    added.push(Mux::mark(1, 1), 20 * kMs, 20 * kMs);
  });
  mux.in[0]->push(Mux::mark(0, 1), 20 * kMs, 20 * kMs);
  second.join();
  set = mux.out->next();
  ASSERT_TRUE(set);
  EXPECT_EQ(gst_buffer_n_memory(set.get()), 2U);
  const GstPtr<GstPad> pad(gst_element_get_static_pad(mux.element(), "sink_7"));
  mux.in.pop_back();
  gst_element_release_request_pad(mux.element(), pad.get());
  mux.in[0]->push(Mux::mark(0, 2), 40 * kMs, 20 * kMs);
  set = mux.out->next();
  ASSERT_TRUE(set);
  EXPECT_EQ(gst_buffer_n_memory(set.get()), 1U);
  EXPECT_EQ(mux.out->caps().find("late"), std::string::npos) << mux.out->caps();
}

TEST(Mux, StateCyclesStartOver) {
  Mux mux(2);
  for (int cycle = 0; cycle < 200; ++cycle) {
    push_all(mux, {Mux::mark_caps(), Mux::mark_caps()}, marks(2));
    ASSERT_TRUE(mux.out->next()) << cycle;
    // One more stays with its pad.
    push_all(mux, {}, marks(1), false);
    gst_element_set_state(mux.element(), cycle % 2 == 0 ? GST_STATE_READY : GST_STATE_NULL);
    gst_element_set_state(mux.element(), GST_STATE_PLAYING);
  }
}

TEST(Mux, PropertiesOfPadsAreChildrenOfTheElement) {
  Mux mux(1);
  gst_child_proxy_set(GST_CHILD_PROXY(mux.element()), "sink_0::tensor-id", "boxes", nullptr);
  gchar* found = nullptr;
  gst_child_proxy_get(GST_CHILD_PROXY(mux.element()), "sink_0::tensor-id", &found, nullptr);
  EXPECT_STREQ(found, "boxes");
  g_free(found);
}

} // namespace
