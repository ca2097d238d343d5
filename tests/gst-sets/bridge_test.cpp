// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensorbridge: spellings there and back, the same memories, refusals that name what others lack.
#include <gtest/gtest.h>

#include "gst/tensor_text.h"
#include "set_sample.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
using simaai::gst::GstPtr;

const std::string kTensor = "application/vnd.simaai.tensor,layout=contiguous";

std::string nns(int count, const std::string& dimensions, const std::string& types,
                const std::string& rate = "0/1") {
  return "other/tensors,format=static,num_tensors=" + std::to_string(count) +
         ",dimensions=(string)\"" + dimensions + "\",types=(string)\"" + types +
         "\",framerate=(fraction)" + rate;
}

bool same(const std::string& found, const std::string& wanted) {
  const GstPtr<GstCaps> a(gst_caps_from_string(found.c_str()));
  const GstPtr<GstCaps> b(gst_caps_from_string(wanted.c_str()));
  return a && b && gst_caps_is_equal(a.get(), b.get());
}

struct Spelling {
  const char* name;
  std::string ours;
  std::string theirs;
  bool there; ///< ours to theirs
  bool back;
};

std::vector<Spelling> spellings() {
  const std::vector<TensorSpec> three{
      {{1, 20, 10, 3}, DType::UInt8}, {{7}, DType::Float32}, {{2, 1}, DType::Int32}};
  return {
      {"Picture", kTensor + ",dtype=float32,shape=<1,640,480,3>", nns(1, "3:480:640:1", "float32"),
       true, true},
      {"TrailingOnesAreAxes", kTensor + ",dtype=int8,shape=<1,1,4,3>", nns(1, "3:4:1:1", "int8"),
       true, true},
      {"Framerate", kTensor + ",dtype=float16,shape=<5>,framerate=30/1",
       nns(1, "5", "float16", "30/1"), true, true},
      {"Set", set_caps(three), nns(3, "3:10:20:1,7,1:2", "uint8,float32,int32"), true, true},
      {"SixteenOnesAtTheEnd", kTensor + ",dtype=int8,shape=<1,1,1,1,2,3>",
       nns(1, "3:2:1:1:1:1:1:1:1:1:1:1:1:1:1:1", "int8"), false, true},
      {"Blanks", set_caps({{{2}, DType::Int8}, {{3}, DType::Int8}}), nns(2, "2, 3", "int8, int8"),
       false, true},
      {"Scalar", kTensor + ",dtype=float32,shape=<>", nns(1, "1", "float32"), true, false},
      {"DenseStrides",
       "application/"
       "vnd.simaai.tensor,dtype=float32,layout=strided,shape=<4,3>,strides=(gint64)<12,4>",
       nns(1, "3:4", "float32"), true, false},
      {"Strided", kTensor + ",dtype=bfloat16,shape=<1,4,3>,tensor-id=boxes",
       "tensor/strided,type=bfloat16,dims=<1,4,3>,dims-order=row-major,tensor-id=boxes", true,
       true},
      {"StridedScalar", kTensor + ",dtype=float32,shape=<>",
       "tensor/strided,type=float32,dims=<1>,dims-order=row-major", true, false},
      {"ColumnMajor", kTensor + ",dtype=int8,shape=<1,4,3>",
       "tensor/strided,type=int8,dims=<3,4,1>,dims-order=col-major", false, true},
      {"EmptyStrided", kTensor + ",dtype=int8,shape=<0,4>",
       "tensor/strided,type=int8,dims=<0,4>,dims-order=row-major", true, true},
  };
}

class BridgeSpellings : public testing::TestWithParam<Spelling> {};

TEST_P(BridgeSpellings, AreExchanged) {
  const Spelling& c = GetParam();
  if (c.there) {
    ElementHarness harness("simaaitensorbridge");
    harness.accept_downstream(c.theirs.substr(0, c.theirs.find(',')).c_str());
    ASSERT_TRUE(harness.send_caps(c.ours)) << testing::PrintToString(harness.take_errors());
    EXPECT_TRUE(same(harness.output_caps(), c.theirs)) << harness.output_caps();
  }
  if (c.back) {
    ElementHarness harness("simaaitensorbridge");
    harness.accept_downstream(c.ours.substr(0, c.ours.find(',')).c_str());
    ASSERT_TRUE(harness.send_caps(c.theirs)) << testing::PrintToString(harness.take_errors());
    EXPECT_TRUE(same(harness.output_caps(), c.ours)) << harness.output_caps();
  }
}

