// SPDX-License-Identifier: LGPL-2.1-or-later
// What elements say when caps, properties or buffers cannot work: one error, which names everything.
#include <memory>

#include <gtest/gtest.h>

#include "element_harness.h"

namespace {

using namespace simaai::test;
using simaai::gst::GstPtr;

using Properties = std::vector<std::pair<const char*, const char*>>;

std::string tensor(const std::string& fields) { return "application/vnd.simaai.tensor," + fields; }

struct Refusal {
  const char* name;
  const char* element;
  Properties properties;
  const char* sink_fields;
  const char* downstream; ///< empty: anything
  std::vector<std::string> mentions;
};

constexpr const char* kF32 = "dtype=float32,layout=contiguous,shape=<1,4,4,3>";
constexpr const char* kI8 = "dtype=int8,layout=contiguous,shape=<1,4,4,3>";

const Refusal kRefusals[] = {
    {"NoShape",
     "simaaicasttess",
     {},
     "dtype=float32,layout=contiguous",
     "",
     {"'shape'", "missing", "backend: a65", "sink caps:"}},
    {"NoStrides",
     "simaaicast",
     {},
     "dtype=float32,layout=strided,shape=<2,3>",
     "",
     {"'strides'", "missing"}},
    {"ShapeDoubles",
     "simaaicast",
     {},
     "dtype=float32,layout=contiguous,shape=<2.0,3.0>",
     "",
     {"'shape'", "entry 0", "whole number"}},
    {"RankForAxes",
     "simaaicasttess",
     {{"tile-axes", "<-1,1,2,3>"}},
     "dtype=float32,layout=contiguous,shape=<4,3>",
     "",
     {"axis", "rank 2", "shape=(int)< 4, 3 >", "tile-axes=(int)< -1, 1, 2, 3 >"}},
    {"AxisRepeated", "simaaicasttess", {{"tile-axes", "<-1,2,2,3>"}}, kF32, "", {"axis", "2"}},
    {"NoChannelAxis", "simaaicasttess", {{"tile-axes", "<-1,1,2,-1>"}}, kF32, "", {"C"}},
    {"AbsentAxisTile",
     "simaaicasttess",
     {{"tile-shape", "<2,4,4,3>"}},
     kF32,
     "",
     {"expected", "1", "2"}},
    {"RankZeroTile",
     "simaaicasttess",
     {},
     "dtype=float32,layout=contiguous,shape=<>",
     "",
     {"rank", "0"}},
    {"StrideOverlap",
     "simaaicast",
     {},
     "dtype=float32,layout=strided,shape=<2,3>,strides=(gint64)<4,4>",
     "",
     {"stride", "axis"}},
    {"StrideMisaligned",
     "simaaicast",
     {},
     "dtype=float32,layout=strided,shape=<2,3>,strides=(gint64)<13,4>",
     "",
     {"stride", "13", "4"}},
    {"SizeOverflow",
     "simaaicast",
     {},
     "dtype=float32,layout=contiguous,shape=<2147483647,2147483647,2147483647>",
     "",
     {"64"}},
    {"BeyondPool",
     "simaaicast",
     {},
     "dtype=float32,layout=contiguous,shape=<65536,65536>",
     "",
     {"17179869184 bytes", "4294967295 bytes"}},
    {"Int8Pad16WithoutFill",
     "simaaitess",
     {{"channel-storage", "pad16"}},
     kI8,
     "",
     {"int8-channel-padding", "pad16"}},
    {"Int8Pad16WithoutFillByCaps",
     "simaaitess",
     {},
     kI8,
     "channel-storage=pad16",
     {"int8-channel-padding", "pad16"}},
    {"Int8Pad16WithoutFillEmpty",
     "simaaitess",
     {{"channel-storage", "pad16"}},
     "dtype=int8,layout=contiguous,shape=<0,16>",
     "",
     {"int8-channel-padding", "pad16"}},
    {"FillForBFloat16",
     "simaaitess",
     {{"int8-channel-padding", "3"}},
     "dtype=bfloat16,layout=contiguous,shape=<1,4,4,3>",
     "",
     {"int8-channel-padding", "bfloat16"}},
    {"DownstreamWantsLinear",
     "simaaicasttess",
     {},
     kF32,
     "layout=contiguous",
     {"downstream wants contiguous", "this element offers mla-tiled", "'layout'"}},
    {"DownstreamWantsBlocked",
     "simaaitess",
     {},
     kI8,
     "layout=mla-cblocked",
     {"downstream wants mla-cblocked", "offers mla-tiled"}},
    {"DownstreamWantsOtherDtype",
     "simaaitess",
     {},
     kI8,
     "dtype=bfloat16,layout=mla-tiled",
     {"'dtype'", "downstream wants bfloat16", "offers int8"}},
    {"DownstreamWantsOtherShape",
     "simaaicast",
     {},
     kF32,
     "shape=<1,4,4,4>",
     {"'shape'", "< 1, 4, 4, 4 >", "< 1, 4, 4, 3 >"}},
    {"WrongDtype",
     "simaaitess",
     {},
     "dtype=uint8,layout=contiguous,shape=<1,4,4,3>",
     "",
     {"'dtype'", "found uint8", "accepted", "int8", "bfloat16"}},
    {"TiledIntoTess",
     "simaaitess",
     {},
     "dtype=int8,layout=mla-tiled,shape=<2,3>,tile-axes=<-1,-1,0,1>,tile-shape=<1,1,2,3>,"
     "channel-storage=compact",
     "",
     {"'layout'", "found mla-tiled", "accepted contiguous"}},
    {"LinearIntoDetess",
     "simaaidetess",
     {},
     kI8,
     "",
     {"'layout'", "found contiguous", "accepted mla-tiled"}},
    {"BlockedRank",
     "simaaidetess",
     {},
     "dtype=int8,layout=mla-cblocked,shape=<2,3>,tile-shape=<1,1,2,3>",
     "",
     {"rank", "3", "2"}},
    {"BlockedTileDepth",
     "simaaidetess",
     {},
     "dtype=int8,layout=mla-cblocked,shape=<1,2,3>,tile-shape=<2,1,2,3>",
     "",
     {"expected", "1"}},
    {"TileAxesCountInCaps",
     "simaaidetess",
     {},
     "dtype=int8,layout=mla-tiled,shape=<2,3>,tile-axes=<0,1>,tile-shape=<1,1,2,3>,"
     "channel-storage=compact",
     "",
     {"'tile-axes'", "2 entries", "expected 4"}},
};

class CapsRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(CapsRefusals, OneErrorNamesTheReason) {
  const Refusal& c = GetParam();
  ElementHarness harness(c.element, c.properties);
  if (*c.downstream != '\0')
    harness.accept_downstream(tensor(c.downstream).c_str());
  EXPECT_FALSE(harness.send_caps(tensor(c.sink_fields)));
  EXPECT_EQ(harness.push(Bytes(192)), GST_FLOW_NOT_NEGOTIATED);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1u) << testing::PrintToString(errors);
  EXPECT_TRUE(mentions(errors[0], c.mentions)) << errors[0];
  EXPECT_TRUE(mentions(errors[0], {c.element, "backend: a65", "sink caps: application/vnd"}))
      << errors[0];
}

