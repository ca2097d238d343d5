// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps that only code can make, and queries about caps of another kind: an answer or an error, no warning of GStreamer.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gst/element_harness.h"

namespace {

using namespace simaai::test;
using simaai::gst::GstPtr;

const std::string kTensor = "application/vnd.simaai.tensor,";
const std::string kSet = "application/vnd.simaai.tensor-set,";
const std::string kFloat = kTensor + "dtype=float32,layout=contiguous,shape=<1,4,4,3>";
const std::string kTiles = kTensor +
                           "dtype=bfloat16,layout=mla-tiled,shape=<1,4,4,3>,"
                           "tile-axes=<-1,1,2,3>,tile-shape=<1,4,4,3>,channel-storage=compact";
const std::string kTwo = kSet + "tensors=(structure)<[" + kFloat + "],[" + kFloat + "]>";
const std::string kVideo = "video/x-raw,format=RGB,width=4,height=4,framerate=30/1";
const std::string kForeign = "other/tensors,format=static,num_tensors=1,types=float32,"
                             "dimensions=3:4:4:1,framerate=30/1";

struct Kind {
  const char* element;
  std::string sink_caps; ///< that the element takes
};

const std::vector<Kind> kOps{{"simaaicast", kFloat},
                             {"simaaitess", kTensor + "dtype=bfloat16,layout=contiguous,shape=<4>"},
                             {"simaaicasttess", kFloat},
                             {"simaaidetess", kTiles},
                             {"simaaidetesscast", kTiles}};
/// The multiplexer answers only where its own thread runs: gst_set_mux.
const std::vector<Kind> kOthers{
    {"simaaitensorbridge", kFloat},
    {"simaaitensorbridge", kForeign},
    {"simaaitensordemux", kTwo},
    {"simaaivideototensor", kVideo},
    // A picture that only one order of axes fits.
    {"simaaitensortovideo", kTensor + "dtype=float32,layout=contiguous,shape=<1,8,8,3>"},
    {"simaaitgmxenc", kTensor + "dtype=int8,layout=contiguous,shape=<4,3>"}};

std::vector<Kind> all_kinds() {
  std::vector<Kind> all(kOps);
  all.insert(all.end(), kOthers.begin(), kOthers.end());
  return all;
}

GstPtr<GstCaps> caps_of(const std::string& text) {
  GstPtr<GstCaps> caps(gst_caps_from_string(text.c_str()));
  if (!caps)
    g_error("not caps: %s", text.c_str());
  return caps;
}

/// A field that is a string, but none: text cannot say that.
GstPtr<GstCaps> without_text(const std::string& text, const char* field) {
  auto caps = caps_of(text);
  GValue nothing = G_VALUE_INIT;
  g_value_init(&nothing, G_TYPE_STRING);
  gst_caps_set_value(caps.get(), field, &nothing);
  g_value_unset(&nothing);
  return caps;
}

/// The same in the first tensor of a set.
GstPtr<GstCaps> set_without_text(const std::string& tensor, const char* field) {
  const auto inner = without_text(tensor, field);
  auto caps = caps_of("application/vnd.simaai.tensor-set");
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, 1);
  GValue item = G_VALUE_INIT;
  g_value_init(&item, GST_TYPE_STRUCTURE);
  gst_value_set_structure(&item, gst_caps_get_structure(inner.get(), 0));
  gst_value_array_append_and_take_value(&array, &item);
  gst_caps_set_value(caps.get(), "tensors", &array);
  g_value_unset(&array);
  return caps;
}

/// An element in PAUSED whose sink pad events and queries go to directly.
class Alone {
public:
  explicit Alone(const char* factory)
      : element_(gst_element_factory_make(factory, nullptr)),
        peer_(gst_pad_new("peer", GST_PAD_SINK)) {
    gst_object_ref_sink(element_.get());
    gst_object_ref_sink(peer_.get());
    gst_element_set_bus(element_.get(), bus_.get());
    // Something that takes everything: an element that makes tensors of pictures asks it.
    if (const GstPtr<GstPad> src(gst_element_get_static_pad(element_.get(), "src")); src) {
      gst_pad_set_chain_function(peer_.get(), [](GstPad*, GstObject*, GstBuffer* buffer) {
        gst_buffer_unref(buffer);
        return GST_FLOW_OK;
      });
      gst_pad_set_active(peer_.get(), TRUE);
      gst_pad_link(src.get(), peer_.get());
    }
    gst_element_set_state(element_.get(), GST_STATE_PAUSED);
    sink_.reset(gst_element_get_static_pad(element_.get(), "sink"));
    gst_pad_send_event(sink_.get(), gst_event_new_stream_start("odd"));
  }
  ~Alone() {
    gst_element_set_state(element_.get(), GST_STATE_NULL);
    gst_element_set_bus(element_.get(), nullptr);
    gst_pad_set_active(peer_.get(), FALSE);
  }
  Alone(const Alone&) = delete;
  Alone& operator=(const Alone&) = delete;