INSTANTIATE_TEST_SUITE_P(Bridge, BridgeSpellings, testing::ValuesIn(spellings()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Bridge, DownstreamMayFillUpDimensionsWithOnes) {
  for (const char* dimensions : {"3:4", "3:4:1:1", "3:4:1:1:1:1:1:1"}) {
    ElementHarness harness("simaaitensorbridge");
    harness.accept_downstream(nns(1, dimensions, "float32").c_str());
    ASSERT_TRUE(harness.send_caps(kTensor + ",dtype=float32,shape=<4,3>"))
        << testing::PrintToString(harness.take_errors());
    EXPECT_TRUE(same(harness.output_caps(), nns(1, dimensions, "float32")));
  }
}

TEST(Bridge, BuffersPassAsTheyAre) {
  ElementHarness plain("simaaitensorbridge");
  ASSERT_TRUE(plain.send_caps(kTensor + ",dtype=int8,shape=<4>"));
  auto one = buffer_of(Bytes{1, 2, 3, 4});
  GST_BUFFER_PTS(one.get()) = 7;
  const GstBuffer* same_one = one.get();
  ASSERT_EQ(plain.push(std::move(one)), GST_FLOW_OK);
  const auto out = plain.pull_buffer();
  EXPECT_EQ(out.get(), same_one);
  EXPECT_EQ(GST_BUFFER_PTS(out.get()), 7U);

  ElementHarness set("simaaitensorbridge");
  ASSERT_TRUE(set.send_caps(nns(2, "2,3", "int8,int8")));
  auto two = separate({Bytes{1, 2}, Bytes{3, 4, 5}});
  const GstBuffer* same_two = two.get();
  ASSERT_EQ(set.push(std::move(two)), GST_FLOW_OK);
  EXPECT_EQ(set.pull_buffer().get(), same_two);
}

TEST(Bridge, TensorsInOneMemoryGetOneEachWithoutACopy) {
  const std::vector<Bytes> parts{Bytes{1, 2}, Bytes{3, 4, 5}};
  const std::vector<TensorSpec> specs{{{2}, DType::Int8}, {{3}, DType::Int8}};
  for (const bool offsets : {true, false}) {
    const auto places = offsets ? offsets_of(parts, 8, 8) : packed_offsets(parts);
    ElementHarness harness("simaaitensorbridge");
    ASSERT_TRUE(
        harness.send_caps(set_caps(specs, offsets ? places : std::vector<std::uint64_t>{})));
    const auto input = together(parts, places);
    GST_BUFFER_PTS(input.get()) = 9;
    ASSERT_EQ(harness.push(GstPtr<GstBuffer>(gst_buffer_ref(input.get()))), GST_FLOW_OK);
    const auto output = harness.pull_buffer();
    ASSERT_EQ(gst_buffer_n_memory(output.get()), 2U);
    EXPECT_EQ(GST_BUFFER_PTS(output.get()), 9U);
    for (guint i = 0; i < 2; ++i) {
      EXPECT_EQ(memory_bytes(output.get(), i), parts[i]);
      EXPECT_EQ(gst_buffer_peek_memory(output.get(), i)->parent,
                gst_buffer_peek_memory(input.get(), 0));
    }
  }
}

/// Inputs with what lies between tensors, outputs without.
TEST(Bridge, StatsCountBytesOfBothSides) {
  const std::vector<Bytes> parts{Bytes{1, 2}, Bytes{3, 4, 5}};
  const std::vector<std::uint64_t> places{0, 8};
  ElementHarness harness("simaaitensorbridge");
  ASSERT_TRUE(harness.send_caps(set_caps({{{2}, DType::Int8}, {{3}, DType::Int8}}, places)));
  for (int i = 0; i < 3; ++i)
    ASSERT_EQ(harness.push(together(parts, places)), GST_FLOW_OK);
  EXPECT_EQ(harness.stat("frames"), 3U);
  EXPECT_EQ(harness.stat("bytes-in"), 3U * 11);
  EXPECT_EQ(harness.stat("bytes-out"), 3U * 5);
  EXPECT_EQ(harness.stat("copies"), 0U);
  EXPECT_EQ(harness.stat("allocations"), 0U);
  EXPECT_LE(harness.stat("p50-ns"), harness.stat("max-ns"));
}

TEST(Bridge, LongerBuffersAreCut) {
  ElementHarness harness("simaaitensorbridge");
  ASSERT_TRUE(harness.send_caps(kTensor + ",dtype=int8,shape=<4>"));
  ASSERT_EQ(harness.push(Bytes{1, 2, 3, 4, 5, 6}), GST_FLOW_OK);
  EXPECT_EQ(harness.pull(), (Bytes{1, 2, 3, 4}));
}

struct Refusal {
  const char* name;
  std::string caps;
  const char* downstream;
  std::vector<std::string> words;
};

std::vector<Refusal> refusals() {
  return {
      {"Tiles",
       caps_of({{1, 4, 4, 16},
                DType::Int8,
                tiled({-1, 1, 2, 3}, {1, 4, 4, 16}, ChannelStorage::Compact)}),
       "",
       {"mla-tiled", "contiguous tensors only"}},
      {"Gaps",
       set_caps({{{4}, DType::Int8}, {{4, 3}, DType::Float32, Strided{{16, 4}}}}),
       "",
       {"tensor 1", "strided", "contiguous tensors only"}},
      {"BFloat16Set",
       set_caps({{{4}, DType::Int8}, {{4}, DType::BFloat16}}),
       "",
       {"tensor 1", "bfloat16", "one tensor"}},
      {"BFloat16ForNnstreamer",
       kTensor + ",dtype=bfloat16,shape=<4>",
       "other/tensors",
       {"downstream cannot take", "other/tensors has no bfloat16"}},
      {"BFloat16AmongOthersForNnstreamer",
       set_caps({{{4}, DType::Int8}, {{4}, DType::BFloat16}}),
       "other/tensors",
       {"tensor 1: other/tensors has no bfloat16"}},
      {"EmptyForNnstreamer",
       kTensor + ",dtype=int8,shape=<0>",
       "other/tensors",
       {"other/tensors has no empty tensors"}},
      {"SetForStrided",
       set_caps({{{4}, DType::Int8}, {{2}, DType::Int8}}),
       "tensor/strided",
       {"tensor/strided is one tensor; the set has 2"}},
      {"SetForPlain",
       nns(2, "4,2", "int8,int8"),
       "application/vnd.simaai.tensor",
       {"a plain tensor cannot hold 2"}},
      {"OtherSpellingThatFits",
       kTensor + ",dtype=bfloat16,shape=<4>",
       "tensor/strided,type=int8",
       {"'type'", "downstream wants int8", "bfloat16"}},
      {"Float64", nns(1, "3", "float64"), "", {"'types'", "float64", "expected int8"}},
      {"SevenAxes", nns(1, "2:2:2:2:2:2:2", "int8"), "", {"'dimensions'", "six extents"}},
      {"NoNumbers", nns(1, "3:x", "int8"), "", {"'dimensions'", "3:x"}},
      {"Counts", nns(3, "3,4", "int8,int8"), "", {"2 dimensions", "num_tensors, 3"}},
      {"Seventeen", nns(17, "1", "int8"), "", {"'num_tensors'", "17", "1 to 16"}},
      {"Flexible",
       "other/tensors,format=flexible,framerate=30/1",
       "",
       {"'format'", "flexible", "expected static"}},
      {"StridedType",
       "tensor/strided,type=int4,dims=<3>,dims-order=row-major",
       "",
       {"'type'", "int4"}},
      {"StridedOrder",
       "tensor/strided,type=int8,dims=<3>,dims-order=diagonal",
       "",
       {"'dims-order'", "diagonal"}},
      {"StridedDims", "tensor/strided,type=int8,dims-order=row-major", "", {"'dims'", "array"}},
  };
}

class BridgeRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(BridgeRefusals, NameWhatIsLacking) {
  const Refusal& c = GetParam();
  ElementHarness harness("simaaitensorbridge");
  if (*c.downstream != '\0')
    harness.accept_downstream(c.downstream);
  EXPECT_FALSE(harness.send_caps(c.caps));
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U) << testing::PrintToString(errors);
  EXPECT_TRUE(mentions(errors[0], c.words)) << errors[0];
}

