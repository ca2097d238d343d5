// SPDX-License-Identifier: LGPL-2.1-or-later
// simaainpysink: files of every dtype, rank and layout, series, messages and failures.
#include <array>

#include <gtest/gtest.h>

#include "oracle/linear.h"
#include "oracle/npy.h"
#include "oracle/random_tensor.h"
#include "run.h"

namespace {

using namespace simaai;
using namespace simaai::test;
using kernels::DType;
using kernels::Shape;

constexpr const char* kName = "application/vnd.simaai.tensor,";

constexpr std::array<std::pair<DType, const char*>, 6> kDTypes{{{DType::Int8, "int8"},
                                                                {DType::UInt8, "uint8"},
                                                                {DType::Int32, "int32"},
                                                                {DType::Float16, "float16"},
                                                                {DType::BFloat16, "bfloat16"},
                                                                {DType::Float32, "float32"}}};

std::string shape_field(const Shape& shape) {
  std::string text = "shape=(int)<";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    text += (axis == 0 ? "" : ",") + std::to_string(shape[axis]);
  return text + (shape.rank() == 0 ? " >" : ">");
}

Bytes stored(const oracle::Tensor& tensor, const kernels::Layout& layout) {
  Bytes bytes(oracle::linear_span(tensor.shape, tensor.dtype, layout), 0xee);
  oracle::scatter(tensor, layout, bytes.data());
  return bytes;
}

TEST(Sink, EveryDtypeAndRank) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  const std::array<Shape, 9> shapes{Shape{},
                                    Shape{7},
                                    Shape{3, 5},
                                    Shape{2, 3, 5},
                                    Shape{1, 4, 3, 5},
                                    Shape{2, 1, 3, 2, 4},
                                    Shape{2, 1, 2, 3, 2, 2},
                                    Shape{0},
                                    Shape{3, 0, 2}};
  for (const auto& [dtype, name] : kDTypes)
    for (const auto& shape : shapes) {
      const auto tensor = oracle::random_tensor(shape, dtype, 80);
      const Outcome outcome = run_sink(
          {{"location", path}},
          {{std::string(kName) + "dtype=" + name + ",layout=contiguous," + shape_field(shape),
            stored(tensor, kernels::Contiguous{})}});
      ASSERT_EQ(outcome.error, "");
      EXPECT_EQ(oracle::read_npy(path), tensor) << name << shape_field(shape);
      EXPECT_EQ(folder.files(), std::vector<std::string>{"a.npy"});
    }
}

TEST(Sink, HeaderByteForByte) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  const auto check = [&](const char* fields, const Bytes& payload, const std::string& dictionary) {
    ASSERT_EQ(run_sink({{"location", path}}, {{std::string(kName) + fields, payload}}).error, "");
    std::string expected("\x93NUMPY\x01\x00\x76\x00", 10);
    expected += dictionary;
    expected.resize(127, ' ');
    expected += '\n';
    expected.append(payload.begin(), payload.end());
    const Bytes file = read_file(path);
    EXPECT_EQ(std::string(file.begin(), file.end()), expected);
  };
  check("dtype=bfloat16,layout=contiguous,shape=<2>", {1, 2, 3, 4},
        "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }");
  check("dtype=float32,layout=contiguous,shape=(int)< >", {1, 2, 3, 4},
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), }");
  check("dtype=int8,layout=contiguous,shape=<1,2,2>", {1, 2, 3, 4},
        "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 2, 2), }");
}

TEST(Sink, StridedTensorsAreWrittenInLogicalOrder) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  struct Case {
    Shape shape;
    std::array<std::int64_t, 6> strides; // elements
  };
  const std::array cases{
      Case{Shape{3, 5}, {8, 1}},                           // rows with a gap
      Case{Shape{3, 5}, {1, 3}},                           // Fortran order
      Case{Shape{2, 3, 4}, {1, 2, 6}},                     // Fortran order
      Case{Shape{2, 3, 4}, {40, 1, 5}},                    // swapped inner axes and a gap
      Case{Shape{1, 4, 3, 5}, {1, 15, 5, 1}},              // dense but for a singleton
      Case{Shape{2, 1, 3, 2, 4}, {24, 1, 8, 4, 1}},        // dense
      Case{Shape{2, 2, 2, 3, 2, 2}, {1, 2, 4, 8, 24, 48}}, // all reversed
      Case{Shape{6}, {3}},                                 // every third
      Case{Shape{0, 4}, {4, 1}},                           // empty
  };
  for (const auto& [dtype, name] : kDTypes)
    for (const auto& [shape, elements] : cases) {
      const auto tensor = oracle::random_tensor(shape, dtype, 81);
      kernels::Strided layout;
      std::string strides;
      for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        layout.strides_bytes[axis] = elements[axis] * kernels::scalar_bytes(dtype);
        strides += (axis == 0 ? "" : ",") + std::to_string(layout.strides_bytes[axis]);
      }
      const Outcome outcome = run_sink(
          {{"location", path}}, {{std::string(kName) + "dtype=" + name + ",layout=strided," +
                                      shape_field(shape) + ",strides=(gint64)<" + strides + ">",
                                  stored(tensor, layout)}});
      ASSERT_EQ(outcome.error, "");
      EXPECT_EQ(oracle::read_npy(path), tensor) << name << shape_field(shape) << strides;
    }
}

