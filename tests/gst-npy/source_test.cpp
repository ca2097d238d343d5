// SPDX-License-Identifier: LGPL-2.1-or-later
// simaainpysrc: caps and bytes of every kind of file, series, and each malformed file.
#include <algorithm>
#include <array>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "oracle/linear.h"
#include "oracle/npy.h"
#include "oracle/random_tensor.h"
#include "run.h"

namespace {

using namespace simaai;
using namespace simaai::test;
using kernels::DType;
using kernels::Shape;

struct Named {
  DType dtype;
  const char* name;
  const char* descr;
};
constexpr std::array kDTypes{
    Named{DType::Int8, "int8", "|i1"},         Named{DType::UInt8, "uint8", "|u1"},
    Named{DType::Int32, "int32", "<i4"},       Named{DType::Float16, "float16", "<f2"},
    Named{DType::BFloat16, "bfloat16", "<V2"}, Named{DType::Float32, "float32", "<f4"},
};

const std::array<Shape, 9> kShapes{Shape{},
                                   Shape{7},
                                   Shape{3, 5},
                                   Shape{2, 3, 5},
                                   Shape{1, 4, 3, 5},
                                   Shape{2, 1, 3, 2, 4},
                                   Shape{2, 1, 2, 3, 2, 2},
                                   Shape{0},
                                   Shape{3, 0, 2}};

std::string shape_field(const Shape& shape) {
  std::string text = "shape=(int)<";
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    text += (axis == 0 ? "" : ",") + std::to_string(shape[axis]);
  return text + (shape.rank() == 0 ? " >" : ">");
}

Bytes dense_bytes(const oracle::Tensor& tensor) {
  Bytes bytes(oracle::linear_span(tensor.shape, tensor.dtype, kernels::Contiguous{}));
  oracle::scatter(tensor, kernels::Contiguous{}, bytes.data());
  return bytes;
}

/// A file written by hand: magic, version, length, text, payload.
Bytes file_of(const std::string& text, const Bytes& payload, int version = 1) {
  Bytes file{0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<std::uint8_t>(version), 0};
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  for (std::size_t i = 0; i < length_bytes; ++i)
    file.push_back(static_cast<std::uint8_t>(text.size() >> (8 * i)));
  file.insert(file.end(), text.begin(), text.end());
  file.insert(file.end(), payload.begin(), payload.end());
  return file;
}

std::string header_of(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

TEST(Source, EveryDtypeAndRank) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  for (const auto& [dtype, name, descr] : kDTypes)
    for (const auto& shape : kShapes) {
      const auto tensor = oracle::random_tensor(shape, dtype, 70);
      oracle::write_npy(path, tensor);
      const Outcome outcome = run_source({{"location", path}});
      ASSERT_EQ(outcome.error, "");
      ASSERT_EQ(outcome.buffers.size(), 1U);
      const Pushed& pushed = outcome.buffers[0];
      EXPECT_EQ(pushed.bytes, dense_bytes(tensor));
      EXPECT_TRUE(caps_are(pushed.caps.get(), std::string("dtype=") + name + ",layout=contiguous," +
                                                  shape_field(shape)))
          << text_of(pushed.caps.get());
      EXPECT_EQ(pushed.pts, GST_CLOCK_TIME_NONE);
    }
}

TEST(Source, VersionsTwoAndThreeAndLooseWriting) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  const Bytes payload{1, 2, 3, 4, 5, 6};
  const std::array texts{
      header_of("|u1", "(2, 3)"),
      std::string("{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"|u1\"}"),
      std::string("{'descr':'|u1','fortran_order':False,'shape':(2L, 3L)}   \n")};
  for (const int version : {1, 2, 3})
    for (const auto& text : texts) {
      write_file(path, file_of(text, payload, version));
      const Outcome outcome = run_source({{"location", path}});
      ASSERT_EQ(outcome.error, "") << text;
      ASSERT_EQ(outcome.buffers.size(), 1U);
      EXPECT_EQ(outcome.buffers[0].bytes, payload);
      EXPECT_TRUE(
          caps_are(outcome.buffers[0].caps.get(), "dtype=uint8,layout=contiguous,shape=<2,3>"));
    }
}

