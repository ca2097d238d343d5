// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitgmxenc and simaaitgmxdec as parts of a stream: caps fields, the order of events, errors that are said once.
#include <algorithm>

#include <gtest/gtest.h>

#include "gst/element_harness.h"
#include "weights.h"

namespace {

using namespace simaai::test;
using simaai::gst::GstPtr;

const char* const kStream = "application/x-tgmx";
const char* const kMatrix =
    "application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=<2,3>";

Bytes worked() { return reference::wire({{1, -2, 3}, {4, 5, -6}}); }

/// The errors of an element that got these caps twice, and data each time.
std::vector<std::string> refusals(ElementHarness& harness, const std::string& caps) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(harness.send_caps(caps));
    EXPECT_EQ(harness.push(Bytes(100)), GST_FLOW_NOT_NEGOTIATED);
  }
  return harness.take_errors();
}

TEST(TgmxEnc, OneErrorForCapsThatAreNoMatrix) {
  ElementHarness harness("simaaitgmxenc");
  const std::string tensor = "application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=";
  for (const char* shape : {"<2,3,4>", "<6>", "<2,11173>"})
    EXPECT_EQ(refusals(harness, tensor + shape).size(), 1U) << shape;
}

TEST(TgmxEnc, TheSameRefusalIsSaidAgainAfterCapsThatWorked) {
  ElementHarness harness("simaaitgmxenc");
  const std::string tensor = "application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=";
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(refusals(harness, tensor + "<6>").size(), 1U);
    ASSERT_TRUE(harness.send_caps(tensor + "<2,3>"));
    ASSERT_EQ(harness.push(Bytes(6)), GST_FLOW_OK);
  }
}

TEST(TgmxEnc, CapsOutsideTheTemplateAreNamed) {
  ElementHarness harness("simaaitgmxenc");
  const auto errors = refusals(
      harness, "application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<2,3>");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors.front(), {"do not suit", "dtype", "float32", "int8"}))
      << errors.front();
}

TEST(TgmxEnc, DownstreamThatTakesNoSuchStreamIsNamed) {
  ElementHarness harness("simaaitgmxenc");
  harness.accept_downstream("application/x-tgmx,framerate=(fraction)15/1");
  const auto errors = refusals(harness, std::string(kMatrix) + ",framerate=(fraction)30/1");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors.front(), {"downstream", "30/1", "15/1"})) << errors.front();
}

TEST(TgmxEnc, DownstreamThatChangesItsMindIsNamed) {
  ElementHarness harness("simaaitgmxenc");
  ASSERT_TRUE(harness.send_caps(std::string(kMatrix) + ",framerate=(fraction)30/1"));
  ASSERT_EQ(harness.push(Bytes(6)), GST_FLOW_OK);
  harness.accept_downstream("application/x-tgmx,framerate=(fraction)15/1");
  EXPECT_EQ(harness.push(Bytes(6)), GST_FLOW_NOT_NEGOTIATED);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors.front(), {"downstream", "30/1", "15/1"})) << errors.front();
}

TEST(TgmxDec, ARefusalIsSaidOnceAndForgottenByAFlush) {
  Bytes damaged = worked();
  damaged[9] = 1; // a record that names another position
  for (const Bytes& bad : {damaged, Bytes(40, 'x')}) {
    ElementHarness harness("simaaitgmxdec");
    ASSERT_TRUE(harness.send_caps(kStream));
    EXPECT_EQ(harness.push(bad), GST_FLOW_ERROR);
    EXPECT_EQ(harness.push(worked()),
              GST_FLOW_ERROR); // nobody knows where the next matrix would start
    gst_harness_push_event(harness.get(), gst_event_new_eos());
    EXPECT_EQ(harness.take_errors().size(), 1U);
    EXPECT_TRUE(harness.pull().empty());
    gst_harness_push_event(harness.get(), gst_event_new_flush_start());
    gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE));
    ASSERT_TRUE(harness.send_caps(kStream));
    EXPECT_EQ(harness.push(worked()), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), (Bytes{1, 0xFE, 3, 4, 5, 0xFA}));
    EXPECT_TRUE(harness.take_errors().empty());
  }
}

