// SPDX-License-Identifier: LGPL-2.1-or-later
// What the library refuses: tensors and sets that cannot be, by the same rules as the elements, with the same answer from each call.
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "library_support.h"

namespace simaai::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Info tensor(GstSimaaiDtype dtype, gint extent, gint64 offset = -1, const char* id = nullptr) {
  Info info(gst_simaai_tensor_info_new(dtype, &extent, 1));
  gst_simaai_tensor_info_set_offset(info.get(), offset);
  gst_simaai_tensor_info_set_tensor_id(info.get(), id);
  return info;
}

/// Whether a tensor can be, which all calls answer alike; the reason where not.
std::string problem_of(const Info& info) {
  Reason size;
  Reason caps;
  guint64 bytes = 77;
  const bool sized = gst_simaai_tensor_info_get_size(info.get(), &bytes, &size) != FALSE;
  const GstPtr<GstCaps> made(gst_simaai_tensor_info_to_caps(info.get(), &caps));
  EXPECT_EQ(sized, made != nullptr);
  EXPECT_EQ(size.text(), caps.text());
  EXPECT_EQ(sized, bytes != 77);
  EXPECT_EQ(size.code(), sized ? -1 : static_cast<int>(GST_SIMAAI_ERROR_TENSOR));
  const Set set(gst_simaai_tensor_set_new());
  EXPECT_TRUE(gst_simaai_tensor_set_append(set.get(), info.get()));
  Reason in_set;
  const GstPtr<GstCaps> of_set(gst_simaai_tensor_set_to_caps(set.get(), &in_set));
  EXPECT_EQ(sized, of_set != nullptr);
  EXPECT_TRUE(sized || mentions(in_set.text(), {"tensor 0", size.text()})) << in_set.text();
  return size.text();
}

/// The same of a set.
std::string problem_of(const Set& set) {
  Reason size;
  Reason caps;
  guint64 bytes = 77;
  const bool sized = gst_simaai_tensor_set_get_size(set.get(), &bytes, &size) != FALSE;
  const GstPtr<GstCaps> made(gst_simaai_tensor_set_to_caps(set.get(), &caps));
  EXPECT_EQ(sized, made != nullptr) << size.text() << caps.text();
  EXPECT_EQ(size.text(), caps.text());
  EXPECT_EQ(sized, bytes != 77);
  return size.text();
}

TEST(LibraryRefusal, QuantizationThatNoElementTakes) {
  const Info info = tensor(GST_SIMAAI_DTYPE_INT8, 4);
  for (const double scale : {0.0, -0.0, -1.0, kInfinity, -kInfinity, std::nan("")}) {
    gst_simaai_tensor_info_set_quantization(info.get(), scale, 0);
    EXPECT_TRUE(mentions(problem_of(info), {"'quant-scale'", "finite number above 0"})) << scale;
  }
  for (const gint zero_point : {-129, 128, G_MAXINT, G_MININT}) {
    gst_simaai_tensor_info_set_quantization(info.get(), 0.5, zero_point);
    EXPECT_TRUE(mentions(problem_of(info),
                         {"'quant-zero-point' is " + std::to_string(zero_point), "-128 to 127"}));
  }
  for (const gint zero_point : {-128, 127}) {
    gst_simaai_tensor_info_set_quantization(info.get(), std::numeric_limits<float>::min(),
                                            zero_point);
    EXPECT_EQ(problem_of(info), "");
  }
  gst_simaai_tensor_info_set_quantization(info.get(), 0, 0);
  gst_simaai_tensor_info_unset_quantization(info.get());
  EXPECT_EQ(problem_of(info), "");
}

