// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensordemux: pads by position and on request, shared memory, events, flows, sets that change.
#include <algorithm>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "common/fd_memory.h"
#include "gst/tensor_text.h"
#include "pads.h"
#include "set_sample.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;

/// A demultiplexer whose pads are collected as they come.
class Demux {
public:
  explicit Demux(bool collect = true)
      : element_(gst_element_factory_make("simaaitensordemux", nullptr)) {
    gst_object_ref_sink(element_.get());
    gst_element_set_bus(element_.get(), bus_.get());
    if (collect)
      g_signal_connect(element_.get(), "pad-added",
                       G_CALLBACK(+[](GstElement*, GstPad* pad, gpointer self) {
                         static_cast<Demux*>(self)->added(pad);
                       }),
                       this);
    g_signal_connect(element_.get(), "pad-removed",
                     G_CALLBACK(+[](GstElement*, GstPad* pad, gpointer self) {
                       static_cast<Demux*>(self)->pads.erase(GST_OBJECT_NAME(pad));
                     }),
                     this);
    g_signal_connect(element_.get(), "no-more-pads", G_CALLBACK(+[](GstElement*, gpointer self) {
                       ++static_cast<Demux*>(self)->no_more_pads;
                     }),
                     this);
    gst_element_set_state(element_.get(), GST_STATE_PLAYING);
    const GstPtr<GstPad> sink(gst_element_get_static_pad(element_.get(), "sink"));
    feed = std::make_unique<Feeder>(sink.get());
  }
  ~Demux() {
    gst_element_set_state(element_.get(), GST_STATE_NULL);
    feed.reset();
    pads.clear();
    gst_element_set_bus(element_.get(), nullptr);
  }
  Demux(const Demux&) = delete;
  Demux& operator=(const Demux&) = delete;

  GstElement* element() const { return element_.get(); }
  /// Pads are kept as the request wants; `settings` are properties of it.
  GstPtr<GstPad> request(const char* name, const char* property = nullptr,
                         const char* value = nullptr) {
    GstPtr<GstPad> pad(gst_element_request_pad_simple(element_.get(), name));
    if (pad && property != nullptr)
      gst_util_set_object_arg(G_OBJECT(pad.get()), property, value);
    return pad;
  }
  std::vector<std::string> errors() {
    std::vector<std::string> texts;
    while (GstMessage* message = gst_bus_pop(bus_.get())) {
      if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
        texts.push_back(error_text(message));
      gst_message_unref(message);
    }
    return texts;
  }
  [[nodiscard]] GstPtr<GstStructure> stats() const {
    GstStructure* raw = nullptr;
    g_object_get(element_.get(), "stats", &raw, nullptr);
    return GstPtr<GstStructure>(raw);
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& [name, pad] : pads)
      found.push_back(name);
    return found;
  }

  std::unique_ptr<Feeder> feed;
  std::map<std::string, std::unique_ptr<Collector>> pads;
  int no_more_pads = 0;

private:
  void added(GstPad* pad) { pads[GST_OBJECT_NAME(pad)] = std::make_unique<Collector>(pad); }

  GstPtr<GstElement> element_;
  GstPtr<GstBus> bus_{gst_bus_new()};
};

const std::vector<TensorSpec> kThree{
    {{1, 2, 4, 3}, DType::Float32}, {{32}, DType::BFloat16}, {{5, 3}, DType::Int8}};

std::string three_with_ids() {
  return "application/vnd.simaai.tensor-set,tensors=(structure)<[" + caps_of(kThree[0]) +
         ",tensor-id=boxes],[" + caps_of(kThree[1]) + ",tensor-id=scores],[" + caps_of(kThree[2]) +
         ",tensor-id=masks]>";
}

std::vector<Bytes> three_parts(std::uint8_t seed) {
  std::vector<Bytes> parts{Bytes(96), Bytes(64), Bytes(15)};
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (std::size_t j = 0; j < parts[i].size(); ++j)
      parts[i][j] = static_cast<std::uint8_t>(seed + 31 * i + j);
  return parts;
}