TEST(Source, BigEndianFilesAreSwapped) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  const auto check = [&](const char* descr, const char* dtype, const Bytes& payload,
                         const Bytes& expected) {
    write_file(path, file_of(header_of(descr, "(2,)"), payload));
    const Outcome outcome = run_source({{"location", path}});
    ASSERT_EQ(outcome.error, "") << descr;
    EXPECT_EQ(outcome.buffers.at(0).bytes, expected) << descr;
    EXPECT_TRUE(caps_are(outcome.buffers[0].caps.get(),
                         std::string("layout=contiguous,shape=<2>,dtype=") + dtype));
    EXPECT_EQ(stat(outcome, "conversions"), payload == expected ? 0U : 1U) << descr;
    EXPECT_EQ(stat(outcome, "bytes-out"), payload.size()) << descr;
    EXPECT_EQ(stat(outcome, "copies"), 0U) << descr;
  };
  check(">f4", "float32", {1, 2, 3, 4, 5, 6, 7, 8}, {4, 3, 2, 1, 8, 7, 6, 5});
  check(">i4", "int32", {1, 2, 3, 4, 5, 6, 7, 8}, {4, 3, 2, 1, 8, 7, 6, 5});
  check(">f2", "float16", {1, 2, 3, 4}, {2, 1, 4, 3});
  check(">V2", "bfloat16", {1, 2, 3, 4}, {2, 1, 4, 3});
  check("|V2", "bfloat16", {1, 2, 3, 4}, {1, 2, 3, 4});
}

TEST(Source, LeastBuffersAreAllocatedBeforehand) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  write_file(path, file_of(header_of("|u1", "(3,)"), {1, 2, 3}));
  const Outcome outcome = run_source({{"location", path}, {"min-buffers", "5"}});
  ASSERT_EQ(outcome.error, "");
  EXPECT_EQ(stat(outcome, "frames"), 1U);
  EXPECT_EQ(stat(outcome, "allocations"), 5U);
}

TEST(Source, DtypeReinterpretsElementsOfTheSameWidth) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  write_file(path, file_of(header_of("<u2", "(2,)"), {1, 2, 3, 4}));
  const Outcome outcome = run_source({{"location", path}, {"dtype", "bfloat16"}});
  ASSERT_EQ(outcome.error, "");
  EXPECT_TRUE(
      caps_are(outcome.buffers.at(0).caps.get(), "dtype=bfloat16,layout=contiguous,shape=<2>"));
  EXPECT_EQ(outcome.buffers[0].bytes, (Bytes{1, 2, 3, 4}));
  const Outcome refused = run_source({{"location", path}, {"dtype", "float32"}});
  EXPECT_NE(refused.error.find("elements of 4 bytes"), std::string::npos) << refused.error;
  EXPECT_NE(refused.error.find("'<u2', 2 bytes"), std::string::npos) << refused.error;
  EXPECT_TRUE(refused.buffers.empty());
}

TEST(Source, FortranOrderIsAStridedTensorOfTheSameBytes) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  Bytes payload(2 * 3 * 4 * 2);
  for (std::size_t i = 0; i < payload.size(); ++i)
    payload[i] = static_cast<std::uint8_t>(i);
  write_file(path, file_of(header_of("<f2", "(2, 3, 4)", true), payload));
  const Outcome outcome = run_source({{"location", path}});
  ASSERT_EQ(outcome.error, "");
  EXPECT_TRUE(caps_are(outcome.buffers.at(0).caps.get(),
                       "dtype=float16,layout=strided,shape=<2,3,4>,strides=(gint64)<2,4,12>"))
      << text_of(outcome.buffers[0].caps.get());
  EXPECT_EQ(outcome.buffers[0].bytes, payload);
  // Where the order makes no difference the tensor is contiguous.
  for (const auto& [shape, field] : {std::pair{"(4,)", "shape=<4>"},
                                     {"()", "shape=(int)< >"},
                                     {"(1, 4, 1)", "shape=<1,4,1>"},
                                     {"(0, 2)", "shape=<0,2>"}}) {
    const std::size_t elements = std::string(shape) == "()"       ? 1
                                 : std::string(shape) == "(0, 2)" ? 0
                                                                  : 4;
    write_file(path, file_of(header_of("<f2", shape, true), Bytes(2 * elements)));
    const Outcome plain = run_source({{"location", path}});
    ASSERT_EQ(plain.error, "") << shape;
    EXPECT_TRUE(caps_are(plain.buffers.at(0).caps.get(),
                         std::string("dtype=float16,layout=contiguous,") + field))
        << shape;
  }
}