TEST(LibraryRefusal, NamesThatCapsCannotHave) {
  const Info info = tensor(GST_SIMAAI_DTYPE_INT8, 4, -1, "caf\xe9");
  EXPECT_TRUE(mentions(problem_of(info), {"'tensor-id'", "UTF-8"}));
  // Whatever else: text and back.
  for (const char* id : {"a:0", "two words", "\"quoted\" \\ ;,[]<>(){}=", "caf\xc3\xa9",
                         "line\nline", "(int)5", "5", "true"}) {
    gst_simaai_tensor_info_set_tensor_id(info.get(), id);
    EXPECT_EQ(problem_of(info), "") << id;
    const GstPtr<GstCaps> caps(gst_simaai_tensor_info_to_caps(info.get(), nullptr));
    const Info again = info_of(text_of(caps.get()));
    ASSERT_NE(again, nullptr) << id;
    EXPECT_STREQ(gst_simaai_tensor_info_get_tensor_id(again.get()), id);
  }
}

TEST(LibraryRefusal, FrameratesBelowZero) {
  const Info info = tensor(GST_SIMAAI_DTYPE_INT8, 4);
  const Set set(gst_simaai_tensor_set_new());
  gst_simaai_tensor_set_append(set.get(), info.get());
  const Set plain = set_of("application/vnd.simaai.tensor,dtype=int8,shape=<4>,layout=contiguous");
  const std::array<std::array<gint, 2>, 5> rates{
      {{-30, 1}, {30, -1}, {-30, -1}, {G_MININT, 1}, {1, G_MININT}}};
  for (const auto [numerator, denominator] : rates) {
    gst_simaai_tensor_info_set_framerate(info.get(), numerator, denominator);
    gst_simaai_tensor_set_set_framerate(set.get(), numerator, denominator);
    gst_simaai_tensor_set_set_framerate(plain.get(), numerator, denominator);
    const std::string found = std::to_string(numerator) + "/" + std::to_string(denominator);
    for (const std::string& problem : {problem_of(info), problem_of(set), problem_of(plain)})
      EXPECT_TRUE(mentions(problem, {"'framerate' is " + found, "from 0/1"})) << problem;
  }
  gst_simaai_tensor_info_set_framerate(info.get(), 0, 1);
  gst_simaai_tensor_set_set_framerate(set.get(), 0, 1);
  gst_simaai_tensor_set_set_framerate(plain.get(), -1, 0); // none
  EXPECT_EQ(problem_of(info), "");
  EXPECT_EQ(problem_of(set), "");
  EXPECT_EQ(problem_of(plain), "");
}

TEST(LibraryRefusal, OffsetsInSomeTensorsOnly) {
  using Offsets = std::vector<gint64>;
  for (const Offsets& offsets : {Offsets{0, -1}, Offsets{-1, 0}, Offsets{64, -1, 128}}) {
    const Set set(gst_simaai_tensor_set_new());
    for (const gint64 offset : offsets)
      gst_simaai_tensor_set_append(set.get(), tensor(GST_SIMAAI_DTYPE_INT8, 4, offset).get());
    EXPECT_TRUE(mentions(problem_of(set), {"'offset' is missing", "every tensor of the set"}));
    const GstPtr<GstBuffer> buffer = buffer_of(Bytes(256));
    GstSimaaiTensorMap map;
    Reason reason;
    EXPECT_FALSE(
        gst_simaai_tensor_set_map(set.get(), buffer.get(), 1, GST_MAP_READ, &map, &reason));
    EXPECT_TRUE(mentions(reason.text(), {"'offset' is missing"}));
  }
  const Info below = tensor(GST_SIMAAI_DTYPE_INT8, 4, -2);
  EXPECT_EQ(gst_simaai_tensor_info_get_offset(below.get()), -2);
  EXPECT_TRUE(mentions(problem_of(below), {"'offset' is -2", "from 0"}));
}