INSTANTIATE_TEST_SUITE_P(Elements, CapsRefusals, testing::ValuesIn(kRefusals),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Refusals, GoodCapsAfterRefusedOnesWork) {
  ElementHarness harness("simaaicast");
  EXPECT_FALSE(harness.send_caps(tensor("dtype=float32,layout=contiguous")));
  EXPECT_TRUE(harness.send_caps(tensor("dtype=float32,layout=contiguous,shape=<2>")));
  EXPECT_EQ(harness.push(Bytes(8)), GST_FLOW_OK);
  EXPECT_FALSE(harness.send_caps(tensor("dtype=float32,layout=contiguous")));
  EXPECT_EQ(harness.take_errors().size(), 2u);
}

TEST(Refusals, ErrorsHaveDetailsForPrograms) {
  ElementHarness harness("simaaicast");
  ASSERT_TRUE(harness.send_caps(tensor(kF32)));
  EXPECT_EQ(harness.push(Bytes(100)), GST_FLOW_ERROR);
  for (const auto& message : harness.take_messages()) {
    if (GST_MESSAGE_TYPE(message.get()) != GST_MESSAGE_ERROR)
      continue;
    const GstStructure* details = nullptr;
    gst_message_parse_error_details(message.get(), &details);
    ASSERT_NE(details, nullptr);
    guint64 needed = 0;
    guint64 found = 0;
    EXPECT_TRUE(gst_structure_get_uint64(details, "needed-bytes", &needed));
    EXPECT_TRUE(gst_structure_get_uint64(details, "found-bytes", &found));
    EXPECT_EQ(needed, 192u);
    EXPECT_EQ(found, 100u);
    EXPECT_STREQ(gst_structure_get_string(details, "backend"), "a65");
    EXPECT_TRUE(gst_structure_has_field_typed(details, "sink-caps", GST_TYPE_CAPS));
    EXPECT_TRUE(gst_structure_has_field_typed(details, "src-caps", GST_TYPE_CAPS));
    const std::string text = error_text(message.get());
    EXPECT_TRUE(mentions(text, {"simaaicast", "needed: 192 bytes", "found: 100 bytes",
                                "backend: a65", "sink caps:", "src caps:"}))
        << text;
    return;
  }
  FAIL() << "no error on the bus";
}

TEST(Refusals, ShortBufferLeavesTheElementUsable) {
  ElementHarness harness("simaaicasttess");
  ASSERT_TRUE(harness.send_caps(tensor(kF32)));
  EXPECT_EQ(harness.push(Bytes(191)), GST_FLOW_ERROR);
  EXPECT_EQ(harness.push(Bytes(192)), GST_FLOW_OK);
  EXPECT_EQ(harness.take_errors().size(), 1u);
}

/// GstBaseTransform goes on with the caps that an element had before a refusal, and does not set them again.
struct Return {
  const char* element;
  Properties properties;
  const char* good; ///< of buffers of 192 bytes
  const char* bad;
  const char* downstream;
};

