// SPDX-License-Identifier: LGPL-2.1-or-later
// No allocation in steady state, and what the property stats says.
#include <gtest/gtest.h>

#include "element_harness.h"
#include "oracle/random_tensor.h"
#include "support/allocation_counter.h"
#include "tensor_text.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;
namespace oracle = simaai::oracle;

constexpr int kWarmUp = 10;
constexpr int kMeasured = 100;

struct Subject {
  const char* element;
  TensorSpec input;
};

/// Allocations while 100 buffers pass, after 10.
std::uint64_t allocations(const Subject& subject, bool several_memories) {
  ElementHarness harness(subject.element);
  EXPECT_TRUE(harness.send_caps(caps_of(subject.input)));
  const auto source = oracle::random_tensor(subject.input.shape, subject.input.dtype, 1);
  const Bytes bytes = physical(source, subject.input.layout);
  GstPtr<GstBuffer> input = buffer_of(bytes);
  if (several_memories) {
    input.reset(gst_buffer_append(
        gst_buffer_copy_region(input.get(), GST_BUFFER_COPY_ALL, 0, 4),
        gst_buffer_copy_region(input.get(), GST_BUFFER_COPY_ALL, 4, bytes.size() - 4)));
    EXPECT_EQ(gst_buffer_n_memory(input.get()), 2u);
  }
  std::uint64_t before = 0;
  for (int i = 0; i < kWarmUp + kMeasured; ++i) {
    if (i == kWarmUp)
      before = allocations_of_this_thread();
    EXPECT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK);
    harness.pull_buffer();
  }
  return allocations_of_this_thread() - before;
}

class SteadyStateOf : public testing::TestWithParam<Subject> {};

TEST_P(SteadyStateOf, AllocatesNoMoreThanIdentity) {
  // What the harness and GStreamer themselves allocate shows with core identity.
  const std::uint64_t around = allocations({"identity", GetParam().input}, false);
  EXPECT_LE(allocations(GetParam(), false), around);
  EXPECT_LE(allocations(GetParam(), true), around) << "with a merge copy";
}

const MlaTiled kTiled{{-1, 1, 2, 3}, {1, 4, 4, 16}, ChannelStorage::Compact};

INSTANTIATE_TEST_SUITE_P(
    Elements, SteadyStateOf,
    testing::Values(Subject{"simaaicast", {{1, 5, 6, 17}, DType::Float32}},
                    Subject{"simaaitess", {{1, 5, 6, 17}, DType::Int8}},
                    Subject{"simaaicasttess", {{1, 5, 6, 17}, DType::Float16}},
                    Subject{"simaaidetess", {{1, 5, 6, 17}, DType::BFloat16, kTiled}},
                    Subject{"simaaidetesscast", {{1, 5, 6, 17}, DType::BFloat16, kTiled}}),
    [](const auto& test) { return std::string(test.param.element); });

/// Allocations while 100 sets of 6 tensors pass, after 10.
std::uint64_t set_allocations(const char* element) {
  ElementHarness harness(element);
  std::string caps = "application/vnd.simaai.tensor-set,tensors=(structure)<";
  GstPtr<GstBuffer> input(gst_buffer_new());
  for (int i = 0; i < 6; ++i) {
    const TensorSpec spec{{1, 4, 5, 16}, DType::Float32};
    caps += (i != 0 ? ",[" : "[") + caps_of(spec) + "]";
    gst_buffer_append_memory(input.get(), gst_buffer_get_memory(buffer_of(Bytes(1280)).get(), 0));
  }
  EXPECT_TRUE(harness.send_caps(caps + ">"));
  std::uint64_t before = 0;
  for (int i = 0; i < kWarmUp + kMeasured; ++i) {
    if (i == kWarmUp)
      before = allocations_of_this_thread();
    EXPECT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK);
    harness.pull_buffer();
  }
  return allocations_of_this_thread() - before;
}

TEST(SteadyState, SetsAllocateNoMoreThanIdentity) {
  const std::uint64_t around = set_allocations("identity");
  for (const char* element : {"simaaicast", "simaaicasttess"})
    EXPECT_LE(set_allocations(element), around) << element;
}

TEST(AllocationCounter, SeesAnAllocation) {
  const std::uint64_t before = allocations_of_this_thread();
  GstPtr<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, 100000, nullptr));
  EXPECT_GT(allocations_of_this_thread(), before);
}

TEST(Stats, CountsFramesBytesAndTimes) {
  ElementHarness harness("simaaicast");
  ASSERT_TRUE(harness.send_caps(caps_of({{5, 7}, DType::Float32})));
  const Bytes input = physical(oracle::random_tensor({5, 7}, DType::Float32, 1), Contiguous{});
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(harness.push(input), GST_FLOW_OK);
    harness.pull_buffer();
  }
  EXPECT_EQ(harness.stat("frames"), 50u);
  EXPECT_EQ(harness.stat("bytes-in"), 50u * 140);
  EXPECT_EQ(harness.stat("bytes-out"), 50u * 70);
  EXPECT_EQ(harness.stat("copies"), 0u);
  EXPECT_EQ(harness.stat("allocations"), 1u) << "one output buffer is reused";
  EXPECT_GT(harness.stat("p50-ns"), 0u);
  EXPECT_LE(harness.stat("p50-ns"), harness.stat("p95-ns"));
  EXPECT_LE(harness.stat("p95-ns"), harness.stat("p99-ns"));
  EXPECT_LE(harness.stat("p99-ns"), harness.stat("max-ns"));
  GstStructure* raw = nullptr;
  g_object_get(harness.element(), "stats", &raw, nullptr);
  const GstPtr<GstStructure> stats(raw);
  EXPECT_TRUE(gst_structure_has_name(stats.get(), "simaai-stats"));
  EXPECT_STREQ(gst_structure_get_string(stats.get(), "memory"), "system");
  EXPECT_STREQ(gst_structure_get_string(stats.get(), "backend"), "a65");
}

TEST(Stats, StartOverWithTheElement) {
  ElementHarness harness("simaaicast");
  ASSERT_TRUE(harness.send_caps(caps_of({{4}, DType::Float32})));
  ASSERT_EQ(harness.push(Bytes(16)), GST_FLOW_OK);
  harness.pull_buffer();
  gst_element_set_state(harness.element(), GST_STATE_NULL);
  EXPECT_EQ(harness.stat("frames"), 1u) << "kept until the next start";
  gst_element_set_state(harness.element(), GST_STATE_PLAYING);
  EXPECT_EQ(harness.stat("frames"), 0u);
  EXPECT_EQ(harness.stat("allocations"), 0u);
}

} // namespace