/// What is written: as outputs of elements.
TEST(LibraryRefusal, OffsetsOfASetThatIsMadeHere) {
  struct Case {
    gint64 first;
    gint64 second;
    std::vector<std::string> mentions; ///< none: it can be
  };
  const Case cases[] = {
      {0, 1, {"tensor 1 (b)", "'offset' is 1", "multiple of 4"}},
      {8, 14, {"tensor 1 (b)", "'offset' is 14", "multiple of 4"}},
      {0, 4, {"tensor 1 (b)", "bytes 4 to 11", "tensor 0", "apart"}},
      {4, 0, {"tensor 1 (b)", "bytes 0 to 7", "tensor 0", "apart"}},
      {0, 0, {"tensor 1 (b)", "bytes 0 to 7", "tensor 0"}},
      {0, 8, {}},
      {9, 0, {}},
      {7, 64, {}},
      {0, G_MAXINT64, {"tensor 1 (b)", "4294967295"}},
  };
  for (const Case& one : cases) {
    const Set set(gst_simaai_tensor_set_new());
    gst_simaai_tensor_set_append(set.get(), tensor(GST_SIMAAI_DTYPE_INT8, 5, one.first).get());
    gst_simaai_tensor_set_append(set.get(),
                                 tensor(GST_SIMAAI_DTYPE_FLOAT32, 2, one.second, "b").get());
    const std::string problem = problem_of(set);
    EXPECT_EQ(problem.empty(), one.mentions.empty()) << problem;
    EXPECT_TRUE(mentions(problem, one.mentions)) << problem;
  }
  // An empty tensor is nowhere.
  const Set set(gst_simaai_tensor_set_new());
  gst_simaai_tensor_set_append(set.get(), tensor(GST_SIMAAI_DTYPE_INT8, 5, 0).get());
  gst_simaai_tensor_set_append(set.get(), tensor(GST_SIMAAI_DTYPE_FLOAT32, 0, 1).get());
  EXPECT_EQ(problem_of(set), "");
}

/// What is read may be as inputs of elements, which take any offsets; it is not written, and no pool makes it.
TEST(LibraryRefusal, OffsetsOfCapsOfOthers) {
  const std::string apart =
      set_caps("dtype=int8,shape=<5>,offset=(gint64)0", "dtype=float32,shape=<2>,offset=(gint64)6");
  const std::string over =
      set_caps("dtype=int8,shape=<5>,offset=(gint64)0", "dtype=float32,shape=<2>,offset=(gint64)4");
  for (const auto& [text, words] :
       {std::pair(apart, "'offset' is 6"), std::pair(over, "bytes 4 to 11")}) {
    const Set set = set_of(text);
    EXPECT_EQ(problem_of(set), "");
    const GstPtr<GstBuffer> buffer = buffer_of(Bytes(14));
    GBytes* read = gst_simaai_tensor_set_read(set.get(), buffer.get(), 1, nullptr);
    ASSERT_NE(read, nullptr);
    Reason reason;
    EXPECT_FALSE(gst_simaai_tensor_set_write(set.get(), buffer.get(), 1, read, &reason));
    EXPECT_EQ(reason.code(), GST_SIMAAI_ERROR_TENSOR);
    EXPECT_TRUE(mentions(reason.text(), {"tensor 1", words})) << reason.text();
    g_bytes_unref(read);
    GstSimaaiTensorMap map;
    EXPECT_FALSE(
        gst_simaai_tensor_set_map(set.get(), buffer.get(), 0, GST_MAP_WRITE, &map, &reason));
    EXPECT_TRUE(mentions(reason.text(), {"tensor 1", words})) << reason.text();
    EXPECT_EQ(gst_simaai_pool_new(caps_of(text).get(), nullptr, 0, 0, &reason), nullptr);
    EXPECT_TRUE(mentions(reason.text(), {"tensor 1", words})) << reason.text();
    // One more tensor makes it a set of ours.
    const Set more(gst_simaai_tensor_set_copy(set.get()));
    gst_simaai_tensor_set_append(more.get(), tensor(GST_SIMAAI_DTYPE_INT8, 1, 100).get());
    EXPECT_TRUE(mentions(problem_of(more), {"tensor 1", words}));
  }
}

