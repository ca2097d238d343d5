// SPDX-License-Identifier: LGPL-2.1-or-later
// Sets that cannot work: one error, which names the tensor, what was found and what was expected.
#include <gtest/gtest.h>

#include "gst/tensor_text.h"
#include "set_sample.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;

constexpr const char* kTensor =
    "[application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<2,3>";

std::string repeated(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i)
    all += (i != 0 ? "," : "") + text;
  return all;
}

std::string set_of(const std::string& tensors) {
  return "application/vnd.simaai.tensor-set,tensors=(structure)<" + tensors + ">";
}

struct Refusal {
  const char* name;
  const char* element;
  std::string caps;
  std::string downstream; ///< empty: anything
  std::vector<std::string> mentions;
};

const std::string kPlain = std::string(kTensor) + "]";
const std::string kNamed = std::string(kTensor) + ",tensor-id=boxes]";

std::vector<Refusal> refusals() {
  const std::string with_offset = std::string(kTensor) + ",offset=(gint64)";
  return {
      {"Seventeen",
       "simaaicast",
       set_of(repeated(17, kPlain)),
       "",
       {"'tensors'", "17 entries", "1 to 16", "merges"}},
      {"ThirtyTwo", "simaaicast", set_of(repeated(32, kPlain)), "", {"32 entries", "1 to 16"}},
      {"None", "simaaicast", set_of(""), "", {"'tensors'", "0 entries", "1 to 16"}},
      {"NoArray",
       "simaaicast",
       "application/vnd.simaai.tensor-set",
       "",
       {"'tensors'", "missing", "array of 1 to 16 structures"}},
      {"OneStructure",
       "simaaicast",
       "application/vnd.simaai.tensor-set,tensors=" + kPlain,
       "",
       {"'tensors'", "GstStructure", "array of 1 to 16 structures"}},
      {"Numbers",
       "simaaicast",
       "application/vnd.simaai.tensor-set,tensors=<1,2>",
       "",
       {"'tensors' entry 0", "gint", "structures"}},
      {"OtherStructure",
       "simaaicast",
       set_of(kPlain + ",[video/x-raw,format=RGB]"),
       "",
       {"tensor 1", "'video/x-raw'", "'application/vnd.simaai.tensor'"}},
      {"Nested",
       "simaaicast",
       set_of(kPlain + ",[application/vnd.simaai.tensor-set]"),
       "",
       {"tensor 1", "'application/vnd.simaai.tensor-set'"}},
      {"NoShape",
       "simaaicast",
       set_of(kPlain + ",[application/vnd.simaai.tensor,dtype=float32,layout=contiguous]"),
       "",
       {"tensor 1", "'shape'", "missing"}},
      {"OffsetInSome",
       "simaaicast",
       set_of(with_offset + "0]," + kNamed),
       "",
       {"tensor 1 (boxes)", "'offset'", "every tensor of the set, or in none"}},
      {"OffsetNegative",
       "simaaicast",
       set_of(with_offset + "-4]"),
       "",
       {"tensor 0", "'offset'", "-4", "from 0"}},
      {"OffsetDouble",
       "simaaicast",
       set_of(std::string(kTensor) + ",offset=4.0]"),
       "",
       {"tensor 0", "'offset'", "gdouble"}},
      {"FramerateNegative",
       "simaaicast",
       "application/vnd.simaai.tensor-set,framerate=-30/1,tensors=(structure)<" + kPlain + ">",
       "",
       {"'framerate' is -30/1", "from 0/1"}},
      {"QuantScaleZero",
       "simaaicast",
       set_of(kPlain + "," + std::string(kTensor) + ",quant-scale=0.0]"),
       "",
       {"tensor 1", "'quant-scale' is 0", "above 0"}},
      {"OffsetOutsideSets",
       "simaaicast",
       "application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<2,3>,offset=(gint64)4",
       "",
       {"'offset'", "tensors of a set"}},
      {"OffsetBeyondPool",
       "simaaicast",
       set_of(with_offset + "4294967280]"),
       "",
       {"tensor 0", "4294967304 bytes", "4294967295"}},
      {"OffsetOverflow",
       "simaaicast",
       set_of(with_offset + "9223372036854775807]"),
       "",
       {"tensor 0", "4294967295"}},
      {"SumBeyondPool",
       "simaaicast",
       set_of(repeated(3, "[application/vnd.simaai.tensor,dtype=float32,layout=contiguous,"
                          "shape=<20000,20000>]")),
       "",
       {"tensor 2", "4800000000 bytes", "4294967295"}},
      {"UnsuitableDtype",
       "simaaicasttess",
       set_of(kPlain + ",[application/vnd.simaai.tensor,dtype=int8,layout=contiguous,shape=<4>]"),
       "",
       {"tensor 1", "'dtype'", "found int8", "accepted"}},
      {"UnsuitableLayout",
       "simaaidetesscast",
       set_of("[application/vnd.simaai.tensor,dtype=bfloat16,layout=contiguous,shape=<4>]"),
       "",
       {"tensor 0", "'layout'", "found contiguous"}},
      {"RankForAxes",
       "simaaicasttess",
       set_of(kPlain + "," + kNamed),
       set_of("[application/vnd.simaai.tensor],[application/vnd.simaai.tensor,layout=mla-tiled,"
              "tile-axes=<-1,1,2,3>]"),
       {"tensor 1 (boxes)", "axis", "rank 2"}},
      {"CountDownstream",
       "simaaicast",
       set_of(kPlain + "," + kPlain),
       set_of(repeated(3, "[application/vnd.simaai.tensor]")),
       {"'tensors'", "downstream wants 3 structures", "offers 2 structures"}},
      {"DtypeDownstream",
       "simaaicast",
       set_of(kPlain + "," + kNamed),
       set_of("[application/vnd.simaai.tensor],[application/vnd.simaai.tensor,dtype=int8]"),
       {"tensor 1 (boxes)", "'dtype'", "downstream wants int8", "offers bfloat16"}},
      {"RankDownstream",
       "simaaicast",
       set_of(kPlain),
       set_of("[application/vnd.simaai.tensor,shape=<1,2,3>]"),
       {"tensor 0", "'shape'", "downstream wants < (int)1, (int)2, (int)3 >",
        "offers < (int)2, (int)3 >"}},
      {"PlainDownstream",
       "simaaicast",
       set_of(kPlain),
       "application/vnd.simaai.tensor",
       {"media type", "downstream wants application/vnd.simaai.tensor,",
        "offers application/vnd.simaai.tensor-set"}},
      {"OutputsOverlap",
       "simaaicast",
       set_of(kPlain + "," + kNamed),
       set_of("[application/vnd.simaai.tensor,offset=(gint64)0],[application/vnd.simaai.tensor,"
              "offset=(gint64)10]"),
       {"source caps", "tensor 1 (boxes)", "bytes 10 to 21", "tensor 0 too"}},
      {"OutputMisaligned",
       "simaaicasttess",
       set_of(kPlain),
       set_of("[application/vnd.simaai.tensor,offset=(gint64)8]"),
       {"source caps", "tensor 0", "'offset' is 8", "multiple of 16"}},
  };
}

