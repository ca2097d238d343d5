// SPDX-License-Identifier: LGPL-2.1-or-later
// Sets over time: caps that change, pools, consumers that keep memories, shared input, metas, allocations.
#include <gtest/gtest.h>

#include "common/gstsimaaitensorpool.h"
#include "gst/tensor_text.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "set_sample.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;

void expect_outputs(const SetSample& sample, GstBuffer* buffer) {
  ASSERT_NE(buffer, nullptr);
  ASSERT_EQ(gst_buffer_n_memory(buffer), sample.outputs.size());
  for (guint i = 0; i < sample.outputs.size(); ++i)
    EXPECT_TRUE(sample.is_output(i, memory_bytes(buffer, i))) << "tensor " << i;
}

TEST(SetLifecycle, SizesChangeInEveryState) {
  ElementHarness harness("simaaicasttess");
  std::uint64_t seed = 0;
  for (const GstState state : {GST_STATE_PLAYING, GST_STATE_PAUSED, GST_STATE_READY}) {
    for (const std::size_t count : {1U, 16U, 3U, 3U, 7U}) {
      ++seed;
      const auto members = random_members("simaaicasttess", count, seed);
      harness.accept_downstream(set_caps(outputs_of(members)).c_str());
      ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))))
          << testing::PrintToString(harness.take_errors());
      for (int round = 0; round < 2; ++round) {
        const SetSample sample(members, ++seed);
        ASSERT_EQ(harness.push(separate(sample.inputs)), GST_FLOW_OK);
        expect_outputs(sample, harness.pull_buffer().get());
      }
      gst_element_set_state(harness.element(), state);
      if (state == GST_STATE_READY)
        gst_element_set_state(harness.element(), GST_STATE_PLAYING);
    }
  }
}

TEST(SetLifecycle, PlainTensorsAndSetsTakeTurns) {
  const TensorSpec plain{{3, 5}, DType::Float32};
  const auto values = simaai::oracle::random_tensor(plain.shape, plain.dtype, 2);
  const Bytes wanted = physical(simaai::oracle::convert(values, DType::BFloat16), Contiguous{});
  const std::vector<Member> members{{plain, {{3, 5}, DType::BFloat16}},
                                    {{{7}, DType::BFloat16}, {{7}, DType::Float32}}};
  ElementHarness harness("simaaicast");
  for (int round = 0; round < 4; ++round) {
    ASSERT_TRUE(harness.send_caps(caps_of(plain)));
    ASSERT_EQ(harness.push(physical(values, Contiguous{})), GST_FLOW_OK);
    EXPECT_EQ(harness.pull(), wanted);
    ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
    const SetSample sample(members, 3);
    ASSERT_EQ(harness.push(separate(sample.inputs)), GST_FLOW_OK);
    expect_outputs(sample, harness.pull_buffer().get());
  }
}

/// The next caps of another size come while the last set is still with its consumer.
TEST(SetLifecycle, BuffersOutliveCapsAndStates) {
  const auto members = random_members("simaaidetesscast", 6, 4);
  const SetSample sample(members, 4);
  GstPtr<GstBuffer> kept;
  {
    ElementHarness harness("simaaidetesscast");
    harness.accept_downstream(set_caps(outputs_of(members)).c_str());
    ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
    ASSERT_EQ(harness.push(separate(sample.inputs)), GST_FLOW_OK);
    kept = harness.pull_buffer();
    const auto others = random_members("simaaidetesscast", 2, 5);
    harness.accept_downstream(set_caps(outputs_of(others)).c_str());
    ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(others))));
    ASSERT_EQ(harness.push(separate(SetSample(others, 5).inputs)), GST_FLOW_OK);
    gst_element_set_state(harness.element(), GST_STATE_NULL);
  }
  expect_outputs(sample, kept.get());
}

TEST(SetLifecycle, StateCyclesKeepWorking) {
  const auto members = random_members("simaaicast", 4, 6);
  const SetSample sample(members, 6);
  ElementHarness harness("simaaicast");
  harness.accept_downstream(set_caps(outputs_of(members)).c_str());
  for (int cycle = 0; cycle < 300; ++cycle) {
    ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members)))) << cycle;
    ASSERT_EQ(harness.push(separate(sample.inputs)), GST_FLOW_OK) << cycle;
    const auto kept = harness.pull_buffer();
    gst_element_set_state(harness.element(), cycle % 2 == 0 ? GST_STATE_READY : GST_STATE_NULL);
    expect_outputs(sample, kept.get());
    gst_element_set_state(harness.element(), GST_STATE_PLAYING);
  }
}

TEST(SetPool, HandsOutABufferWhoseMemoriesAreBackOnly) {
  const auto members = random_members("simaaicast", 3, 7);
  const SetSample first(members, 7);
  ElementHarness harness("simaaicast");
  harness.accept_downstream(set_caps(outputs_of(members)).c_str());
  ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
  // A consumer of one tensor keeps its memory and lets the set go, as a demultiplexer does.
  GstPtr<GstBuffer> one(gst_buffer_new());
  ASSERT_EQ(harness.push(separate(first.inputs)), GST_FLOW_OK);
  {
    const auto set = harness.pull_buffer();
    gst_buffer_append_memory(one.get(), gst_buffer_get_memory(set.get(), 1));
  }
  for (std::uint64_t round = 1; round <= 5; ++round) {
    const SetSample sample(members, 20 + round);
    ASSERT_EQ(harness.push(separate(sample.inputs)), GST_FLOW_OK);
    expect_outputs(sample, harness.pull_buffer().get());
    EXPECT_TRUE(first.is_output(1, memory_bytes(one.get(), 0))) << "overwritten";
  }
  EXPECT_EQ(harness.stat("allocations"), 2U);
  // The memory comes back: from now on two sets can be out without a third.
  one.reset();
  std::vector<GstPtr<GstBuffer>> out;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(harness.push(separate(first.inputs)), GST_FLOW_OK);
    out.push_back(harness.pull_buffer());
  }
  EXPECT_EQ(harness.stat("allocations"), 2U);
}