struct Malformed {
  const char* what;
  Bytes file;
  std::vector<const char*> words;
};

std::vector<Malformed> malformed_files() {
  const std::string good = header_of("|u1", "(4,)");
  const Bytes four{1, 2, 3, 4};
  Bytes version = file_of(good, four);
  version[6] = 4;
  Bytes minor = file_of(good, four);
  minor[7] = 1;
  Bytes cut = file_of(good, four);
  cut.resize(30);
  Bytes magic = file_of(good, four);
  magic[1] = 'M';
  Bytes huge_header = file_of(good, four, 2);
  huge_header[11] = 0x7f;
  const auto text = [&](const std::string& header) { return file_of(header, four); };
  return {
      {"empty file", {}, {"magic", "found nothing"}},
      {"bad magic", magic, {"magic", "93 4d 55"}},
      {"only magic", {0x93, 'N', 'U', 'M', 'P', 'Y'}, {"prefix", "found 6 bytes"}},
      {"unknown version", version, {"version", "found 4.0"}},
      {"unknown minor version", minor, {"version", "found 1.1"}},
      {"truncated header", cut, {"header", "found "}},
      {"header beyond the file", huge_header, {"header", "65536"}},
      {"not a dictionary", text("[1, 2]\n"), {"Python dictionary", "'[1, 2]"}},
      {"unclosed dictionary", text("{'descr': '|u1', "), {"dictionary key", "end of the header"}},
      {"text after it", text(good + "x"), {"nothing after the dictionary"}},
      {"missing key", text("{'descr': '|u1', 'shape': (4,)}"), {"no key 'fortran_order'"}},
      {"unknown key", text("{'descr': '|u1', 'order': 1}"), {"the key 'order'"}},
      {"key twice", text("{'descr': '|u1', 'descr': '|u1'}"), {"once each"}},
      {"structured dtype",
       text("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}"),
       {"descr", "structured"}},
      {"unknown dtype", text(header_of("<f8", "(4,)")), {"descr", "'<f8'", "<f4"}},
      {"unknown word", text(header_of("|O", "(4,)")), {"descr", "'|O'"}},
      {"native order", text(header_of("=f4", "(1,)")), {"descr", "'=f4'"}},
      {"empty word", text(header_of("", "(1,)")), {"descr", "''"}},
      {"bad boolean",
       text("{'descr': '|u1', 'fortran_order': 0, 'shape': (4,)}"),
       {"True or False"}},
      {"negative extent", text(header_of("|u1", "(-4,)")), {"shape", "-4"}},
      {"extent beyond 32 bits", text(header_of("|u1", "(2147483648,)")), {"shape", "2147483648"}},
      {"extent beyond 64 bits",
       text(header_of("|u1", "(99999999999999999999,)")),
       {"shape", "99999999999999999999"}},
      {"product beyond 64 bits",
       text(header_of("<f4", "(2147483647, 2147483647, 2147483647)")),
       {"shape", "overflows"}},
      {"no tuple", text(header_of("|u1", "(4)")), {"shape", "(n,)"}},
      {"float extent", text(header_of("|u1", "(4.0,)")), {"shape", "integers"}},
      {"seven axes", text(header_of("|u1", "(1,1,1,1,1,1,4)")), {"at most 6 axes", "7"}},
      {"short data",
       file_of(header_of("<f4", "(4,)"), Bytes(15)),
       {"short data", "16 bytes", "15 bytes"}},
      {"trailing bytes",
       file_of(header_of("<f4", "(4,)"), Bytes(17)),
       {"trailing bytes", "16 bytes", "17 bytes"}},
  };
}

TEST(Source, EachMalformedFileIsRefusedByName) {
  const TempFolder folder;
  const std::string path = folder.path("broken.npy");
  for (const auto& [what, file, words] : malformed_files()) {
    SCOPED_TRACE(what);
    write_file(path, file);
    const Outcome outcome = run_source({{"location", path}});
    EXPECT_TRUE(outcome.buffers.empty());
    EXPECT_EQ(outcome.domain, GST_STREAM_ERROR);
    EXPECT_NE(outcome.error.find(path), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("expected"), std::string::npos) << outcome.error;
    EXPECT_NE(outcome.error.find("found"), std::string::npos) << outcome.error;
    for (const char* word : words)
      EXPECT_NE(outcome.details.find(word), std::string::npos)
          << word << " in: " << outcome.details;
  }
}