TEST(Demux, EachTensorHasAPadByPosition) {
  Demux demux;
  ASSERT_TRUE(demux.feed->start(set_caps(kThree, {}, ",framerate=30/1")));
  EXPECT_EQ(demux.names(), (std::vector<std::string>{"src_0", "src_1", "src_2"}));
  EXPECT_EQ(demux.no_more_pads, 1);
  for (std::size_t i = 0; i < 3; ++i) {
    auto& pad = *demux.pads.at("src_" + std::to_string(i));
    const GstPtr<GstCaps> wanted(
        gst_caps_from_string((caps_of(kThree[i]) + ",framerate=30/1").c_str()));
    const GstPtr<GstCaps> found(gst_caps_from_string(pad.caps().c_str()));
    EXPECT_TRUE(gst_caps_is_equal(found.get(), wanted.get())) << pad.caps();
    const auto events = pad.events();
    ASSERT_GE(events.size(), 3U);
    EXPECT_EQ(events[0], GST_EVENT_STREAM_START);
    EXPECT_EQ(events[1], GST_EVENT_CAPS);
    EXPECT_EQ(events[2], GST_EVENT_SEGMENT);
  }
  EXPECT_NE(demux.pads.at("src_0")->stream_id(), demux.pads.at("src_1")->stream_id());
  const auto parts = three_parts(1);
  ASSERT_EQ(demux.feed->push(separate(parts), GST_SECOND, GST_MSECOND), GST_FLOW_OK);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = demux.pads.at("src_" + std::to_string(i))->next();
    EXPECT_EQ(bytes_of(part.get()), parts[i]);
    EXPECT_EQ(GST_BUFFER_PTS(part.get()), GST_SECOND);
    EXPECT_EQ(GST_BUFFER_DURATION(part.get()), GST_MSECOND);
  }
}

TEST(Demux, SharesTheMemoriesOfSets) {
  Demux demux;
  ASSERT_TRUE(demux.feed->start(set_caps(kThree)));
  const auto set = separate(three_parts(2));
  ASSERT_EQ(demux.feed->push(GstPtr<GstBuffer>(gst_buffer_ref(set.get()))), GST_FLOW_OK);
  for (guint i = 0; i < 3; ++i) {
    const auto part = demux.pads.at("src_" + std::to_string(i))->next();
    ASSERT_EQ(gst_buffer_n_memory(part.get()), 1U);
    EXPECT_EQ(gst_buffer_peek_memory(part.get(), 0), gst_buffer_peek_memory(set.get(), i));
  }
}

/// Inputs with what lies between tensors, outputs of all pads: some tensors may have two.
TEST(Demux, StatsCountBytesOfSetsAndOfPads) {
  Demux demux;
  const auto allocator = simaai::gst::new_fd_allocator();
  const auto again = demux.request("tensor_0", "position", "2");
  const auto twice = demux.request("tensor_1", "position", "2");
  const auto parts = three_parts(5);
  const auto places = offsets_of(parts, 64, 128);
  ASSERT_TRUE(demux.feed->start(set_caps(kThree, places)));
  EXPECT_STREQ(gst_structure_get_string(demux.stats().get(), "memory"), "none");
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(demux.feed->push(together(parts, places, allocator.get())), GST_FLOW_OK);
  const auto stats = demux.stats();
  const auto number = [&](const char* field) {
    guint64 value = 0;
    EXPECT_TRUE(gst_structure_get_uint64(stats.get(), field, &value)) << field;
    return value;
  };
  EXPECT_EQ(number("frames"), 2U);
  EXPECT_EQ(number("bytes-in"), 2U * (places[2] + 15));
  EXPECT_EQ(number("bytes-out"), 2U * (96 + 64 + 15 + 15));
  EXPECT_EQ(number("copies"), 0U);
  EXPECT_EQ(number("allocations"), 0U);
  EXPECT_STREQ(gst_structure_get_string(stats.get(), "memory"),
               simaai::gst::fd_allocator_memory(allocator.get()));
}

TEST(Demux, SharesPartsOfOneMemory) {
  const auto parts = three_parts(3);
  for (const bool offsets : {true, false}) {
    Demux demux;
    const auto places = offsets ? offsets_of(parts, 64, 128) : packed_offsets(parts);
    ASSERT_TRUE(
        demux.feed->start(set_caps(kThree, offsets ? places : std::vector<std::uint64_t>{})));
    const auto set = together(parts, places);
    ASSERT_EQ(demux.feed->push(GstPtr<GstBuffer>(gst_buffer_ref(set.get()))), GST_FLOW_OK);
    for (std::size_t i = 0; i < 3; ++i) {
      auto& pad = *demux.pads.at("src_" + std::to_string(i));
      EXPECT_EQ(pad.caps().find("offset"), std::string::npos) << pad.caps();
      const auto part = pad.next();
      EXPECT_EQ(bytes_of(part.get()), parts[i]);
      ASSERT_EQ(gst_buffer_n_memory(part.get()), 1U);
      EXPECT_EQ(gst_buffer_peek_memory(part.get(), 0)->parent,
                gst_buffer_peek_memory(set.get(), 0));
    }
  }
}

