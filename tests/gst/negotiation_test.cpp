// SPDX-License-Identifier: LGPL-2.1-or-later
// Which caps the elements choose: what downstream fixes, then properties, then defaults.
#include <gtest/gtest.h>

#include "element_harness.h"

namespace {

using namespace simaai::test;
using simaai::gst::GstPtr;

using Properties = std::vector<std::pair<const char*, const char*>>;

struct Choice {
  const char* name;
  const char* element;
  Properties properties;
  const char* sink_fields;   ///< what upstream sends
  const char* downstream;    ///< what downstream accepts; empty: anything
  const char* chosen_fields; ///< what the element must choose, all fields
};

constexpr const char* kF32 = "dtype=float32,layout=contiguous,shape=<1,40,30,3>";
constexpr const char* kI8 = "dtype=int8,layout=contiguous,shape=<1,40,30,20>";

const Choice kChoices[] = {
    {"Defaults",
     "simaaicasttess",
     {},
     kF32,
     "",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,40,30,3>,tile-axes=<-1,1,2,3>,"
     "tile-shape=<1,16,16,3>,channel-storage=pad16"},
    {"DefaultsRankTwo",
     "simaaicasttess",
     {},
     "dtype=float32,layout=contiguous,shape=<5,40>",
     "",
     "dtype=bfloat16,layout=mla-tiled,shape=<5,40>,tile-axes=<-1,-1,0,1>,tile-shape=<1,1,5,16>,"
     "channel-storage=pad16"},
    {"DefaultsRankOne",
     "simaaicasttess",
     {},
     "dtype=float32,layout=contiguous,shape=<7>",
     "",
     "dtype=bfloat16,layout=mla-tiled,shape=<7>,tile-axes=<-1,-1,-1,0>,tile-shape=<1,1,1,7>,"
     "channel-storage=pad16"},
    {"DefaultsRankSix",
     "simaaicasttess",
     {},
     "dtype=float32,layout=contiguous,shape=<1,2,3,4,5,6>",
     "",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,2,3,4,5,6>,tile-axes=<-1,3,4,5>,"
     "tile-shape=<1,4,5,6>,channel-storage=pad16"},
    {"Int8WithoutFillIsCompact",
     "simaaitess",
     {},
     kI8,
     "",
     "dtype=int8,layout=mla-tiled,shape=<1,40,30,20>,tile-axes=<-1,1,2,3>,"
     "tile-shape=<1,16,16,16>,channel-storage=compact"},
    {"Int8WithFillIsPad16",
     "simaaitess",
     {{"int8-channel-padding", "0"}},
     kI8,
     "",
     "dtype=int8,layout=mla-tiled,shape=<1,40,30,20>,tile-axes=<-1,1,2,3>,"
     "tile-shape=<1,16,16,16>,channel-storage=pad16"},
    {"AllFromProperties",
     "simaaicasttess",
     {{"tile-axes", "<0,3,2,1>"}, {"tile-shape", "<1,2,4,8>"}, {"channel-storage", "compact"}},
     kF32,
     "",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,40,30,3>,tile-axes=<0,3,2,1>,"
     "tile-shape=<1,2,4,8>,channel-storage=compact"},
    {"AxesFromProperty",
     "simaaicasttess",
     {{"tile-axes", "<-1,2,3,1>"}},
     kF32,
     "",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,40,30,3>,tile-axes=<-1,2,3,1>,"
     "tile-shape=<1,16,3,16>,channel-storage=pad16"},
    {"AllFromDownstream",
     "simaaicasttess",
     {},
     kF32,
     "layout=mla-tiled,tile-axes=<-1,2,1,3>,tile-shape=<1,3,5,2>,channel-storage=compact",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,40,30,3>,tile-axes=<-1,2,1,3>,"
     "tile-shape=<1,3,5,2>,channel-storage=compact"},
    {"AxesFromDownstream",
     "simaaicasttess",
     {},
     kF32,
     "tile-axes=<-1,2,3,1>",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,40,30,3>,tile-axes=<-1,2,3,1>,"
     "tile-shape=<1,16,3,16>,channel-storage=pad16"},
    {"TileFromDownstream",
     "simaaicasttess",
     {},
     kF32,
     "tile-shape=<1,8,8,3>",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,40,30,3>,tile-axes=<-1,1,2,3>,"
     "tile-shape=<1,8,8,3>,channel-storage=pad16"},
    {"StorageFromDownstream",
     "simaaicasttess",
     {},
     kF32,
     "channel-storage=compact",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,40,30,3>,tile-axes=<-1,1,2,3>,"
     "tile-shape=<1,16,16,3>,channel-storage=compact"},
    {"DownstreamWinsOverProperties",
     "simaaicasttess",
     {{"tile-axes", "<0,1,2,3>"}, {"tile-shape", "<1,2,4,8>"}, {"channel-storage", "compact"}},
     kF32,
     "tile-shape=<1,8,8,3>,channel-storage=pad16",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,40,30,3>,tile-axes=<0,1,2,3>,"
     "tile-shape=<1,8,8,3>,channel-storage=pad16"},
    {"PropertyPicksFromDownstreamList",
     "simaaicasttess",
     {{"tile-shape", "<1,4,4,3>"}},
     kF32,
     "tile-shape=(int){<1,8,8,3>,<1,4,4,3>}",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,40,30,3>,tile-axes=<-1,1,2,3>,"
     "tile-shape=<1,4,4,3>,channel-storage=pad16"},
    {"FirstOfDownstreamList",
     "simaaicasttess",
     {{"tile-shape", "<1,2,2,2>"}},
     kF32,
     "tile-shape=(int){<1,8,8,3>,<1,4,4,3>}",
     "dtype=bfloat16,layout=mla-tiled,shape=<1,40,30,3>,tile-axes=<-1,1,2,3>,"
     "tile-shape=<1,8,8,3>,channel-storage=pad16"},
    {"CastPrefersContiguous",
     "simaaicast",
     {},
     kF32,
     "",
     "dtype=bfloat16,layout=contiguous,shape=<1,40,30,3>"},
    {"CastSwaps",
     "simaaicast",
     {},
     "dtype=bfloat16,layout=contiguous,shape=<2,3>",
     "",
     "dtype=float32,layout=contiguous,shape=<2,3>"},
    {"CastUnfixedStridesAreRowMajor",
     "simaaicast",
     {},
     "dtype=bfloat16,layout=contiguous,shape=<2,3>",
     "layout=strided",
     "dtype=float32,layout=strided,shape=<2,3>,strides=(gint64)<12,4>"},
    {"DetessCastPrefersFloat32",
     "simaaidetesscast",
     {},
     "dtype=bfloat16,layout=mla-tiled,shape=<2,17>,tile-axes=<-1,-1,0,1>,tile-shape=<1,1,2,16>,"
     "channel-storage=pad16",
     "",
     "dtype=float32,layout=contiguous,shape=<2,17>"},
    {"DetessCastTakesWhatDownstreamWants",
     "simaaidetesscast",
     {},
     "dtype=bfloat16,layout=mla-tiled,shape=<2,17>,tile-axes=<-1,-1,0,1>,tile-shape=<1,1,2,16>,"
     "channel-storage=pad16",
     "dtype=bfloat16,layout=strided,strides=(gint64)<64,2>",
     "dtype=bfloat16,layout=strided,shape=<2,17>,strides=(gint64)<64,2>"},
    {"DetessKeepsDtype",
     "simaaidetess",
     {},
     "dtype=bfloat16,layout=mla-cblocked,shape=<1,2,17>,tile-shape=<1,1,2,16>",
     "",
     "dtype=bfloat16,layout=contiguous,shape=<1,2,17>"},
    {"OptionalFieldsPass",
     "simaaitess",
     {},
     "dtype=int8,layout=contiguous,shape=<3>,framerate=30/1,quant-scale=0.25,quant-zero-point=-3,"
     "tensor-id=head,video-format=RGB,pixel-aspect-ratio=1/1,colorimetry=bt709",
     "",
     "dtype=int8,layout=mla-tiled,shape=<3>,tile-axes=<-1,-1,-1,0>,tile-shape=<1,1,1,3>,"
     "channel-storage=compact,framerate=30/1,quant-scale=0.25,quant-zero-point=-3,"
     "tensor-id=head,video-format=RGB,pixel-aspect-ratio=1/1,colorimetry=bt709"},
};

class Negotiation : public testing::TestWithParam<Choice> {};

std::string tensor(const char* fields) {
  return std::string("application/vnd.simaai.tensor,") + fields;
}

TEST_P(Negotiation, ChoosesTheseCaps) {
  const Choice& c = GetParam();
  ElementHarness harness(c.element, c.properties);
  if (*c.downstream != '\0')
    harness.accept_downstream(tensor(c.downstream).c_str());
  ASSERT_TRUE(harness.send_caps(tensor(c.sink_fields)))
      << testing::PrintToString(harness.take_errors());
  const GstPtr<GstCaps> chosen(gst_pad_get_current_caps(harness.get()->sinkpad));
  ASSERT_NE(chosen, nullptr);
  const GstPtr<GstCaps> wanted(gst_caps_from_string(tensor(c.chosen_fields).c_str()));
  EXPECT_TRUE(gst_caps_is_equal(chosen.get(), wanted.get())) << harness.output_caps();
}

INSTANTIATE_TEST_SUITE_P(Elements, Negotiation, testing::ValuesIn(kChoices),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(NegotiationReports, OverriddenPropertiesAreOnTheBus) {
  ElementHarness harness("simaaicasttess",
                         {{"tile-shape", "<1,2,4,8>"}, {"channel-storage", "compact"}});
  harness.accept_downstream(tensor("tile-shape=<1,8,8,3>").c_str());
  ASSERT_TRUE(harness.send_caps(tensor(kF32)));
  std::string text;
  GstPtr<GstStructure> details;
  for (const auto& message : harness.take_messages()) {
    if (GST_MESSAGE_TYPE(message.get()) != GST_MESSAGE_WARNING)
      continue;
    GError* raw = nullptr;
    gst_message_parse_warning(message.get(), &raw, nullptr);
    const GstPtr<GError> warning(raw);
    EXPECT_TRUE(text.empty()) << "one warning is enough";
    text = warning->message;
    const GstStructure* found = nullptr;
    gst_message_parse_warning_details(message.get(), &found);
    ASSERT_NE(found, nullptr);
    details.reset(gst_structure_copy(found));
  }
  EXPECT_TRUE(mentions(text, {"simaaicasttess", "tile-shape", "<1,2,4,8>", "<1,8,8,3>"})) << text;
  EXPECT_EQ(text.find("property channel-storage"), std::string::npos) << text;
  ASSERT_NE(details, nullptr);
  EXPECT_TRUE(gst_structure_has_name(details.get(), "simaai-property-overridden"));
  EXPECT_STREQ(gst_structure_get_string(details.get(), "tile-shape"), "<1,8,8,3>");
}

TEST(NegotiationReports, BackendChoiceIsOnTheBus) {
  ElementHarness harness("simaaicast");
  ASSERT_TRUE(harness.send_caps(tensor(kF32)));
  std::size_t notices = 0;
  for (const auto& message : harness.take_messages()) {
    const GstStructure* structure = gst_message_get_structure(message.get());
    if (structure == nullptr || !gst_structure_has_name(structure, "simaai-backend"))
      continue;
    ++notices;
    EXPECT_STREQ(gst_structure_get_string(structure, "requested"), "auto");
    EXPECT_STREQ(gst_structure_get_string(structure, "active"), "a65");
  }
  EXPECT_EQ(notices, 1u);
  gchar* active = nullptr;
  g_object_get(harness.element(), "active-backend", &active, nullptr);
  const simaai::gst::GTextPtr owned(active);
  EXPECT_STREQ(active, "a65");
}

TEST(NegotiationQueries, SinkCapsKeepTheShapeThatDownstreamFixes) {
  ElementHarness harness("simaaidetesscast");
  harness.accept_downstream(
      tensor("dtype=float32,layout=contiguous,shape=<2,17>,framerate=30/1").c_str());
  const GstPtr<GstCaps> caps(gst_pad_query_caps(GST_PAD_PEER(harness.get()->srcpad), nullptr));
  const GstPtr<GstCaps> possible(gst_caps_from_string(
      tensor("dtype=bfloat16,layout=mla-tiled,shape=<2,17>,framerate=30/1,tile-axes=<-1,-1,0,1>,"
             "tile-shape=<1,1,2,16>,channel-storage=compact")
          .c_str()));
  const GstPtr<GstCaps> other_shape(gst_caps_from_string(
      tensor("dtype=bfloat16,layout=mla-tiled,shape=<2,18>,framerate=30/1,tile-axes=<-1,-1,0,1>,"
             "tile-shape=<1,1,2,16>,channel-storage=compact")
          .c_str()));
  EXPECT_TRUE(gst_caps_is_subset(possible.get(), caps.get()));
  EXPECT_FALSE(gst_caps_can_intersect(other_shape.get(), caps.get()));
}

TEST(NegotiationQueries, UnlinkedSourcePadIsHarmless) {
  const GstPtr<GstElement> element(
      GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("simaaicasttess", nullptr))));
  gst_element_set_state(element.get(), GST_STATE_PLAYING);
  const GstPtr<GstPad> sink(gst_element_get_static_pad(element.get(), "sink"));
  const GstPtr<GstCaps> caps(gst_caps_from_string(tensor(kF32).c_str()));
  EXPECT_TRUE(gst_pad_send_event(sink.get(), gst_event_new_stream_start("test")));
  EXPECT_TRUE(gst_pad_send_event(sink.get(), gst_event_new_caps(caps.get())));
  const GstPtr<GstPad> source(gst_element_get_static_pad(element.get(), "src"));
  const GstPtr<GstCaps> chosen(gst_pad_get_current_caps(source.get()));
  ASSERT_NE(chosen, nullptr);
  EXPECT_STREQ(gst_structure_get_string(gst_caps_get_structure(chosen.get(), 0), "layout"),
               "mla-tiled");
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

} // namespace