TEST(Source, EveryCutOfAFileIsRefused) {
  const TempFolder folder;
  const std::string path = folder.path("cut.npy");
  const Bytes whole = file_of(header_of("|u1", "(4,)"), {1, 2, 3, 4});
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write_file(path, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)));
    const Outcome outcome = run_source({{"location", path}});
    EXPECT_NE(outcome.error, "") << bytes;
    EXPECT_TRUE(outcome.buffers.empty()) << bytes;
  }
}

TEST(Source, SettingsThatCannotWorkAreNamed) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  write_file(path, file_of(header_of("|u1", "(4,)"), {1, 2, 3, 4}));
  EXPECT_NE(run_source({}).error.find("location"), std::string::npos);
  const Outcome missing = run_source({{"location", folder.path("none.npy")}});
  EXPECT_NE(missing.error.find("none.npy"), std::string::npos) << missing.error;
  EXPECT_EQ(missing.code, GST_RESOURCE_ERROR_NOT_FOUND);
  EXPECT_NE(run_source({{"location", path + "%s"}}).error.find("'%s'"), std::string::npos);
  EXPECT_NE(run_source({{"location", "%d" + path + "%d"}}).error.find("second"), std::string::npos);
  EXPECT_NE(run_source({{"location", path}, {"start-index", "3"}, {"stop-index", "2"}})
                .error.find("stop-index"),
            std::string::npos);
  // A FIFO that nobody writes must not make the element wait.
  ASSERT_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
  EXPECT_NE(run_source({{"location", folder.path("fifo")}}).error.find("regular file"),
            std::string::npos);
  EXPECT_NE(run_source({{"location", folder.path("")}}).error.find("regular file"),
            std::string::npos);
}

TEST(Source, DownstreamThatDoesNotAcceptTheTensorIsNamed) {
  const TempFolder folder;
  const std::string path = folder.path("a.npy");
  write_file(path, file_of(header_of("|u1", "(4,)"), {1, 2, 3, 4}));
  const Outcome outcome =
      run_source({{"location", path}}, "application/vnd.simaai.tensor,dtype=float32");
  EXPECT_NE(outcome.error.find("downstream does not accept"), std::string::npos) << outcome.error;
  EXPECT_NE(outcome.error.find("float32"), std::string::npos) << outcome.error;
  EXPECT_TRUE(outcome.buffers.empty());
}

void write_series(const TempFolder& folder, int first, int last) {
  for (int i = first; i <= last; ++i) {
    std::string name = std::to_string(i);
    name.insert(0, 5 - name.size(), '0');
    write_file(folder.path("f" + name + ".npy"),
               file_of(header_of("|u1", "(1,)"), {static_cast<std::uint8_t>(i)}));
  }
}

std::vector<int> values_of(const Outcome& outcome) {
  EXPECT_EQ(outcome.error, "");
  std::vector<int> values;
  for (const auto& pushed : outcome.buffers)
    values.push_back(pushed.bytes.at(0));
  return values;
}

