// SPDX-License-Identifier: LGPL-2.1-or-later
// Sets through every op element, bit for bit against the oracle, in every form that a buffer can have; exact copies.
#include <algorithm>

#include <gtest/gtest.h>

#include "gst/tensor_text.h"
#include "set_sample.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;
using simaai::gst::MapGuard;

struct Subject {
  const char* element;
  std::size_t count;
};

std::uint32_t alignment(const TensorSpec& spec) {
  const bool linear = std::holds_alternative<Contiguous>(spec.layout) ||
                      std::holds_alternative<Strided>(spec.layout);
  return linear ? scalar_bytes(spec.dtype) : 16;
}

/// Parts that cannot be used where they are.
std::uint64_t misaligned(const std::vector<TensorSpec>& specs,
                         const std::vector<std::uint64_t>& offsets) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < specs.size(); ++i)
    count += offsets[i] % alignment(specs[i]) != 0 ? 1U : 0U;
  return count;
}

/// Refused where no tensor has a use for it.
void set_fill(ElementHarness& harness, const std::string& element,
              const std::vector<Member>& members) {
  const bool has_int8 = std::any_of(members.begin(), members.end(), [](const Member& member) {
    return member.input.dtype == DType::Int8;
  });
  if (element == "simaaitess" && has_int8)
    gst_util_set_object_arg(G_OBJECT(harness.element()), "int8-channel-padding",
                            std::to_string(kFill).c_str());
}

void expect_separate(const SetSample& sample, GstBuffer* buffer) {
  ASSERT_NE(buffer, nullptr);
  ASSERT_EQ(gst_buffer_n_memory(buffer), sample.outputs.size());
  for (guint i = 0; i < sample.outputs.size(); ++i) {
    EXPECT_TRUE(sample.is_output(i, memory_bytes(buffer, i))) << "tensor " << i;
    const MapGuard map(gst_buffer_peek_memory(buffer, i), GST_MAP_READ);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map.data()) % 64, 0U) << "tensor " << i;
  }
}

class SetData : public testing::TestWithParam<Subject> {};

TEST_P(SetData, SeparateMemoriesEqualTheOracle) {
  const auto& [element, count] = GetParam();
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const auto members = random_members(element, count, seed);
    ElementHarness harness(element, {{"require-zero-copy", "true"}});
    set_fill(harness, element, members);
    harness.accept_downstream(set_caps(outputs_of(members)).c_str());
    ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))))
        << seed << testing::PrintToString(harness.take_errors());
    std::uint64_t bytes_in = 0;
    for (int round = 0; round < 3; ++round) {
      const SetSample sample(members, seed + 10 * static_cast<std::uint64_t>(round));
      ASSERT_EQ(harness.push(separate(sample.inputs)), GST_FLOW_OK)
          << testing::PrintToString(harness.take_errors());
      expect_separate(sample, harness.pull_buffer().get());
      for (const Bytes& input : sample.inputs)
        bytes_in += input.size();
    }
    EXPECT_EQ(harness.stat("frames"), 3U);
    EXPECT_EQ(harness.stat("copies"), 0U);
    EXPECT_EQ(harness.stat("allocations"), 1U) << "one buffer, reused";
    EXPECT_EQ(harness.stat("bytes-in"), bytes_in);
  }
}

TEST_P(SetData, OffsetsInOneMemoryEqualTheOracle) {
  const auto& [element, count] = GetParam();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto members = random_members(element, count, seed);
    const SetSample sample(members, seed);
    const auto offsets = offsets_of(sample.inputs, 16, 48);
    const auto places = offsets_of(sample.outputs, 32, 32);
    ElementHarness harness(element, {{"require-zero-copy", "true"}});
    set_fill(harness, element, members);
    harness.accept_downstream(set_caps(outputs_of(members), places).c_str());
    ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members), offsets)))
        << testing::PrintToString(harness.take_errors());
    ASSERT_EQ(harness.push(together(sample.inputs, offsets)), GST_FLOW_OK)
        << testing::PrintToString(harness.take_errors());
    const auto buffer = harness.pull_buffer();
    ASSERT_TRUE(buffer);
    ASSERT_EQ(gst_buffer_n_memory(buffer.get()), 1U);
    const Bytes whole = memory_bytes(buffer.get(), 0);
    ASSERT_EQ(whole.size(), places.back() + sample.outputs.back().size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(places[i]);
      EXPECT_TRUE(sample.is_output(
          i, Bytes(begin, begin + static_cast<std::ptrdiff_t>(sample.outputs[i].size()))));
    }
    EXPECT_EQ(harness.stat("copies"), 0U);
  }
}

TEST_P(SetData, MergedBuffersAreReadAtCumulativeSizes) {
  const auto& [element, count] = GetParam();
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto members = random_members(element, count, seed);
    const SetSample sample(members, seed);
    ElementHarness harness(element);
    set_fill(harness, element, members);
    harness.accept_downstream(set_caps(outputs_of(members)).c_str());
    ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
    const auto offsets = packed_offsets(sample.inputs);
    ASSERT_EQ(harness.push(together(sample.inputs, offsets)), GST_FLOW_OK);
    expect_separate(sample, harness.pull_buffer().get());
    EXPECT_EQ(harness.stat("copies"), misaligned(inputs_of(members), offsets));
  }
}