INSTANTIATE_TEST_SUITE_P(Bridge, BridgeRefusals, testing::ValuesIn(refusals()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Bridge, CopiesNothingAndSaysSo) {
  ElementHarness harness("simaaitensorbridge");
  ASSERT_TRUE(harness.send_caps(set_caps({{{4}, DType::Int8}, {{2}, DType::Int8}})));
  EXPECT_EQ(harness.push(separate({Bytes{1}, Bytes{2, 3, 4, 5, 6}})), GST_FLOW_ERROR);
  auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"tensor 0", "several memories", "copies nothing"})) << errors[0];
  EXPECT_EQ(harness.push(separate({Bytes{1}, Bytes{2}})), GST_FLOW_ERROR);
  errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"shorter", "needed: 6", "found: 2"})) << errors[0];
}

TEST(Bridge, CapsChangeWhilePlaying) {
  ElementHarness harness("simaaitensorbridge");
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(harness.send_caps(kTensor + ",dtype=int8,shape=<4>"));
    ASSERT_EQ(harness.push(Bytes(4)), GST_FLOW_OK);
    EXPECT_TRUE(mentions(harness.output_caps(), {"other/tensors"}));
    ASSERT_TRUE(harness.send_caps(nns(1, "4", "int8")));
    ASSERT_EQ(harness.push(Bytes(4)), GST_FLOW_OK);
    EXPECT_TRUE(mentions(harness.output_caps(), {"application/vnd.simaai.tensor,"}));
  }
}

} // namespace