class SetRefusals : public testing::TestWithParam<Refusal> {};

TEST_P(SetRefusals, OneErrorNamesTheReason) {
  const Refusal& c = GetParam();
  ElementHarness harness(c.element);
  if (!c.downstream.empty())
    harness.accept_downstream(c.downstream.c_str());
  EXPECT_FALSE(harness.send_caps(c.caps));
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U) << testing::PrintToString(errors);
  EXPECT_TRUE(mentions(errors[0], c.mentions)) << errors[0];
}

INSTANTIATE_TEST_SUITE_P(Elements, SetRefusals, testing::ValuesIn(refusals()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(SetRefusal, OfAPadWithoutFillNamesTheTensor) {
  ElementHarness harness("simaaitess", {{"channel-storage", "pad16"}});
  EXPECT_FALSE(harness.send_caps(set_caps({{{4, 3}, DType::BFloat16}, {{4, 3}, DType::Int8}})));
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"tensor 1", "int8-channel-padding"})) << errors[0];
}

TEST(SetRefusal, OfAFillWithoutInt8IsThatOfAPlainTensor) {
  ElementHarness harness("simaaitess", {{"int8-channel-padding", "3"}});
  EXPECT_FALSE(harness.send_caps(set_caps({{{4, 3}, DType::BFloat16}})));
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"tensor 0", "int8-channel-padding", "bfloat16"})) << errors[0];
}