  bool send_caps(GstCaps* caps) {
    return gst_pad_send_event(sink_.get(), gst_event_new_caps(caps)) != FALSE;
  }
  /// Everything that somebody may ask of the pads.
  void ask(GstCaps* caps) {
    GList* pads = GST_ELEMENT_CAST(element_.get())->pads;
    for (GList* one = pads; one != nullptr; one = one->next) {
      auto* pad = static_cast<GstPad*>(one->data);
      gst_caps_unref(gst_pad_query_caps(pad, caps));
      if (gst_caps_is_fixed(caps))
        (void)gst_pad_query_accept_caps(pad, caps);
    }
  }
  bool ask_memory(GstCaps* caps) {
    const GstPtr<GstQuery> query(gst_query_new_allocation(caps, TRUE));
    return gst_pad_query(sink_.get(), query.get()) != FALSE;
  }
  std::size_t errors() {
    std::size_t count = 0;
    while (GstMessage* message = gst_bus_pop(bus_.get())) {
      count += GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR ? 1 : 0;
      gst_message_unref(message);
    }
    return count;
  }

private:
  GstPtr<GstElement> element_;
  GstPtr<GstPad> peer_;
  GstPtr<GstBus> bus_{gst_bus_new()};
  GstPtr<GstPad> sink_;
};

constexpr std::array kTexts{
    "dtype",       "layout",         "channel-storage", "tensor-id",  "video-format",
    "colorimetry", "interlace-mode", "format",          "types",      "dimensions",
    "type",        "dims-order",     "multiview-mode",  "chroma-site"};

TEST(OddCaps, AStringOfNullIsRefusedByItsName) {
  for (const Kind& kind : kOps)
    for (const char* field : {"dtype", "layout", "tensor-id"}) {
      SCOPED_TRACE(std::string(kind.element) + " " + field);
      ElementHarness harness(kind.element);
      ASSERT_TRUE(harness.send_caps(kind.sink_caps));
      const auto caps = without_text(kind.sink_caps, field);
      gst_harness_push_event(harness.get(), gst_event_new_caps(caps.get()));
      const auto errors = harness.take_errors();
      ASSERT_EQ(errors.size(), 1U);
      EXPECT_TRUE(mentions(errors[0], {"'" + std::string(field) + "'", "NULL"})) << errors[0];
    }
}

TEST(OddCaps, AStringOfNullKillsNoElement) {
  for (const Kind& kind : all_kinds())
    for (const char* field : kTexts) {
      SCOPED_TRACE(std::string(kind.element) + " " + field);
      for (const bool before : {false, true}) {
        Alone element(kind.element);
        const auto good = caps_of(kind.sink_caps);
        if (before) {
          EXPECT_TRUE(element.send_caps(good.get()));
        }
        for (const auto& caps :
             {without_text(kind.sink_caps, field), set_without_text(kFloat, field)}) {
          element.ask(caps.get());
          (void)element.ask_memory(caps.get());
          (void)element.send_caps(caps.get());
        }
        EXPECT_LE(element.errors(), 2U);
      }
    }
}

TEST(OddCaps, AStringOfNullDownstreamKillsNoElement) {
  for (const Kind& kind : all_kinds()) {
    if (std::string(kind.element) == "simaaitensordemux")
      continue; // its pads come with the caps
    for (const std::string& downstream : {kFloat, kTiles, kVideo, kForeign})
      for (const char* field : kTexts) {
        SCOPED_TRACE(std::string(kind.element) + " " + downstream + " " + field);
        ElementHarness harness(kind.element);
        gst_harness_set_sink_caps(harness.get(), without_text(downstream, field).release());
        (void)harness.send_caps(kind.sink_caps);
        (void)harness.push(Bytes(4096));
      }
  }
}

TEST(OddCaps, QueriesAboutOtherCapsAreAnswered) {
  const std::vector<std::string> asked{kFloat,
                                       kTiles,
                                       kTwo,
                                       kVideo,
                                       kForeign,
                                       kTensor + "dtype=int8",
                                       kSet + "tensors=(structure)<[" + kFloat + "]>",
                                       kSet + "tensors=(structure)<[" + kFloat + "],[" + kFloat +
                                           "],[" + kTiles + "]>",
                                       kSet + "tensors=5",
                                       "application/vnd.simaai.tensor-set",
                                       "application/vnd.simaai.tensor",
                                       "tensor/strided,dims=<1,2>,type=int8",
                                       "foo/bar"};
  for (const Kind& kind : all_kinds())
    for (const bool before : {true, false})
      for (const std::string& text : asked) {
        SCOPED_TRACE(std::string(kind.element) + (before ? " after caps: " : ": ") + text);
        Alone element(kind.element);
        const auto good = caps_of(kind.sink_caps);
        if (before) {
          EXPECT_TRUE(element.send_caps(good.get()));
        }
        const auto caps = caps_of(text);
        element.ask(caps.get());
        (void)element.ask_memory(caps.get());
        if (before) {
          // It goes on as before.
          EXPECT_TRUE(element.ask_memory(good.get()));
        }
        EXPECT_EQ(element.errors(), 0U);
      }
}

TEST(OddCaps, TheDemultiplexerProposesMemoryForSetsOnly) {
  Alone demux("simaaitensordemux");
  const auto set = caps_of(kTwo);
  ASSERT_TRUE(demux.send_caps(set.get()));
  EXPECT_TRUE(demux.ask_memory(set.get()));
  for (const std::string& other : {kFloat, kTiles, kVideo})
    EXPECT_FALSE(demux.ask_memory(caps_of(other).get())) << other;
}

} // namespace
