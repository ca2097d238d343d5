// SPDX-License-Identifier: LGPL-2.1-or-later
// Entry of the A65 contract programs. With SIMAAI_A65_ISA set to a level that this machine lacks the
// program reports that it was skipped (status 77).
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <gtest/gtest.h>

#include <simaai/kernels/a65/dispatch.h>

#include "a65/machine_levels.h"

namespace {

TEST(Dispatch, ForcedLevelIsActive) {
  const char* forced = std::getenv("SIMAAI_A65_ISA");
  const std::string_view active = simaai::kernels::a65::active_instruction_set();
  EXPECT_EQ(active, forced != nullptr ? forced : simaai::test::machine_levels().back());
}

} // namespace

int main(int argc, char** argv) {
  const char* forced = std::getenv("SIMAAI_A65_ISA");
  if (forced != nullptr && !simaai::test::machine_has(forced)) {
    std::printf("this machine has no %s\n", forced);
    return 77;
  }
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