TEST(SetRefusal, OfShortBuffersTellsBytes) {
  const auto members = random_members("simaaicast", 3, 2);
  const SetSample sample(members, 2);
  ElementHarness harness("simaaicast");
  ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members))));
  auto parts = sample.inputs;
  std::size_t needed = 0;
  for (const Bytes& part : parts)
    needed += part.size();
  parts.back().pop_back();
  EXPECT_EQ(harness.push(separate(parts)), GST_FLOW_ERROR);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"shorter than its caps", "needed: " + std::to_string(needed),
                                   "found: " + std::to_string(needed - 1)}))
      << errors[0];
}

TEST(SetRefusal, OfCopiesUnderRequireZeroCopy) {
  const auto members = random_members("simaaidetesscast", 2, 3);
  const SetSample sample(members, 2);
  ElementHarness harness("simaaidetesscast", {{"require-zero-copy", "true"}});
  const auto offsets = offsets_of(sample.inputs, 4, 4);
  ASSERT_TRUE(harness.send_caps(set_caps(inputs_of(members), offsets)));
  EXPECT_EQ(harness.push(together(sample.inputs, offsets)), GST_FLOW_ERROR);
  const auto errors = harness.take_errors();
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_TRUE(mentions(errors[0], {"input", "not aligned", "require-zero-copy"})) << errors[0];
}

/// Caps of sets as people write them.
TEST(SetSpellings, AreRead) {
  const std::string one = "application/vnd.simaai.tensor, dtype=float32, layout=contiguous";
  for (const std::string& caps : {
           "application/vnd.simaai.tensor-set,tensors=<[" + one + ",shape=<2,3>],[" + one +
               ",shape=<>]>",
           "application/vnd.simaai.tensor-set, tensors=(GstStructure)< [ " + one +
               ", shape=(int)< 2, 3 >;], [ " + one + ", shape=<> ] >",
           "application/vnd.simaai.tensor-set(memory:SystemMemory), framerate=30/1, "
           "tensors=(structure)<[" +
               one + ",shape=<2,3>,tensor-id=(string)\"a b\"],[" + one + ",shape=<>]>",
           "application/vnd.simaai.tensor-set,tensors=(structure)<[" + one +
               ",shape=<2,3>,offset=0],[" + one + ",shape=<>,offset=(gint64)64]>",
           "application/vnd.simaai.tensor-set(memory:DMABuf),tensors=(structure)<[" + one +
               ",shape=<2,3>],[" + one + ",shape=<>]>",
       }) {
    ElementHarness harness("simaaicast");
    EXPECT_TRUE(harness.send_caps(caps)) << caps << testing::PrintToString(harness.take_errors());
    EXPECT_TRUE(mentions(harness.output_caps(), {"dtype=(string)bfloat16", "tensors=(structure)<"}))
        << harness.output_caps();
  }
}

TEST(SetSpellings, OfOptionalFieldsPass) {
  ElementHarness harness("simaaicasttess");
  ASSERT_TRUE(harness.send_caps(
      "application/vnd.simaai.tensor-set,framerate=25/1,camera=left,tensors=(structure)<"
      "[application/vnd.simaai.tensor,dtype=float32,layout=contiguous,shape=<2,3>,"
      "tensor-id=boxes,note=seven],"
      "[application/"
      "vnd.simaai.tensor,dtype=float16,layout=contiguous,shape=<5>,tensor-id=(string)\"0:1\"]>"));
  EXPECT_TRUE(mentions(harness.output_caps(),
                       {"framerate=(fraction)25/1", "camera=(string)left",
                        "tensor-id=(string)boxes", "note=(string)seven", "tensor-id=(string)0:1"}))
      << harness.output_caps();
}

TEST(SetSpellings, DownstreamChoosesAmongSets) {
  ElementHarness harness("simaaicast");
  harness.accept_downstream(
      (set_of("[application/vnd.simaai.tensor,dtype=int8]") + ";" +
       set_of("[application/vnd.simaai.tensor],[application/vnd.simaai.tensor,layout=strided]") +
       ";" + set_of("[application/vnd.simaai.tensor],[application/vnd.simaai.tensor]"))
          .c_str());
  ASSERT_TRUE(harness.send_caps(set_of(kPlain + "," + kNamed)))
      << testing::PrintToString(harness.take_errors());
  EXPECT_TRUE(
      mentions(harness.output_caps(),
               {"layout=(string)contiguous", "layout=(string)strided", "strides=(gint64)< 6, 2 >"}))
      << harness.output_caps();
}

} // namespace