TEST(TgmxDec, OneErrorForADownstreamThatTakesNoSuchMatrix) {
  ElementHarness harness("simaaitgmxdec");
  harness.accept_downstream("application/vnd.simaai.tensor,dtype=float32");
  ASSERT_TRUE(harness.send_caps(kStream));
  EXPECT_EQ(harness.push(worked()), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_EQ(harness.push(worked()), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_EQ(harness.take_errors().size(), 1U);
}

TEST(TgmxDec, AMissingFillIsNamedAfterItsProperty) {
  ElementHarness harness("simaaitgmxdec");
  harness.accept_downstream("application/vnd.simaai.tensor,layout=mla-tiled,channel-storage=pad16");
  ASSERT_TRUE(harness.send_caps(kStream));
  EXPECT_EQ(harness.push(worked()), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_TRUE(mentions(harness.take_errors().at(0), {"pad16", "property int8-channel-padding"}));
}

TEST(Tgmx, FramerateAndTensorIdPassThroughAStream) {
  const std::vector<std::string> fields = {"framerate=(fraction)30/1", "tensor-id=(string)scores"};
  ElementHarness encoder("simaaitgmxenc");
  ASSERT_TRUE(encoder.send_caps(std::string(kMatrix) + "," + fields[0] + "," + fields[1]));
  ASSERT_EQ(encoder.push(Bytes(6)), GST_FLOW_OK);
  ElementHarness decoder("simaaitgmxdec");
  ASSERT_TRUE(decoder.send_caps(encoder.output_caps()));
  ASSERT_EQ(decoder.push(encoder.pull()), GST_FLOW_OK);
  EXPECT_TRUE(mentions(decoder.output_caps(), fields)) << decoder.output_caps();
  // Caps in the middle of a stream are for the matrices behind them.
  ASSERT_TRUE(decoder.send_caps("application/x-tgmx,framerate=(fraction)15/1"));
  ASSERT_EQ(decoder.push(worked()), GST_FLOW_OK);
  EXPECT_TRUE(mentions(decoder.output_caps(), {"framerate=(fraction)15/1"}))
      << decoder.output_caps();
  EXPECT_FALSE(mentions(decoder.output_caps(), {"tensor-id"})) << decoder.output_caps();
}

/// Names of the events that downstream got, in order.
std::vector<std::string> events_of(ElementHarness& harness) {
  std::vector<std::string> names;
  while (GstEvent* raw = gst_harness_try_pull_event(harness.get())) {
    const GstPtr<GstEvent> event(raw);
    if (GST_EVENT_TYPE(event.get()) != GST_EVENT_RECONFIGURE)
      names.emplace_back(GST_EVENT_TYPE_NAME(event.get()));
  }
  return names;
}

TEST(TgmxDec, EventsWaitForTheCapsThatComeWithTheFirstMatrix) {
  using Names = std::vector<std::string>;
  ElementHarness harness("simaaitgmxdec");
  ASSERT_TRUE(harness.send_caps(kStream));
  gst_harness_push_event(harness.get(),
                         gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "weights", nullptr)));
  gst_harness_push_event(harness.get(), gst_event_new_gap(0, GST_SECOND));
  EXPECT_EQ(events_of(harness), Names{"stream-start"});
  ASSERT_EQ(harness.push(worked()), GST_FLOW_OK);
  EXPECT_EQ(events_of(harness), (Names{"caps", "segment", "tag", "gap"}));
  gst_harness_push_event(harness.get(), gst_event_new_gap(GST_SECOND, GST_SECOND));
  EXPECT_EQ(events_of(harness), Names{"gap"});
  // A segment waits too, and what comes behind it stays there.
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = GST_SECOND;
  gst_harness_push_event(harness.get(), gst_event_new_segment(&segment));
  gst_harness_push_event(harness.get(), gst_event_new_gap(0, GST_SECOND));
  ASSERT_EQ(harness.push(worked()), GST_FLOW_OK);
  EXPECT_EQ(events_of(harness), (Names{"segment", "gap"}));
  ASSERT_TRUE(harness.send_caps("application/x-tgmx,framerate=(fraction)30/1")); // with a segment
  EXPECT_EQ(events_of(harness), Names{});
  ASSERT_EQ(harness.push(worked()), GST_FLOW_OK);
  EXPECT_EQ(events_of(harness), (Names{"caps", "segment"}));
}

TEST(TgmxDec, AFlushKeepsTagsAndDropsGapsThatWait) {
  ElementHarness harness("simaaitgmxdec");
  ASSERT_TRUE(harness.send_caps(kStream));
  gst_harness_push_event(harness.get(),
                         gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "weights", nullptr)));
  gst_harness_push_event(harness.get(), gst_event_new_gap(0, GST_SECOND));
  gst_harness_push_event(harness.get(), gst_event_new_flush_start());
  gst_harness_push_event(harness.get(), gst_event_new_flush_stop(TRUE));
  ASSERT_TRUE(harness.send_caps(kStream));
  ASSERT_EQ(harness.push(worked()), GST_FLOW_OK);
  const auto names = events_of(harness);
  EXPECT_EQ(std::ranges::count(names, "tag"), 1);
  EXPECT_EQ(std::ranges::count(names, "gap"), 0);
}

} // namespace