TEST(Demux, KeepsTheMemoriesOfATensorThatIsSpread) {
  Demux demux;
  ASSERT_TRUE(demux.feed->start(set_caps(kThree)));
  const auto parts = three_parts(4);
  Bytes all;
  for (const Bytes& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  ASSERT_EQ(demux.feed->push(separate(
                {Bytes(all.begin(), all.begin() + 100), Bytes(all.begin() + 100, all.end())})),
            GST_FLOW_OK);
  const auto second = demux.pads.at("src_1")->next();
  EXPECT_EQ(gst_buffer_n_memory(second.get()), 2U);
  EXPECT_EQ(bytes_of(second.get()), parts[1]);
}

TEST(Demux, RequestedPadsTakeTensorsByPositionAndById) {
  Demux demux;
  const auto by_id = demux.request("tensor_0", "tensor-id", "masks");
  const auto by_name = demux.request("tensor_1");
  ASSERT_TRUE(demux.feed->start(three_with_ids()));
  EXPECT_EQ(demux.names(), (std::vector<std::string>{"src_0", "tensor_0", "tensor_1"}))
      << "only the tensor that nobody requested has a pad of its own";
  const auto parts = three_parts(5);
  ASSERT_EQ(demux.feed->push(separate(parts)), GST_FLOW_OK);
  EXPECT_EQ(bytes_of(demux.pads.at("src_0")->next().get()), parts[0]);
  EXPECT_EQ(bytes_of(demux.pads.at("tensor_0")->next().get()), parts[2]);
  EXPECT_EQ(bytes_of(demux.pads.at("tensor_1")->next().get()), parts[1]);
  EXPECT_TRUE(mentions(demux.pads.at("tensor_0")->caps(), {"tensor-id=(string)masks"}));
  gst_element_release_request_pad(demux.element(), by_id.get());
  EXPECT_EQ(demux.pads.count("tensor_0"), 0U);
  ASSERT_EQ(demux.feed->push(separate(parts)), GST_FLOW_OK);
}

TEST(Demux, APadRequestedWhilePlayingJoins) {
  Demux demux;
  ASSERT_TRUE(demux.feed->start(three_with_ids()));
  ASSERT_EQ(demux.feed->push(separate(three_parts(1))), GST_FLOW_OK);
  const auto late = demux.request("tensor_2");
  const auto parts = three_parts(6);
  ASSERT_EQ(demux.feed->push(separate(parts)), GST_FLOW_OK);
  auto& pad = *demux.pads.at("tensor_2");
  EXPECT_EQ(bytes_of(pad.next().get()), parts[2]);
  const auto events = pad.events();
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events[0], GST_EVENT_STREAM_START);
  EXPECT_EQ(events[1], GST_EVENT_CAPS);
  EXPECT_EQ(events[2], GST_EVENT_SEGMENT);
}

TEST(Demux, RefusalsSayWhatTheSetHas) {
  const struct {
    const char* property;
    const char* value;
    std::string caps;
    std::vector<std::string> words;
  } cases[] = {
      {"tensor-id",
       "faces",
       three_with_ids(),
       {"tensor_0", "'faces'", "0 (boxes), 1 (scores), 2 (masks)"}},
      {"position", "7", three_with_ids(), {"position 7", "0 (boxes)"}},
      {"tensor-id",
       "twin",
       "application/vnd.simaai.tensor-set,tensors=(structure)<"
       "[application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=<1>,tensor-id=twin],"
       "[application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=<1>,tensor-id=twin]>",
       {"'twin'", "positions 0 and 1"}},
  };
  for (const auto& c : cases) {
    Demux demux;
    const auto pad = demux.request("tensor_0", c.property, c.value);
    EXPECT_FALSE(demux.feed->start(c.caps));
    EXPECT_FALSE(demux.feed->caps(c.caps)) << "again";
    const auto errors = demux.errors();
    ASSERT_EQ(errors.size(), 1U) << testing::PrintToString(errors);
    EXPECT_TRUE(mentions(errors[0], c.words)) << errors[0];
    EXPECT_EQ(demux.feed->push(separate(three_parts(1))), GST_FLOW_NOT_NEGOTIATED);
  }
  Demux many;
  std::vector<TensorSpec> seventeen(17, kThree[0]);
  EXPECT_FALSE(many.feed->start(set_caps(seventeen)));
  const auto errors = many.errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"17 entries", "1 to 16"})) << errors[0];
}

TEST(Demux, ShortBuffersTellBytes) {
  Demux demux;
  ASSERT_TRUE(demux.feed->start(set_caps(kThree)));
  auto parts = three_parts(1);
  parts[2].pop_back();
  EXPECT_EQ(demux.feed->push(separate(parts)), GST_FLOW_ERROR);
  const auto errors = demux.errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"shorter", "needed: 175", "found: 174"})) << errors[0];
}