/// Producers that append more memories than a buffer holds do not learn that it merged them.
TEST_P(SetData, BuffersThatMergedTheirMemoriesLoseNothing) {
  const auto& [element, count] = GetParam();
  const auto members = random_members(element, count, 5);
  const SetSample sample(members, 5);
  Bytes all;
  for (const Bytes& part : sample.inputs)
    all.insert(all.end(), part.begin(), part.end());
  GstPtr<GstBuffer> buffer(gst_buffer_new());
  const std::size_t step = all.size() / 40 + 1;
  for (std::size_t at = 0; at < all.size(); at += step) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
    gst_buffer_append_memory(buffer.get(),
                             memory_of(Bytes(begin, begin + static_cast<std::ptrdiff_t>(
                                                                std::min(step, all.size() - at)))));
  }
  ASSERT_LE(gst_buffer_n_memory(buffer.get()), 16U);
  ElementHarness harness(element);
  set_fill(harness, element, members);
  harness.accept_downstream(set_caps(outputs_of(members)).c_str());
  ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
  ASSERT_EQ(harness.push(std::move(buffer)), GST_FLOW_OK);
  expect_separate(sample, harness.pull_buffer().get());
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const char* element :
       {"simaaicast", "simaaitess", "simaaicasttess", "simaaidetess", "simaaidetesscast"})
    for (const std::size_t count : {1U, 2U, 6U, 15U, 16U})
      all.push_back({element, count});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Elements, SetData, testing::ValuesIn(subjects()), [](const auto& test) {
  return std::string(test.param.element) + std::to_string(test.param.count);
});

/// Boxes and classes at three scales, as detectors give them.
std::vector<Member> heads() {
  std::vector<Member> members;
  for (const std::int64_t size : {40, 20, 10})
    for (const std::int64_t channels : {64, 80}) {
      const Shape shape{1, size, size, channels};
      members.push_back(
          {{shape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 8, 8, 16}, ChannelStorage::PadTo16)},
           {shape, DType::Float32}});
    }
  return members;
}

TEST(SetHeads, OfADetectorPassInBothForms) {
  const auto members = heads();
  const SetSample sample(members, 3);
  for (const bool one_memory : {false, true}) {
    const auto offsets = offsets_of(sample.inputs, 4096);
    ElementHarness harness("simaaidetesscast", {{"require-zero-copy", "true"}});
    ASSERT_TRUE(harness.send_caps(
        set_caps(inputs_of(members), one_memory ? offsets : std::vector<std::uint64_t>{})));
    ASSERT_EQ(harness.push(one_memory ? together(sample.inputs, offsets) : separate(sample.inputs)),
              GST_FLOW_OK);
    expect_separate(sample, harness.pull_buffer().get());
    EXPECT_EQ(harness.stat("copies"), 0U);
  }
}

TEST(SetHeads, GoIntoOneMemoryOnRequest) {
  const auto members = heads();
  const SetSample sample(members, 4);
  const auto places = offsets_of(sample.outputs, 64);
  ElementHarness harness("simaaidetesscast", {{"single-memory", "true"}});
  ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
  const std::string caps = harness.output_caps();
  for (const std::uint64_t place : places)
    EXPECT_TRUE(mentions(caps, {"offset=(gint64)" + std::to_string(place)})) << caps;
  ASSERT_EQ(harness.push(separate(sample.inputs)), GST_FLOW_OK);
  const auto buffer = harness.pull_buffer();
  ASSERT_EQ(gst_buffer_n_memory(buffer.get()), 1U);
  const Bytes whole = memory_bytes(buffer.get(), 0);
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(places[i]);
    EXPECT_EQ(Bytes(begin, begin + static_cast<std::ptrdiff_t>(sample.outputs[i].size())),
              sample.outputs[i]);
  }
}

TEST(SetForms, EmptyTensorsHaveAPlace) {
  const std::vector<Member> members{
      {{{0, 3}, DType::Float32}, {{0, 3}, DType::BFloat16}},
      {{{4, 3}, DType::Float32}, {{4, 3}, DType::BFloat16}},
      {{{5, 0}, DType::BFloat16}, {{5, 0}, DType::Float32}},
  };
  const SetSample sample(members, 1);
  for (const bool merged : {false, true}) {
    ElementHarness harness("simaaicast");
    ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
    ASSERT_EQ(harness.push(merged ? together(sample.inputs, packed_offsets(sample.inputs))
                                  : separate(sample.inputs)),
              GST_FLOW_OK);
    const auto buffer = harness.pull_buffer();
    ASSERT_EQ(gst_buffer_n_memory(buffer.get()), 3U);
    for (guint i = 0; i < 3; ++i)
      EXPECT_EQ(memory_bytes(buffer.get(), i), sample.outputs[i]);
  }
}

TEST(SetForms, LongerMemoriesAndOtherSplitsAreRead) {
  const auto members = random_members("simaaicasttess", 3, 8);
  const SetSample sample(members, 8);
  ElementHarness harness("simaaicasttess");
  harness.accept_downstream(set_caps(outputs_of(members)).c_str());
  ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
  auto longer = sample.inputs;
  for (Bytes& part : longer)
    part.resize(part.size() + 100, 0xcc);
  ASSERT_EQ(harness.push(separate(longer)), GST_FLOW_OK);
  expect_separate(sample, harness.pull_buffer().get());
  EXPECT_EQ(harness.stat("copies"), 0U);
  // As many memories as tensors, but cut elsewhere: the first is too short for its tensor.
  Bytes all;
  for (const Bytes& part : sample.inputs)
    all.insert(all.end(), part.begin(), part.end());
  const Bytes first(all.begin(), all.begin() + 1);
  const Bytes second(all.begin() + 1, all.begin() + 2);
  const Bytes rest(all.begin() + 2, all.end());
  ASSERT_EQ(harness.push(separate({first, second, rest})), GST_FLOW_OK);
  expect_separate(sample, harness.pull_buffer().get());
}

} // namespace