/// A tensor of a set that shares a memory, alone.
TEST(LibraryRefusal, ATensorAloneHasNoOffset) {
  const Set set = set_of(
      set_caps("dtype=int8,shape=<5>,offset=(gint64)0", "dtype=int32,shape=<3>,offset=(gint64)64"));
  const Info second(gst_simaai_tensor_set_get_tensor(set.get(), 1));
  EXPECT_EQ(gst_simaai_tensor_info_get_offset(second.get()), 64);
  const GstPtr<GstCaps> caps(gst_simaai_tensor_info_to_caps(second.get(), nullptr));
  ASSERT_NE(caps, nullptr);
  EXPECT_EQ(text_of(caps.get()), "application/vnd.simaai.tensor, dtype=(string)int32, "
                                 "shape=(int)< 3 >, layout=(string)contiguous");
  EXPECT_TRUE(GstPtr<GstBufferPool>(gst_simaai_pool_new(caps.get(), nullptr, 0, 0, nullptr)));
  EXPECT_TRUE(Set(gst_simaai_tensor_set_new_from_caps(caps.get(), nullptr)));
  // It keeps its place for a set.
  EXPECT_EQ(gst_simaai_tensor_info_get_offset(second.get()), 64);
  // Caps of a plain tensor with one are refused by each reader.
  const auto wrong = caps_of(std::string(kMember) + "dtype=int8,shape=<5>,offset=(gint64)4");
  Reason one;
  Reason any;
  EXPECT_EQ(gst_simaai_tensor_info_new_from_caps(wrong.get(), &one), nullptr);
  EXPECT_EQ(gst_simaai_tensor_set_new_from_caps(wrong.get(), &any), nullptr);
  EXPECT_EQ(one.text(), any.text());
  EXPECT_TRUE(mentions(one.text(), {"'offset' belongs to tensors of a set"}));
}

TEST(LibraryRefusal, CapsThatAreNotFixed) {
  const std::string plain = std::string(kMember) + "dtype=int8,shape=<5>";
  for (const char* rest : {";application/vnd.simaai.tensor,dtype=int8,shape=<5>,layout=contiguous",
                           ",framerate=[0/1,30/1]", ",unknown={1,2}"}) {
    const std::string text = plain + rest;
    const auto caps = caps_of(text);
    Reason reason;
    EXPECT_EQ(gst_simaai_tensor_info_new_from_caps(caps.get(), &reason), nullptr) << text;
    EXPECT_EQ(gst_simaai_tensor_set_new_from_caps(caps.get(), &reason), nullptr) << text;
    EXPECT_EQ(reason.code(), GST_SIMAAI_ERROR_CAPS);
    EXPECT_EQ(gst_simaai_pool_new(caps.get(), nullptr, 0, 0, &reason), nullptr) << text;
    EXPECT_TRUE(mentions(reason.text(), {"expected"})) << reason.text();
  }
}

/// The fields that setters refuse are refused in caps too, by the library and by the elements, which read them with the same code.
TEST(LibraryRefusal, TheSameFieldsInCaps) {
  for (const char* field : {"quant-scale=0.0", "quant-scale=-1.0", "quant-scale=inf",
                            "quant-zero-point=128", "framerate=-30/1"}) {
    const std::string member = std::string(kMember) + "dtype=int8,shape=<5>," + field;
    const std::string name(field, std::string(field).find('='));
    Reason reason;
    EXPECT_EQ(gst_simaai_tensor_info_new_from_caps(caps_of(member).get(), &reason), nullptr);
    EXPECT_TRUE(mentions(reason.text(), {"'" + name + "' is", "expected"})) << reason.text();
    const auto set =
        caps_of("application/vnd.simaai.tensor-set,tensors=(structure)<[" + member + "]>");
    EXPECT_EQ(gst_simaai_tensor_set_new_from_caps(set.get(), &reason), nullptr);
    EXPECT_TRUE(mentions(reason.text(), {"tensor 0", "'" + name + "' is"})) << reason.text();
  }
  const auto set =
      caps_of("application/vnd.simaai.tensor-set,framerate=-25/1,tensors=(structure)<[" +
              std::string(kMember) + "dtype=int8,shape=<5>]>");
  Reason reason;
  EXPECT_EQ(gst_simaai_tensor_set_new_from_caps(set.get(), &reason), nullptr);
  EXPECT_TRUE(mentions(reason.text(), {"'framerate' is -25/1", "from 0/1"})) << reason.text();
}

} // namespace
} // namespace simaai::test
