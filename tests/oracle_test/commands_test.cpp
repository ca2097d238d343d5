// SPDX-License-Identifier: LGPL-2.1-or-later
// simaai-oracle commands on real files.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "oracle/commands.h"
#include "oracle/npy.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "oracle/tiles.h"

namespace simaai::oracle {
namespace {

using kernels::DType;
using kernels::Shape;

class Commands : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "oracle-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  /// Runs words separated by blanks; those that end in .npy are files in the test's folder.
  int run(const std::string& words) {
    std::vector<std::string> arguments;
    std::istringstream stream(words);
    for (std::string word; stream >> word;)
      arguments.push_back(word.ends_with(".npy") ? file(word) : word);
    output_.str("");
    errors_.str("");
    return run_command(arguments, output_, errors_);
  }

  std::filesystem::path folder_;
  std::ostringstream output_;
  std::ostringstream errors_;
};

TEST_F(Commands, RandomFilesRoundTripInEveryDtypeAndRank) {
  for (const std::string dtype : {"int8", "uint8", "int32", "float16", "bfloat16", "float32"})
    for (const std::string shape : {"7", "1,3,5", "2,1,3,1,2,2", "4,0"}) {
      ASSERT_EQ(run("random a.npy --dtype " + dtype + " --shape " + shape + " --seed 9"), 0);
      write_npy(file("b.npy"), read_npy(file("a.npy")));
      EXPECT_EQ(run("compare a.npy b.npy"), 0) << output_.str();
    }
  write_npy(file("a.npy"), {Shape{}, DType::Float32, {7}});
  EXPECT_EQ(read_npy(file("a.npy")), (Tensor{Shape{}, DType::Float32, {7}}));
}

TEST_F(Commands, HeaderIsTheDocumentedText) {
  write_npy(file("a.npy"), {{1}, DType::BFloat16, {0x3f80}});
  std::ifstream stream(file("a.npy"), std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  const std::string all = text.str();
  ASSERT_EQ(all.size(), 130U);
  EXPECT_EQ(all.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_TRUE(
      all.substr(10).starts_with("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }"));
  EXPECT_EQ(all.substr(127), "\n\x80\x3f");
}

TEST_F(Commands, CastTessThenDetessCastEqualsTheCastRule) {
  for (const std::string layout :
       {"--axes -1,1,2,3 --tile 1,16,16,16 --storage pad16",
        "--axes 0,-1,1,3 --tile 1,1,5,3 --storage compact", "--tile 1,4,7,33 --cblocked"}) {
    ASSERT_EQ(run("random a.npy --dtype float32 --shape 1,9,11,17 --seed 3"), 0);
    ASSERT_EQ(run("casttess a.npy t.npy " + layout), 0) << errors_.str();
    ASSERT_EQ(run("detesscast t.npy b.npy --to bfloat16 --shape 1,9,11,17 " + layout), 0);
    ASSERT_EQ(run("cast a.npy c.npy --to bfloat16"), 0);
    EXPECT_EQ(run("compare b.npy c.npy"), 0) << output_.str();
    EXPECT_EQ(read_npy(file("b.npy")), convert(read_npy(file("a.npy")), DType::BFloat16));
  }
}

TEST_F(Commands, StridedFilesHoldHolesAndComeBack) {
  ASSERT_EQ(run("random a.npy --dtype float32 --shape 2,3 --seed 3"), 0);
  ASSERT_EQ(run("scatter a.npy s.npy --strides 32,8 --hole 238"), 0) << errors_.str();
  const Bytes bytes = read_npy_bytes(file("s.npy"));
  ASSERT_EQ(bytes.size(), 52U);
  EXPECT_EQ(bytes[4], 238);
  ASSERT_EQ(run("gather s.npy b.npy --strides 32,8 --dtype float32 --shape 2,3"), 0);
  EXPECT_EQ(run("compare a.npy b.npy"), 0);
  const std::string layout = " --axes -1,-1,0,1 --tile 1,1,2,3 --storage pad16";
  ASSERT_EQ(run("casttess a.npy t.npy" + layout), 0);
  ASSERT_EQ(run("casttess s.npy u.npy --strides 32,8 --dtype float32 --shape 2,3" + layout), 0);
  EXPECT_EQ(run("compare t.npy u.npy"), 0);
  ASSERT_EQ(run("detesscast t.npy w.npy --to float32 --shape 2,3 --strides 32,8" + layout), 0);
  EXPECT_EQ(read_npy_bytes(file("w.npy")).size(), 52U);
}

TEST_F(Commands, Int8FillReachesTheFile) {
  ASSERT_EQ(run("random a.npy --dtype int8 --shape 2,3 --seed 1"), 0);
  ASSERT_EQ(run("tess a.npy t.npy --axes -1,-1,0,1 --tile 1,1,2,3 --storage pad16 --fill -5"), 0);
  EXPECT_EQ(read_npy_bytes(file("t.npy"))[3], 251);
  ASSERT_EQ(run("detess t.npy b.npy --dtype int8 --shape 2,3 --axes -1,-1,0,1 --tile 1,1,2,3 "
                "--storage pad16"),
            0);
  EXPECT_EQ(run("compare a.npy b.npy"), 0);
}

TEST_F(Commands, CompareNamesTheFirstDifference) {
  Tensor tensor{{2, 3}, DType::BFloat16, {1, 2, 3, 4, 5, 6}};
  write_npy(file("a.npy"), tensor);
  tensor.bits[4] = 0x7fc0;
  write_npy(file("b.npy"), tensor);
  EXPECT_EQ(run("compare a.npy b.npy"), 1);
  EXPECT_NE(output_.str().find("first difference at [1,1]"), std::string::npos) << output_.str();
  EXPECT_NE(output_.str().find("0x7fc0"), std::string::npos);
  write_npy(file("b.npy"), {{3, 2}, DType::BFloat16, tensor.bits});
  EXPECT_EQ(run("compare a.npy b.npy"), 1);
  EXPECT_NE(output_.str().find("bfloat16 [3,2]"), std::string::npos) << output_.str();
}

TEST_F(Commands, MistakesAreNamed) {
  ASSERT_EQ(run("random a.npy --dtype float32 --shape 2,3"), 0);
  const std::pair<std::string, std::string> cases[] = {
      {"frobnicate", "unknown command"},
      {"compare a.npy", "missing argument: B"},
      {"compare a.npy none.npy", "cannot be opened"},
      {"random b.npy --dtype float8 --shape 2", "unknown dtype 'float8'"},
      {"random b.npy --dtype int8 --shape 2,x", "'x' is not an integer"},
      {"random b.npy --dtype int8 --shape 2 --sede 3", "unexpected option: --sede"},
      {"casttess a.npy t.npy --axes -1,0,1 --tile 1,1,2,3 --storage pad16", "four integers"},
      {"casttess a.npy t.npy --axes -1,-1,0,2 --tile 1,1,2,3 --storage pad16", "out of range"},
      {"casttess a.npy t.npy --axes -1,-1,0,1 --tile 1,1,2,3 --storage pad", "compact or pad16"},
      {"cast a.npy t.npy --to int8", "no conversion"}};
  for (const auto& [words, expected] : cases) {
    EXPECT_EQ(run(words), 2) << words;
    EXPECT_NE(errors_.str().find(expected), std::string::npos) << words << ": " << errors_.str();
  }
}

} // namespace
} // namespace simaai::oracle