class CapsAfterARefusal : public testing::TestWithParam<Return> {
protected:
  [[nodiscard]] static std::unique_ptr<ElementHarness> make() {
    auto harness = std::make_unique<ElementHarness>(GetParam().element, GetParam().properties);
    harness->accept_downstream(GetParam().downstream);
    return harness;
  }
};

TEST_P(CapsAfterARefusal, WorkAsBefore) {
  const Bytes first(192, 0x11);
  Bytes second(192);
  for (std::size_t n = 0; n < second.size(); ++n)
    second[n] = static_cast<std::uint8_t>(1 + n % 100);
  const auto other = make();
  ASSERT_TRUE(other->send_caps(GetParam().good));
  ASSERT_EQ(other->push(second), GST_FLOW_OK);
  const auto harness = make();
  ASSERT_TRUE(harness->send_caps(GetParam().good));
  ASSERT_EQ(harness->push(first), GST_FLOW_OK);
  EXPECT_FALSE(harness->send_caps(GetParam().bad));
  EXPECT_EQ(harness->push(second), GST_FLOW_NOT_NEGOTIATED);
  ASSERT_TRUE(harness->send_caps(GetParam().good));
  ASSERT_EQ(harness->push(second), GST_FLOW_OK);
  EXPECT_NE(harness->pull(), Bytes());
  EXPECT_EQ(harness->pull(), other->pull());
  EXPECT_EQ(harness->take_errors().size(), 1U);
}

#define TENSOR "application/vnd.simaai.tensor,"
INSTANTIATE_TEST_SUITE_P(
    Elements, CapsAfterARefusal,
    testing::Values(Return{"simaaicast",
                           {},
                           TENSOR "dtype=float32,layout=contiguous,shape=<1,4,4,3>",
                           TENSOR "dtype=float32,shape=<1,4,4,3>,layout=strided,strides=<4,4,4,4>",
                           TENSOR "layout=contiguous"},
                    Return{"simaaicasttess",
                           {},
                           TENSOR "dtype=float32,layout=contiguous,shape=<1,4,4,3>",
                           TENSOR "dtype=float32,shape=<1,4,4,3>,layout=strided,strides=<4,4,4,4>",
                           TENSOR "layout=mla-tiled"},
                    Return{"simaaitess",
                           {},
                           TENSOR "dtype=int8,layout=contiguous,shape=<1,6,1,32>",
                           TENSOR "dtype=int8,shape=<1,6,1,32>,layout=strided,strides=<1,1,1,1>",
                           TENSOR "layout=mla-tiled"},
                    Return{"simaaivideototensor",
                           {{"mean", "<1.0,2.0,3.0>"}},
                           "video/x-raw,format=RGB,width=16,height=4,framerate=30/1",
                           "video/x-raw,format=GRAY8,width=16,height=4,framerate=30/1",
                           TENSOR "dtype=float32"},
                    Return{"simaaitensortovideo",
                           {{"mean", "<1.0,2.0,3.0>"}},
                           TENSOR "dtype=float32,layout=contiguous,shape=<1,2,8,3>",
                           TENSOR "dtype=float32,layout=contiguous,shape=<1,2,8,1>",
                           "video/x-raw"}),
    [](const auto& test) { return std::string(test.param.element); });
#undef TENSOR

class StartRefusals
    : public testing::TestWithParam<std::pair<Properties, std::vector<std::string>>> {};

TEST_P(StartRefusals, FailWithAnError) {
  const auto& [properties, parts] = GetParam();
  const GstPtr<GstElement> element(
      GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("simaaitess", nullptr))));
  const GstPtr<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  for (const auto& [name, value] : properties)
    gst_util_set_object_arg(G_OBJECT(element.get()), name, value);
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  const GstPtr<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  ASSERT_NE(message, nullptr);
  EXPECT_TRUE(mentions(error_text(message.get()), parts)) << error_text(message.get());
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    Elements, StartRefusals,
    testing::Values(std::pair(Properties{{"backend", "ev74"}, {"device", "unix:/nonexistent/ev74"}},
                              std::vector<std::string>{"simaaitess", "unix:/nonexistent/ev74",
                                                       "cannot be opened", "backend: ev74"}),
                    std::pair(Properties{{"tile-axes", "<1,2,3>"}},
                              std::vector<std::string>{"tile-axes", "3 entries", "expected 4"}),
                    std::pair(Properties{{"tile-shape", "<1,2,3,4,5>"}},
                              std::vector<std::string>{"tile-shape", "5 entries", "expected 4"})));

TEST(Refusals, BackendSetInReadyIsCheckedBeforePaused) {
  const GstPtr<GstElement> element(
      GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make("simaaicast", nullptr))));
  const GstPtr<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  ASSERT_NE(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  gst_util_set_object_arg(G_OBJECT(element.get()), "backend", "ev74");
  gst_util_set_object_arg(G_OBJECT(element.get()), "device", "unix:/nonexistent/ev74");
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  const GstPtr<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  EXPECT_NE(message, nullptr);
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
}

} // namespace
