// SPDX-License-Identifier: LGPL-2.1-or-later
// A process that has no descriptors left: the element says so before its flow ends, and goes on when there are some again.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sample.h"
#include "support/descriptor_limit.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;

/// Buffers that a consumer keeps, until an element fails.
GstFlowReturn keep_until_it_fails(ElementHarness& harness, const Bytes& input,
                                  std::vector<GstPtr<GstBuffer>>& kept) {
  for (int i = 0; i < 200; ++i) {
    if (const GstFlowReturn flow = harness.push(input); flow != GST_FLOW_OK)
      return flow;
    kept.emplace_back(gst_harness_pull(harness.get()));
  }
  return GST_FLOW_OK;
}

/// Op elements: outputs of the element's own pool, on the host and on the device, one job at a time and four.
TEST(Descriptors, OfOutputsAreMissedAloud) {
  const Sample sample;
  struct {
    const char* backend;
    const char* depth;
  } const cases[] = {{"a65", "1"}, {"ev74", "1"}, {"ev74", "4"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(std::string(one.backend) + " " + one.depth);
    ElementHarness harness("simaaicast", {{"backend", one.backend}, {"async-depth", one.depth}});
    const auto allocator = simaai::gst::new_fd_allocator();
    gst_harness_set_propose_allocator(harness.get(),
                                      GST_ALLOCATOR_CAST(gst_object_ref(allocator.get())), nullptr);
    ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
    std::vector<GstPtr<GstBuffer>> kept;
    ASSERT_EQ(harness.push(sample.input), GST_FLOW_OK);
    kept.emplace_back(gst_harness_pull(harness.get()));
    (void)harness.take_messages();
    EXPECT_NE(text_stat(harness, "memory"), "system");
    {
      const DescriptorLimit limit(6);
      EXPECT_EQ(keep_until_it_fails(harness, sample.input, kept), GST_FLOW_ERROR);
    }
    // On a device the job needs some too, and it may be the one that misses them.
    const auto errors = harness.take_errors();
    ASSERT_FALSE(errors.empty());
    const bool of_job = std::string(one.backend) == "ev74" &&
                        mentions(errors[0], {"simaaicast", "refused the job", "packet:"});
    EXPECT_TRUE(of_job || mentions(errors[0], {"no memory for an output buffer", "630",
                                               "Too many open files"}))
        << errors[0];
    kept.clear();
    ASSERT_EQ(harness.push(sample.input), GST_FLOW_OK);
    const GstPtr<GstBuffer> output(gst_harness_pull(harness.get()));
    EXPECT_EQ(bytes_of(output.get()), sample.output);
  }
}

/// The block that an input has to be copied to.
TEST(Descriptors, OfCopiesAreMissedAloud) {
  const Sample sample;
  ElementHarness harness("simaaicast", {{"backend", "ev74"}, {"min-buffers", "2"}});
  ASSERT_TRUE(harness.send_caps(caps_of(kInput)));
  ASSERT_EQ(harness.push(fd_buffer(sample.input)), GST_FLOW_OK); // makes the pool
  (void)harness.pull();
  (void)harness.take_messages();
  {
    const DescriptorLimit limit(0);
    EXPECT_EQ(harness.push(sample.input), GST_FLOW_ERROR);
  }
  const auto errors = harness.take_errors();
  ASSERT_FALSE(errors.empty());
  EXPECT_TRUE(mentions(errors[0], {"out of memory for the device", "Too many open files"}))
      << errors[0];
  ASSERT_EQ(harness.push(sample.input), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), sample.output);
}

} // namespace