TEST(Source, SeriesStartStopLoop) {
  const TempFolder folder;
  write_series(folder, 0, 6);
  const Setting location{"location", folder.path("f%05d.npy")};
  EXPECT_EQ(values_of(run_source({location})), (std::vector{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(values_of(run_source({location, {"start-index", "2"}, {"stop-index", "4"}})),
            (std::vector{2, 3, 4}));
  EXPECT_EQ(values_of(run_source(
                {location, {"start-index", "5"}, {"loop", "true"}, {"num-buffers", "5"}})),
            (std::vector{5, 6, 5, 6, 5}));
  EXPECT_EQ(values_of(run_source({location,
                                  {"start-index", "1"},
                                  {"stop-index", "2"},
                                  {"loop", "true"},
                                  {"num-buffers", "3"}})),
            (std::vector{1, 2, 1}));
  EXPECT_EQ(values_of(run_source(
                {{"location", folder.path("f00003.npy")}, {"loop", "true"}, {"num-buffers", "3"}})),
            (std::vector{3, 3, 3}));
  const Outcome gap = run_source({location, {"stop-index", "8"}});
  EXPECT_NE(gap.error.find("f00007.npy"), std::string::npos) << gap.error;
  EXPECT_EQ(gap.buffers.size(), 7U);
}

TEST(Source, CapsFollowFilesOfDifferentShapes) {
  const TempFolder folder;
  write_file(folder.path("0.npy"), file_of(header_of("|u1", "(2,)"), {1, 2}));
  write_file(folder.path("1.npy"), file_of(header_of("<f4", "(2, 1)"), {1, 2, 3, 4, 5, 6, 7, 8}));
  write_file(folder.path("2.npy"), file_of(header_of("|u1", "(3,)"), {7, 8, 9}));
  const Outcome outcome = run_source({{"location", folder.path("%d.npy")}});
  ASSERT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.buffers.size(), 3U);
  EXPECT_TRUE(caps_are(outcome.buffers[0].caps.get(), "dtype=uint8,layout=contiguous,shape=<2>"));
  EXPECT_TRUE(
      caps_are(outcome.buffers[1].caps.get(), "dtype=float32,layout=contiguous,shape=<2,1>"));
  EXPECT_TRUE(caps_are(outcome.buffers[2].caps.get(), "dtype=uint8,layout=contiguous,shape=<3>"));
  EXPECT_EQ(outcome.buffers[1].bytes, (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(outcome.buffers[2].bytes, (Bytes{7, 8, 9}));
}

TEST(Source, FramerateGivesCapsAndTimestamps) {
  const TempFolder folder;
  write_series(folder, 0, 3);
  const Outcome outcome =
      run_source({{"location", folder.path("f%05d.npy")}, {"framerate", "30/1"}});
  ASSERT_EQ(outcome.buffers.size(), 4U);
  EXPECT_TRUE(caps_are(outcome.buffers[0].caps.get(),
                       "dtype=uint8,layout=contiguous,shape=<1>,framerate=30/1"));
  const std::array<GstClockTime, 5> at{0, 33333333, 66666666, 100000000, 133333333};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(outcome.buffers[i].pts, at[i]);
    EXPECT_EQ(outcome.buffers[i].duration, at[i + 1] - at[i]);
  }
}

TEST(Source, CapsPropertyGivesPhysicalBytesTheirMeaning) {
  const TempFolder folder;
  const std::string path = folder.path("tiled.npy");
  const std::string tiled =
      "application/vnd.simaai.tensor,dtype=(string)bfloat16,shape=(int)<2,17>,"
      "layout=(string)mla-tiled,tile-axes=(int)<-1,-1,0,1>,"
      "tile-shape=(int)<1,1,2,16>,channel-storage=(string)compact";
  Bytes physical(80);
  for (std::size_t i = 0; i < physical.size(); ++i)
    physical[i] = static_cast<std::uint8_t>(3 * i);
  oracle::write_npy_bytes(path, physical);
  const Outcome outcome = run_source({{"location", path}, {"caps", tiled}});
  ASSERT_EQ(outcome.error, "");
  ASSERT_EQ(outcome.buffers.size(), 1U);
  EXPECT_EQ(outcome.buffers[0].bytes, physical);
  const GstPtr<GstCaps> wanted(gst_caps_from_string(tiled.c_str()));
  EXPECT_TRUE(gst_caps_is_equal(outcome.buffers[0].caps.get(), wanted.get()));

  oracle::write_npy_bytes(path, Bytes(79));
  const Outcome shorter = run_source({{"location", path}, {"caps", tiled}});
  EXPECT_NE(shorter.error.find("expected 80 physical bytes"), std::string::npos) << shorter.error;
  EXPECT_NE(shorter.error.find("found 79"), std::string::npos) << shorter.error;
  write_file(path, file_of(header_of("<f4", "(20,)"), Bytes(80)));
  const Outcome other = run_source({{"location", path}, {"caps", tiled}});
  EXPECT_NE(other.error.find("one-dimensional |u1"), std::string::npos) << other.error;
  EXPECT_NE(
      run_source({{"location", path}, {"caps", tiled}, {"dtype", "int8"}}).error.find("dtype"),
      std::string::npos);
  const Outcome partial =
      run_source({{"location", path}, {"caps", "application/vnd.simaai.tensor,dtype=int8"}});
  EXPECT_NE(partial.error.find("shape"), std::string::npos) << partial.error;
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
