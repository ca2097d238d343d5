// SPDX-License-Identifier: LGPL-2.1-or-later
// What streams bring besides single buffers: lists, gaps, seeks with a flush, reverse playback. On the host, on the device with one job at
// a time and with four in flight.
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "element_harness.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "tensor_text.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;
namespace oracle = simaai::oracle;

const TensorSpec kInput{{9}, DType::Float32};

struct Sample {
  explicit Sample(std::uint64_t seed)
      : values(oracle::random_tensor(kInput.shape, kInput.dtype, seed)),
        input(physical(values, Contiguous{})),
        output(physical(oracle::convert(values, DType::BFloat16), Contiguous{})) {}
  oracle::Tensor values;
  Bytes input;
  Bytes output;
};

struct Way {
  const char* backend;
  const char* depth;
};

/// simaaicast with everything that leaves it, in order.
class Stream : public testing::TestWithParam<Way> {
protected:
  Stream()
      : cast_("simaaicast", {{"backend", GetParam().backend}, {"async-depth", GetParam().depth}}) {
    gst_pad_add_probe(cast_.get()->sinkpad,
                      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER |
                                                   GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                   GST_PAD_PROBE_TYPE_EVENT_FLUSH),
                      note, this, nullptr);
    EXPECT_TRUE(cast_.send_caps(caps_of(kInput)));
  }

  static GstPtr<GstBuffer> buffer(std::uint64_t seed, GstClockTime pts) {
    auto made = buffer_of(Sample(seed).input);
    GST_BUFFER_PTS(made.get()) = pts;
    GST_BUFFER_DURATION(made.get()) = GST_SECOND;
    return made;
  }
  void segment(double rate) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.rate = rate;
    segment.stop = 100 * GST_SECOND;
    EXPECT_TRUE(gst_harness_push_event(cast_.get(), gst_event_new_segment(&segment)));
  }
  /// Everything in flight leaves.
  void drain() {
    const GstPtr<GstQuery> query(gst_query_new_drain());
    (void)gst_pad_peer_query(cast_.get()->srcpad, query.get());
  }
  void expect_output(std::uint64_t seed, GstClockTime pts, bool gap = false) {
    const GstPtr<GstBuffer> output(gst_harness_pull(cast_.get()));
    ASSERT_TRUE(output);
    EXPECT_EQ(bytes_of(output.get()), Sample(seed).output) << seed;
    EXPECT_EQ(GST_BUFFER_PTS(output.get()), pts) << seed;
    EXPECT_EQ(GST_BUFFER_FLAG_IS_SET(output.get(), GST_BUFFER_FLAG_GAP) != FALSE, gap) << seed;
  }
  std::vector<std::string> seen() {
    const std::lock_guard lock(mutex_);
    return std::exchange(seen_, {});
  }

  ElementHarness cast_;

private:
  static GstPadProbeReturn note(GstPad*, GstPadProbeInfo* info, gpointer data) noexcept {
    auto& self = *static_cast<Stream*>(data);
    const std::lock_guard lock(self.mutex_);
    if ((GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) != 0)
      self.seen_.emplace_back("buffer");
    else
      self.seen_.emplace_back(GST_EVENT_TYPE_NAME(GST_PAD_PROBE_INFO_EVENT(info)));
    return GST_PAD_PROBE_OK;
  }

  std::mutex mutex_; ///< the task of a source pad pushes too
  std::vector<std::string> seen_;
};

TEST_P(Stream, ListsAreTakenBufferByBuffer) {
  GstBufferList* list = gst_buffer_list_new();
  for (std::uint64_t i = 0; i < 6; ++i)
    gst_buffer_list_add(list, buffer(i, i * GST_SECOND).release());
  EXPECT_EQ(gst_pad_push_list(cast_.get()->srcpad, list), GST_FLOW_OK);
  drain();
  for (std::uint64_t i = 0; i < 6; ++i)
    expect_output(i, i * GST_SECOND);
  EXPECT_EQ(cast_.stat("frames"), 6U);
}

TEST_P(Stream, GapsKeepTheirPlace) {
  (void)seen();
  EXPECT_EQ(cast_.push(buffer(1, 0)), GST_FLOW_OK);
  EXPECT_TRUE(gst_harness_push_event(cast_.get(), gst_event_new_gap(GST_SECOND, GST_SECOND)));
  auto gap = buffer(2, 2 * GST_SECOND);
  GST_BUFFER_FLAG_SET(gap.get(), GST_BUFFER_FLAG_GAP);
  EXPECT_EQ(cast_.push(std::move(gap)), GST_FLOW_OK);
  drain();
  EXPECT_EQ(seen(), (std::vector<std::string>{"buffer", "gap", "buffer"}));
  expect_output(1, 0);
  expect_output(2, 2 * GST_SECOND, true);
}

TEST_P(Stream, SeeksGoUpAndTheirFlushStartsOver) {
  GstEvent* seek = gst_event_new_seek(-1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
                                      GST_SECOND, GST_SEEK_TYPE_SET, 5 * GST_SECOND);
  const guint32 number = gst_event_get_seqnum(seek);
  EXPECT_EQ(cast_.push(buffer(7, 0)), GST_FLOW_OK);
  EXPECT_TRUE(gst_harness_push_upstream_event(cast_.get(), seek));
  GstPtr<GstEvent> came;
  while (!came || GST_EVENT_TYPE(came.get()) != GST_EVENT_SEEK) {
    came.reset(gst_harness_try_pull_upstream_event(cast_.get()));
    ASSERT_TRUE(came) << "the seek did not reach upstream";
  }
  EXPECT_EQ(gst_event_get_seqnum(came.get()), number);

  EXPECT_TRUE(gst_harness_push_event(cast_.get(), gst_event_new_flush_start()));
  EXPECT_TRUE(gst_harness_push_event(cast_.get(), gst_event_new_flush_stop(TRUE)));
  while (GstBuffer* before = gst_harness_try_pull(cast_.get()))
    gst_buffer_unref(before);
  (void)seen();
  // Backwards: the last frame first, in a segment that says so.
  segment(-1.0);
  for (std::uint64_t i = 5; i > 0; --i)
    EXPECT_EQ(cast_.push(buffer(i, i * GST_SECOND)), GST_FLOW_OK);
  drain();
  const auto passed = seen();
  ASSERT_EQ(passed.size(), 6U) << testing::PrintToString(passed);
  EXPECT_EQ(passed[0], "segment");
  for (std::uint64_t i = 5; i > 0; --i)
    expect_output(i, i * GST_SECOND);
  const GstPtr<GstEvent> now(gst_pad_get_sticky_event(cast_.get()->sinkpad, GST_EVENT_SEGMENT, 0));
  const GstSegment* kept = nullptr;
  gst_event_parse_segment(now.get(), &kept);
  EXPECT_EQ(kept->rate, -1.0);
  EXPECT_TRUE(cast_.take_errors().empty());
}

INSTANTIATE_TEST_SUITE_P(Ways, Stream,
                         testing::Values(Way{"a65", "1"}, Way{"ev74", "1"}, Way{"ev74", "4"}),
                         [](const auto& way) {
                           return std::string(way.param.backend) + "_" + way.param.depth;
                         });

} // namespace