TEST(Sink, StatsTellCopiesFromConversions) {
  const TempFolder folder;
  const std::string path = folder.path("a%d.npy");
  const std::string dense = std::string(kName) + "dtype=int8,layout=contiguous,shape=<2,2>";
  const std::string gaps =
      std::string(kName) + "dtype=int8,layout=strided,shape=<2,2>,strides=(gint64)<3,1>";
  const Outcome outcome =
      run_sink({{"location", path}},
               {{dense, {1, 2, 3, 4}}, {dense, {1, 2, 3, 4}, 3}, {gaps, {1, 2, 0, 3, 4}}});
  ASSERT_EQ(outcome.error, "");
  for (const char* name : {"a0.npy", "a1.npy", "a2.npy"})
    EXPECT_EQ(oracle::read_npy(folder.path(name)).bits, (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(stat(outcome, "frames"), 3U);
  EXPECT_EQ(stat(outcome, "bytes-in"), 4U + 4U + 5U);
  EXPECT_EQ(stat(outcome, "bytes-out"), 3U * (128 + 4)); // headers of 128 bytes
  EXPECT_EQ(stat(outcome, "copies"), 1U);                // of the buffer in two memories
  EXPECT_EQ(stat(outcome, "conversions"), 1U);           // of the one with gaps
  EXPECT_EQ(stat(outcome, "allocations"), 1U);           // to put that in order
}

TEST(Sink, TiledTensorsAreWrittenAsPhysicalBytes) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  Bytes physical(80);
  for (std::size_t i = 0; i < physical.size(); ++i)
    physical[i] = static_cast<std::uint8_t>(7 * i);
  Bytes longer = physical;
  longer.resize(100);
  const std::string caps = std::string(kName) +
                           "dtype=bfloat16,shape=<2,17>,layout=mla-tiled,tile-axes=<-1,-1,0,1>,"
                           "tile-shape=<1,1,2,16>,channel-storage=compact";
  ASSERT_EQ(run_sink({{"location", path}}, {{caps, longer}}).error, "");
  EXPECT_EQ(oracle::read_npy_bytes(path), physical) << "bytes beyond the tensor are left out";
}

TEST(Sink, SeriesIndexAndMessages) {
  const TempFolder folder;
  const std::string caps = std::string(kName) + "dtype=uint8,layout=contiguous,shape=<1>";
  const Outcome outcome =
      run_sink({{"location", folder.path("f%04d.npy")}, {"index", "9"}, {"post-messages", "true"}},
               {{caps, {1}}, {caps, {2}}, {caps, {3}}});
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"f0009.npy", "f0010.npy", "f0011.npy"}));
  ASSERT_EQ(outcome.messages.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const GstStructure* message = outcome.messages[i].get();
    EXPECT_STREQ(gst_structure_get_name(message), "simaai-npy-file");
    int index = 0;
    EXPECT_TRUE(gst_structure_get_int(message, "index", &index));
    EXPECT_EQ(index, 9 + static_cast<int>(i));
    const std::string path = gst_structure_get_string(message, "filename");
    EXPECT_EQ(read_file(path).back(), i + 1);
    guint64 time = 0;
    for (const char* field : {"timestamp", "running-time", "stream-time"}) {
      EXPECT_TRUE(gst_structure_get_uint64(message, field, &time)) << field;
      EXPECT_EQ(time, i * GST_MSECOND) << field;
    }
    EXPECT_TRUE(gst_structure_get_uint64(message, "duration", &time));
    EXPECT_EQ(time, GST_MSECOND);
  }
}

TEST(Sink, IndexNeverReadsBackNegative) {
  const TempFolder folder;
  const std::string caps = std::string(kName) + "dtype=uint8,layout=contiguous,shape=<1>";
  const Outcome outcome = run_sink({{"location", folder.path("f%d.npy")},
                                    {"index", std::to_string(G_MAXINT)},
                                    {"post-messages", "true"}},
                                   {{caps, {1}}, {caps, {2}}});
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"f2147483647.npy", "f2147483648.npy"}));
  EXPECT_EQ(outcome.index, G_MAXINT);
  ASSERT_EQ(outcome.messages.size(), 2U);
  int index = 0;
  EXPECT_TRUE(gst_structure_get_int(outcome.messages[1].get(), "index", &index));
  EXPECT_EQ(index, G_MAXINT);
}

