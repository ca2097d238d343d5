// SPDX-License-Identifier: LGPL-2.1-or-later
// Entry of the A65 contract programs. With SIMAAI_A65_ISA set to a level that this machine lacks the
// program reports that it was skipped (status 77).
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

#include <simaai/kernels/a65/dispatch.h>

namespace {

/// What the machine can do, found without the library.
bool machine_has(std::string_view level) {
#if defined(__x86_64__)
  if (level == "avx2")
    return __builtin_cpu_supports("avx2") != 0;
  if (level == "avx512")
    return __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512vbmi") != 0;
#elif defined(__aarch64__)
  if (level == "neon")
    return true;
#endif
  return level == "scalar";
}

TEST(Dispatch, ForcedLevelIsActive) {
  const char* forced = std::getenv("SIMAAI_A65_ISA");
  const std::string_view active = simaai::kernels::a65::active_instruction_set();
  EXPECT_TRUE(machine_has(active)) << active;
  if (forced != nullptr) {
    EXPECT_EQ(active, forced);
  }
}

} // namespace

int main(int argc, char** argv) {
  const char* forced = std::getenv("SIMAAI_A65_ISA");
  if (forced != nullptr && !machine_has(forced)) {
    std::printf("this machine has no %s\n", forced);
    return 77;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
