// SPDX-License-Identifier: LGPL-2.1-or-later
// Cast under the common suites, and exact bytes worked out by hand.
#include <simaai/kernels/a65/cast.h>

#include "a65/golden_bytes.h"

namespace simaai::test {

using kernels::DType;
using kernels::Strided;

const Operation& operation_under_test() {
  namespace a65 = kernels::a65::cast;
  namespace ops = kernels::ops::cast;
  static const Operation operation = [] {
    Operation made = make_operation(
        "cast", {{DType::Float32, DType::BFloat16}, {DType::BFloat16, DType::Float32}},
        ops::check_inference, a65::prepare, a65::check_inference, a65::execute);
    made.tiled_input = false;
    made.tiled_output = false;
    return made;
  }();
  return operation;
}

namespace {

TEST(Golden, Float32RuleWithNaNs) {
  EXPECT_TRUE(run_golden(
      {{{7}, DType::Float32}, {{7}, DType::BFloat16}},
      words32({0x3f808000, 0x3f818000, 0x7f7fffff, 0x7f800001, 0x7fffffff, 0xffffffff, 0x80000001}),
      words16({0x3f80, 0x3f82, 0x7f80, 0x7f80, 0x8000, 0x0000, 0x8000})));
}

TEST(Golden, Bfloat16KeepsSignallingNaNs) {
  EXPECT_TRUE(run_golden({{{4}, DType::BFloat16}, {{4}, DType::Float32}},
                         words16({0x7f81, 0xff81, 0x8001, 0x3f80}),
                         words32({0x7f810000, 0xff810000, 0x80010000, 0x3f800000})));
}

TEST(Golden, RankZeroIsOneElement) {
  EXPECT_TRUE(run_golden({{{}, DType::Float32}, {{}, DType::BFloat16}}, words32({0xc2f70a3d}),
                         words16({0xc2f7})));
}

// Holes of a strided output stay as they were.
TEST(Golden, StridedOutputKeepsItsHoles) {
  EXPECT_TRUE(run_golden({{{2, 2}, DType::Float32}, {{2, 2}, DType::BFloat16, Strided{{2, 6}}}},
                         words32({0x3f800000, 0x40000000, 0x40400000, 0x40800000}),
                         words16({0x3f80, 0x4040, 0xabcd, 0x4000, 0x4080}),
                         words16({0xabcd, 0xabcd, 0xabcd, 0xabcd, 0xabcd})));
}

} // namespace
} // namespace simaai::test
