// SPDX-License-Identifier: LGPL-2.1-or-later
// What execution must not depend on or change: floating-point state, heap, kernel, the request,
// earlier contents of the output, other threads with the same plan.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "a65/contract_case.h"
#include "oracle/random_tensor.h"
#include "support/allocation_counter.h"
#include "support/compare_bytes.h"
#include "support/float_environment.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::ConstHostBuffer;
using kernels::Contiguous;
using kernels::HostBuffer;
using kernels::Layout;
using kernels::MlaTiled;
using kernels::Shape;

/// One of the row shapes below.
Case sample_case(DTypePair dtypes, std::int64_t channels, ChannelStorage storage, bool strided,
                 std::size_t number) {
  const Operation& operation = operation_under_test();
  const Shape shape{3, 21, channels};
  const std::int64_t scalar =
      kernels::scalar_bytes(operation.tiled_input ? dtypes.to : dtypes.from);
  const Layout linear =
      strided ? Layout(kernels::Strided{{21 * scalar, scalar, 63 * scalar}}) : Layout(Contiguous{});
  MlaTiled tiled{{-1, 0, 1, 2}, {1, 2, 16, 32}};
  tiled.channels = storage;
  const Layout other = operation.is_linear_only() ? Layout(Contiguous{}) : tiled;
  return make_case(operation, shape, dtypes, linear, other, number);
}

/// A few row shapes in both storages; contiguous and channel-strided linear sides.
std::vector<Case> sample_cases() {
  std::vector<Case> cases;
  for (const DTypePair dtypes : operation_under_test().dtypes)
    for (const std::int64_t channels : {1, 3, 17, 64})
      for (const ChannelStorage storage : {ChannelStorage::Compact, ChannelStorage::PadTo16})
        for (const bool strided : {false, true})
          cases.push_back(sample_case(dtypes, channels, storage, strided, cases.size()));
  return cases;
}

Admitted admit(const Case& c, bool two_steps = false) {
  const std::array inputs{c.input};
  const std::array outputs{c.output};
  const Operation& operation = operation_under_test();
  return std::get<Admitted>(two_steps ? operation.check_in_two_steps(inputs, outputs, c.fill)
                                      : operation.check(inputs, outputs, c.fill));
}

kernels::Status execute(const Admitted& plan, const oracle::Bytes& input, oracle::Bytes& output) {
  const std::array inputs{ConstHostBuffer{input.data(), input.size()}};
  const std::array outputs{HostBuffer{output.data(), output.size()}};
  return plan.execute(inputs, outputs);
}

TEST(Environment, FloatingPointStateHasNoInfluenceAndIsKept) {
  const FloatState usual = float_state();
  for (const Case& c : sample_cases()) {
    const Golden golden = golden_of(c);
    for (const NamedFloatState& hostile : hostile_float_states()) {
      oracle::Bytes output = golden.background;
      // Admission and preparation run under the state too.
      set_float_state(hostile.state);
      const Admitted plan = admit(c);
      const bool ok = execute(plan, golden.input, output).ok();
      const FloatState after = float_state();
      set_float_state(usual);
      EXPECT_TRUE(ok);
      EXPECT_TRUE(same_bytes(golden.output, output)) << hostile.name << ": " << describe(c);
      EXPECT_EQ(after, hostile.state) << hostile.name << ": " << describe(c);
    }
  }
}

TEST(Environment, PreparationInTwoStepsIsTheSame) {
  for (const Case& c : sample_cases()) {
    const Golden golden = golden_of(c);
    oracle::Bytes output = golden.background;
    ASSERT_TRUE(execute(admit(c, true), golden.input, output).ok());
    EXPECT_TRUE(same_bytes(golden.output, output)) << describe(c);
  }
}

TEST(Environment, AllocationsAreCounted) {
  const std::uint64_t start = allocations_of_this_thread();
  const auto by_new = std::make_unique<int>(4);
  EXPECT_GT(allocations_of_this_thread(), start);
  const std::uint64_t middle = allocations_of_this_thread();
  // Volatile, so that the pair is not removed.
  void* volatile by_malloc = std::malloc(100);
  EXPECT_GT(allocations_of_this_thread(), middle);
  std::free(by_malloc);
}