TEST(Demux, FlowsAreCombined) {
  Demux alone(false);
  ASSERT_TRUE(alone.feed->start(set_caps(kThree)));
  EXPECT_EQ(alone.feed->push(separate(three_parts(1))), GST_FLOW_NOT_LINKED);

  Demux demux;
  ASSERT_TRUE(demux.feed->start(set_caps(kThree)));
  demux.pads.at("src_0")->answer(GST_FLOW_EOS);
  EXPECT_EQ(demux.feed->push(separate(three_parts(1))), GST_FLOW_OK) << "two branches go on";
  demux.pads.erase("src_1"); // not linked any more
  EXPECT_EQ(demux.feed->push(separate(three_parts(1))), GST_FLOW_OK);
  demux.pads.at("src_2")->answer(GST_FLOW_ERROR);
  EXPECT_EQ(demux.feed->push(separate(three_parts(1))), GST_FLOW_ERROR);
}

TEST(Demux, SetsOfOtherSizesKeepThePadsThatTheyCan) {
  Demux demux;
  for (const std::size_t count : {3U, 1U, 16U, 2U}) {
    const std::vector<TensorSpec> specs(count, {{2, 2}, DType::Float32});
    ASSERT_TRUE(demux.feed->start(set_caps(specs)));
    ASSERT_EQ(demux.pads.size(), count);
    auto* first = demux.pads.at("src_0").get();
    std::vector<Bytes> parts;
    for (std::size_t i = 0; i < count; ++i)
      parts.emplace_back(16, static_cast<std::uint8_t>(i));
    ASSERT_EQ(demux.feed->push(separate(parts)), GST_FLOW_OK);
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(bytes_of(demux.pads.at("src_" + std::to_string(i))->next().get()), parts[i]);
    EXPECT_EQ(demux.pads.at("src_0").get(), first);
  }
}

TEST(Demux, EventsReachEveryPad) {
  Demux demux;
  GstEvent* begin = gst_event_new_stream_start("whole");
  gst_event_set_group_id(begin, 77);
  ASSERT_TRUE(demux.feed->event(begin));
  ASSERT_TRUE(demux.feed->caps(set_caps(kThree)));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  demux.feed->event(gst_event_new_segment(&segment));
  demux.feed->event(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "x", nullptr)));
  demux.feed->event(gst_event_new_gap(0, GST_SECOND));
  demux.feed->event(gst_event_new_flush_start());
  demux.feed->event(gst_event_new_flush_stop(TRUE));
  demux.feed->event(gst_event_new_segment(&segment));
  ASSERT_EQ(demux.feed->push(separate(three_parts(1))), GST_FLOW_OK);
  demux.feed->event(gst_event_new_eos());
  for (const auto& [name, pad] : demux.pads) {
    EXPECT_EQ(pad->group_id(), 77U);
    for (const GstEventType type :
         {GST_EVENT_TAG, GST_EVENT_GAP, GST_EVENT_FLUSH_START, GST_EVENT_FLUSH_STOP, GST_EVENT_EOS})
      EXPECT_TRUE(pad->await_event(type)) << name << gst_event_type_get_name(type);
  }
}

TEST(Demux, TheEndBeforeCapsIsAnError) {
  Demux demux;
  demux.feed->event(gst_event_new_stream_start("x"));
  demux.feed->event(gst_event_new_eos());
  const auto errors = demux.errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"before its caps"})) << errors[0];
}

TEST(Demux, StateCyclesStartOver) {
  Demux demux;
  const auto kept = demux.request("tensor_1");
  for (int cycle = 0; cycle < 200; ++cycle) {
    ASSERT_TRUE(demux.feed->start(set_caps(kThree))) << cycle;
    ASSERT_EQ(demux.feed->push(separate(three_parts(1))), GST_FLOW_OK);
    gst_element_set_state(demux.element(), cycle % 2 == 0 ? GST_STATE_READY : GST_STATE_NULL);
    EXPECT_EQ(demux.names(), (std::vector<std::string>{"tensor_1"}));
    gst_element_set_state(demux.element(), GST_STATE_PLAYING);
  }
}

/// A pool gets the memory of a set back when the last of its tensors is gone.
TEST(Demux, APoolBeforeItStaysConstant) {
  ElementHarness cast("simaaicast");
  const std::vector<TensorSpec> inputs{{{64}, DType::Float32}, {{32}, DType::Float32}};
  ASSERT_TRUE(cast.send_caps(set_caps(inputs)));
  Demux demux;
  ASSERT_TRUE(demux.feed->start(cast.output_caps()));
  GstPtr<GstBuffer> held;
  for (int frame = 0; frame < 50; ++frame) {
    ASSERT_EQ(cast.push(separate({Bytes(256), Bytes(128)})), GST_FLOW_OK);
    ASSERT_EQ(demux.feed->push(cast.pull_buffer()), GST_FLOW_OK);
    (void)demux.pads.at("src_0")->next();
    held = demux.pads.at("src_1")->next(); // one branch is a frame behind
  }
  EXPECT_LE(cast.stat("allocations"), 3U);
}

} // namespace