TEST(SetPool, AtItsLimitWaitsForMemoriesThatWereLent) {
  const auto pool = simaai::gst::new_tensor_pool();
  const GstPtr<GstCaps> caps(
      gst_caps_from_string(set_caps({{{8}, DType::Float32}, {{3}, DType::Float32}}).c_str()));
  ASSERT_TRUE(simaai::gst::configure_pool(pool.get(), caps.get(), 44, 0, 1));
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  GstBuffer* raw = nullptr;
  ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &raw, nullptr), GST_FLOW_OK);
  ASSERT_EQ(gst_buffer_n_memory(raw), 2U);
  GstBuffer* holder = gst_buffer_new();
  gst_buffer_append_memory(holder, gst_buffer_get_memory(raw, 0));
  gst_buffer_unref(raw);
  GstBufferPoolAcquireParams now{};
  now.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &raw, &now), GST_FLOW_EOS);
  GThread* releaser = g_thread_new(
      "releaser",
      [](gpointer buffer) -> gpointer {
        g_usleep(20000);
        gst_buffer_unref(static_cast<GstBuffer*>(buffer));
        return nullptr;
      },
      holder);
  ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &raw, nullptr), GST_FLOW_OK);
  g_thread_join(releaser);
  EXPECT_EQ(simaai::gst::pool_allocations(pool.get()), 1U);
  gst_buffer_unref(raw);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

TEST(SetPool, ProposedUpstreamHasAMemoryForEachTensor) {
  const auto members = random_members("simaaidetesscast", 5, 9);
  const SetSample sample(members, 9);
  ElementHarness harness("simaaidetesscast", {{"require-zero-copy", "true"}});
  const std::string text = set_caps(inputs_of(members));
  ASSERT_TRUE(harness.send_caps(text));
  const GstPtr<GstCaps> caps(gst_caps_from_string(text.c_str()));
  const GstPtr<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
  ASSERT_TRUE(gst_pad_peer_query(harness.get()->srcpad, query.get()));
  ASSERT_EQ(gst_query_get_n_allocation_pools(query.get()), 1U);
  GstBufferPool* raw = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &raw, nullptr, nullptr, nullptr);
  const GstPtr<GstBufferPool> pool(raw);
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  GstBuffer* buffer = nullptr;
  ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
  ASSERT_EQ(gst_buffer_n_memory(buffer), 5U);
  for (guint i = 0; i < 5; ++i)
    EXPECT_EQ(gst_buffer_peek_memory(buffer, i)->size, sample.inputs[i].size());
  gst_buffer_unref(buffer);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

TEST(SetInput, SharedAndReadOnlyIsLeftAlone) {
  const auto members = random_members("simaaicast", 4, 10);
  const SetSample sample(members, 10);
  ElementHarness harness("simaaicast", {{"require-zero-copy", "true"}});
  harness.accept_downstream(set_caps(outputs_of(members)).c_str());
  ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
  const auto buffer = separate(sample.inputs);
  for (guint i = 0; i < 4; ++i)
    GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(buffer.get(), i), GST_MEMORY_FLAG_READONLY);
  // Two branches of a tee.
  const GstPtr<GstBuffer> other(gst_buffer_copy(buffer.get()));
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(buffer.get()))), GST_FLOW_OK);
    expect_outputs(sample, harness.pull_buffer().get());
  }
  for (guint i = 0; i < 4; ++i)
    EXPECT_EQ(memory_bytes(other.get(), i), sample.inputs[i]);
  EXPECT_EQ(harness.stat("copies"), 0U);
}

TEST(SetInput, CopiesAreCountedForEachTensorThatNeedsOne) {
  const std::vector<Member> members{{{{3}, DType::BFloat16}, {{3}, DType::Float32}},
                                    {{{4}, DType::Float32}, {{4}, DType::BFloat16}},
                                    {{{2}, DType::Float32}, {{2}, DType::BFloat16}}};
  ElementHarness harness("simaaicast");
  ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
  for (std::uint64_t round = 1; round <= 4; ++round) {
    const SetSample sample(members, round);
    // Behind six bytes float32 starts at an odd half; both such tensors are copied.
    ASSERT_EQ(harness.push(together(sample.inputs, packed_offsets(sample.inputs))), GST_FLOW_OK);
    expect_outputs(sample, harness.pull_buffer().get());
    EXPECT_EQ(harness.stat("copies"), 2 * round);
  }
}

TEST(SetInput, TimesFlagsAndCapsFeaturesPass) {
  const auto members = random_members("simaaicast", 2, 12);
  const SetSample sample(members, 12);
  ElementHarness harness("simaaicast");
  ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
  auto buffer = separate(sample.inputs);
  GST_BUFFER_PTS(buffer.get()) = 3 * GST_SECOND;
  GST_BUFFER_DURATION(buffer.get()) = GST_MSECOND;
  GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_MARKER);
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
  const auto out = harness.pull_buffer();
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 3 * GST_SECOND);
  EXPECT_EQ(GST_BUFFER_DURATION(out.get()), GST_MSECOND);
  EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_MARKER));
}

} // namespace