TEST(Environment, ExecutionAndAdmissionAllocateNothing) {
  for (const Case& c : sample_cases()) {
    const Golden golden = golden_of(c);
    oracle::Bytes output = golden.background;
    const Admitted plan = admit(c);
    const std::uint64_t before = allocations_of_this_thread();
    const bool ok = execute(plan, golden.input, output).ok();
    EXPECT_EQ(allocations_of_this_thread(), before) << describe(c);
    EXPECT_TRUE(ok);
    const std::array inputs{c.input};
    const std::array outputs{c.output};
    EXPECT_EQ(operation_under_test().allocations_in_check(inputs, outputs, c.fill), 0U);
  }
}

/// Ends the process: 0 for right results, 1 for wrong ones, 2 where system calls cannot be refused.
/// From the second line on any call but exit kills it, so no thread starts and no page is mapped.
[[noreturn]] void execute_without_system_calls(const Admitted& plan, const Golden& golden,
                                               oracle::Bytes* output) {
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
    _exit(2);
  const bool right = execute(plan, golden.input, *output).ok() && *output == golden.output;
  for (;;)
    syscall(SYS_exit, right ? 0 : 1);
}

TEST(Environment, SystemCallsAreCaught) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
      _exit(2);
    for (syscall(SYS_getppid);;)
      syscall(SYS_exit, 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
    GTEST_SKIP() << "system calls cannot be refused here";
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(Environment, ExecutionMakesNoSystemCall) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer has a thread of its own";
#endif
  for (const Case& c : sample_cases()) {
    const Admitted plan = admit(c);
    const Golden golden = golden_of(c);
    oracle::Bytes output = golden.background;
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0)
      execute_without_system_calls(plan, golden, &output);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
      GTEST_SKIP() << "system calls cannot be refused here";
    ASSERT_TRUE(WIFEXITED(status))
        << "killed by signal " << WTERMSIG(status) << ": " << describe(c);
    ASSERT_EQ(WEXITSTATUS(status), 0) << describe(c);
  }
}

TEST(Environment, PlansOwnTheirSpecs) {
  for (const Case& c : sample_cases()) {
    std::vector<kernels::TensorSpec> inputs{c.input};
    std::vector<kernels::TensorSpec> outputs{c.output};
    const Admission admission = operation_under_test().check(inputs, outputs, c.fill);
    inputs[0] = outputs[0] = {{7, 7}, kernels::DType::Int32, kernels::Strided{{1000, 4}}};
    const Golden golden = golden_of(c);
    oracle::Bytes output = golden.background;
    ASSERT_TRUE(execute(std::get<Admitted>(admission), golden.input, output).ok());
    EXPECT_TRUE(same_bytes(golden.output, output)) << describe(c);
  }
}

TEST(Environment, ReusedOutputsKeepNothingOfTheCallBefore) {
  for (const Case& c : sample_cases()) {
    const Admitted plan = admit(c);
    Case next = c;
    oracle::Bytes output = golden_of(c).background;
    for (std::uint64_t round = 0; round < 3; ++round) {
      next.seed = c.seed + 100 * round;
      Golden golden =
          golden_of(next, oracle::random_tensor(c.input.shape, c.input.dtype, next.seed));
      ASSERT_TRUE(execute(plan, golden.input, output).ok());
      // Holes keep the background of the first round: these cases have none.
      EXPECT_TRUE(same_bytes(golden.output, output)) << describe(next);
    }
  }
}

TEST(Threads, ManyShareOnePlan) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 20;
  for (const Case& c : sample_cases()) {
    const Admitted plan = admit(c);
    const Golden golden = golden_of(c);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&] {
        for (int round = 0; round < kRounds; ++round) {
          oracle::Bytes output = golden.background;
          if (!execute(plan, golden.input, output).ok() || output != golden.output)
            ++wrong;
        }
      });
    for (std::thread& thread : threads)
      thread.join();
    ASSERT_EQ(wrong, 0) << describe(c);
  }
}

/// The first use of the library may come from several threads at once.
TEST(Threads, ManyAdmitAndPrepareAtOnce) {
  const std::vector<Case> cases = sample_cases();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&] {
      for (const Case& c : cases) {
        const Golden golden = golden_of(c);
        oracle::Bytes output = golden.background;
        if (!execute(admit(c), golden.input, output).ok() || output != golden.output)
          ++wrong;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace simaai::test