TEST(Sink, OneFileHoldsTheLastTensorAndNoMessageIsPostedUnasked) {
  const TempFolder folder;
  const std::string caps = std::string(kName) + "dtype=uint8,layout=contiguous,shape=<1>";
  const Outcome outcome =
      run_sink({{"location", folder.path("100%%.npy")}}, {{caps, {1}}, {caps, {2}}});
  ASSERT_EQ(outcome.error, "");
  EXPECT_TRUE(outcome.messages.empty());
  EXPECT_EQ(folder.files(), std::vector<std::string>{"100%.npy"});
  EXPECT_EQ(read_file(folder.path("100%.npy")).back(), 2);
}

TEST(Sink, CapsMayChangeBetweenFiles) {
  const TempFolder folder;
  const Outcome outcome =
      run_sink({{"location", folder.path("%d.npy")}},
               {{std::string(kName) + "dtype=uint8,layout=contiguous,shape=<1>", {1}},
                {std::string(kName) + "dtype=int8,layout=contiguous,shape=<2>", {2, 3}}});
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(oracle::read_npy(folder.path("0.npy")).dtype, DType::UInt8);
  EXPECT_EQ(oracle::read_npy(folder.path("1.npy")).dtype, DType::Int8);
}

TEST(Sink, ShortBufferWritesNothing) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  const Outcome outcome =
      run_sink({{"location", path}},
               {{std::string(kName) + "dtype=float32,layout=contiguous,shape=<4>", Bytes(15)}});
  EXPECT_NE(outcome.error.find("needed: 16 bytes"), std::string::npos) << outcome.error;
  EXPECT_NE(outcome.error.find("found: 15 bytes"), std::string::npos) << outcome.error;
  EXPECT_TRUE(folder.files().empty());
}

TEST(Sink, FailuresNameTheFileAndLeaveNothingBehind) {
  const TempFolder folder;
  const std::string caps = std::string(kName) + "dtype=uint8,layout=contiguous,shape=<1>";
  const Outcome nowhere = run_sink({{"location", folder.path("none/a.npy")}}, {{caps, {1}}});
  EXPECT_NE(nowhere.error.find("none/a.npy"), std::string::npos) << nowhere.error;
  EXPECT_EQ(nowhere.domain, GST_RESOURCE_ERROR);
  EXPECT_EQ(nowhere.code, GST_RESOURCE_ERROR_WRITE);
  // A folder in place of the file: writing succeeds, putting it in place does not.
  std::filesystem::create_directories(folder.path("taken.npy/x"));
  const Outcome taken = run_sink({{"location", folder.path("taken.npy")}}, {{caps, {1}}});
  EXPECT_NE(taken.error.find("taken.npy"), std::string::npos) << taken.error;
  EXPECT_EQ(folder.files(), std::vector<std::string>{"taken.npy"});
  EXPECT_NE(run_sink({}, {{caps, {1}}}).error.find("location"), std::string::npos);
  EXPECT_NE(run_sink({{"location", "%x"}}, {{caps, {1}}}).error.find("'%x'"), std::string::npos);
}

TEST(Sink, CapsThatAreNoTensorAreRefused) {
  const TempFolder folder;
  const Setting location{"location", folder.path("a.npy")};
  const auto refused = [&](const std::string& fields, const char* word) {
    const Outcome outcome = run_sink({location}, {{std::string(kName) + fields, {1}}});
    EXPECT_NE(outcome.error.find(word), std::string::npos) << outcome.error;
    EXPECT_TRUE(folder.files().empty());
  };
  refused("dtype=uint8,layout=contiguous", "shape");
  refused("dtype=float64,layout=contiguous,shape=<1>", "float64");
  refused("dtype=uint8,layout=contiguous,shape=<-1>", "-1");
  refused("dtype=uint8,layout=strided,shape=<2,3>,strides=(gint64)<1,1>", "stride");
}

TEST(Both, WhatTheSinkWritesTheSourceReads) {
  const TempFolder folder;
  for (const auto& [dtype, name] : kDTypes) {
    const auto tensor = oracle::random_tensor(Shape{2, 3, 4}, dtype, 82);
    const std::string path = folder.path(std::string(name) + ".npy");
    const std::string fields = std::string("dtype=") + name + ",layout=contiguous,shape=<2,3,4>";
    const Bytes bytes = stored(tensor, kernels::Contiguous{});
    ASSERT_EQ(run_sink({{"location", path}}, {{kName + fields, bytes}}).error, "");
    const Outcome outcome = run_source({{"location", path}});
    ASSERT_EQ(outcome.buffers.size(), 1U) << outcome.error;
    EXPECT_EQ(outcome.buffers[0].bytes, bytes);
    EXPECT_TRUE(caps_are(outcome.buffers[0].caps.get(), fields));
  }
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
