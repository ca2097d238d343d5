// SPDX-License-Identifier: LGPL-2.1-or-later
// SIMAAI_A65_ISA: every level of the machine can be forced; SIMAAI_A65_STORES: so can both kinds of
// stores; other names are reported once. Each case runs in a child process, because the variables are
// read once.
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include <simaai/kernels/a65/cast.h>
#include <simaai/kernels/a65/dispatch.h>

#include "a65/machine_levels.h"

namespace simaai::test {
namespace {

using kernels::a65::active_instruction_set;

/// Ends the process with 0 where the level is `expected` under `value` at two calls in a row.
[[noreturn]] void choose(const char* value, std::string_view expected) {
  if (value == nullptr)
    unsetenv("SIMAAI_A65_ISA");
  else
    setenv("SIMAAI_A65_ISA", value, 1);
  const bool first = active_instruction_set() == expected;
  setenv("SIMAAI_A65_ISA", "scalar", 1);
  const bool second = active_instruction_set() == expected;
  std::exit(first && second ? 0 : 1);
}

TEST(DispatchChoice, EveryLevelOfTheMachineCanBeForcedSilently) {
  for (const std::string_view level : machine_levels())
    EXPECT_EXIT(choose(std::string(level).c_str(), level), ::testing::ExitedWithCode(0), "^$");
}

TEST(DispatchChoice, BestLevelWithoutAWish) {
  const std::string_view best = machine_levels().back();
  EXPECT_EXIT(choose(nullptr, best), ::testing::ExitedWithCode(0), "^$");
  EXPECT_EXIT(choose("", best), ::testing::ExitedWithCode(0), "^$");
}

TEST(DispatchChoice, OtherNamesAreReportedOnceAndTheBestIsKept) {
  const std::string_view best = machine_levels().back();
  std::string levels;
  for (const std::string_view level : machine_levels())
    levels += (levels.empty() ? "" : ", ") + std::string(level);
  for (const char* name : {"sse9", "AVX2", "scalar ", machine_has("neon") ? "avx2" : "neon"})
    EXPECT_EXIT(choose(name, best), ::testing::ExitedWithCode(0),
                std::string("^[^\n]*SIMAAI_A65_ISA=") + name + "[^\n]*" + levels + "[^\n]*" +
                    std::string(best) + "\n$");
}

/// Prepares two plans under `value` and ends the process.
[[noreturn]] void prepare_with_stores(const char* value) {
  setenv("SIMAAI_A65_STORES", value, 1);
  const kernels::TensorSpec input{{4}, kernels::DType::Float32};
  const kernels::TensorSpec output{{4}, kernels::DType::BFloat16};
  for (int plan = 0; plan < 2; ++plan)
    if (std::holds_alternative<kernels::Error>(
            kernels::a65::cast::check_inference({{&input, 1}, {&output, 1}, {}})))
      std::exit(1);
  std::exit(0);
}

TEST(StoreChoice, OtherNamesAreReportedOnce) {
  for (const char* name : {"cached", "streaming", ""})
    EXPECT_EXIT(prepare_with_stores(name), ::testing::ExitedWithCode(0), "^$");
  for (const char* name : {"stream", "Cached", "0"})
    EXPECT_EXIT(prepare_with_stores(name), ::testing::ExitedWithCode(0),
                std::string("^[^\n]*SIMAAI_A65_STORES=") + name +
                    "[^\n]*cached[^\n]*streaming[^\n]*\n$");
}

} // namespace
} // namespace simaai::test
