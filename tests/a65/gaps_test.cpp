// SPDX-License-Identifier: LGPL-2.1-or-later
// Gaps of a strided output are not even stored back: the processor stops behind each instruction of
// an execution, and the bytes of all gaps change there as another thread would change them.
#include <csignal>
#include <cstring>

#include <gtest/gtest.h>

#include "a65/contract_case.h"
#include "oracle/linear.h"
#include "oracle/random_tensor.h"
#include "support/compare_bytes.h"

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace simaai::test {
namespace {

using kernels::MlaTiled;
using kernels::Shape;
using kernels::Strided;

/// What the handler of a step works on; words, because it runs behind every instruction.
struct Steps {
  std::vector<std::uint64_t> output;
  std::vector<std::uint64_t> gaps; ///< 0xff in the bytes of gaps
  std::uint64_t mark = 0;          ///< what all bytes of gaps hold
  std::uint64_t count = 0;
  std::uint64_t undone = 0;
};
Steps* stepped = nullptr;

void change_gaps(int /*signal*/) {
  Steps& steps = *stepped;
  ++steps.count;
  const std::uint64_t next = steps.mark + 0x0101010101010101U;
  for (std::size_t word = 0; word < steps.output.size(); ++word) {
    std::uint64_t& value = steps.output[word];
    steps.undone += ((value ^ steps.mark) & steps.gaps[word]) == 0 ? 0U : 1U;
    value = (value & ~steps.gaps[word]) | (next & steps.gaps[word]);
  }
  // From the start before a byte carries into the next one.
  steps.mark = (next & 0xff) == 0xff ? 0 : next;
  if (steps.mark == 0)
    for (std::size_t word = 0; word < steps.output.size(); ++word)
      steps.output[word] &= ~steps.gaps[word];
}

/// Sets or clears the trap flag: from the next instruction on, SIGTRAP follows each.
inline void trap_each_step(bool on) noexcept {
  constexpr std::uint64_t kTrapFlag = 0x100;
  const std::uint64_t flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(on ? flags | kTrapFlag : flags & ~kTrapFlag);
}

/// Bytes of gaps: what a value scattered over two backgrounds leaves different.
oracle::Bytes gaps_of(const kernels::TensorSpec& spec, std::size_t span) {
  const oracle::Tensor values = oracle::random_tensor(spec.shape, spec.dtype, 1);
  oracle::Bytes zeros(span, 0);
  oracle::Bytes ones(span, 0xff);
  oracle::scatter(values, spec.layout, zeros.data());
  oracle::scatter(values, spec.layout, ones.data());
  for (std::size_t at = 0; at < span; ++at)
    ones[at] ^= zeros[at];
  return ones;
}

void expect_gaps_left_alone(const Case& c) {
  const std::array inputs{c.input};
  const std::array outputs{c.output};
  const Admission admission = operation_under_test().check(inputs, outputs, c.fill);
  ASSERT_TRUE(std::holds_alternative<Admitted>(admission)) << describe(c);
  Golden golden = golden_of(c);
  const std::size_t span = golden.output.size();
  const oracle::Bytes gaps = gaps_of(c.output, span);
  Steps steps;
  steps.output.resize((span + 7) / 8);
  steps.gaps.resize(steps.output.size());
  std::memcpy(steps.gaps.data(), gaps.data(), span);
  const std::array sources{kernels::ConstHostBuffer{golden.input.data(), golden.input.size()}};
  const std::array destinations{kernels::HostBuffer{steps.output.data(), span}};
  const auto& execute = std::get<Admitted>(admission).execute;
  stepped = &steps;
  struct sigaction before {};
  struct sigaction action {};
  action.sa_handler = change_gaps;
  sigaction(SIGTRAP, &action, &before);
  trap_each_step(true);
  const bool ok = execute(sources, destinations).ok();
  trap_each_step(false);
  sigaction(SIGTRAP, &before, nullptr);
  stepped = nullptr;
  EXPECT_TRUE(ok) << describe(c);
  EXPECT_GT(steps.count, 100U) << describe(c);
  EXPECT_EQ(steps.undone, 0U) << describe(c);
  oracle::Bytes output(span);
  std::memcpy(output.data(), steps.output.data(), span);
  for (std::size_t at = 0; at < span; ++at)
    if (gaps[at] != 0)
      golden.output[at] = static_cast<std::uint8_t>(steps.mark);
  EXPECT_TRUE(same_bytes(golden.output, output)) << describe(c);
}

/// Views of a shape {2, 33, channels} whose gaps are single scalars, ends of pixels, of rows, of
/// lines of planes.
std::vector<Strided> views_with_gaps(std::int64_t channels, std::int64_t scalar) {
  const std::int64_t pixel = channels * scalar;
  return {{{66 * pixel, 2 * pixel, 2 * scalar}},
          {{33 * (pixel + scalar), pixel + scalar, scalar}},
          {{33 * pixel + scalar, pixel, scalar}},
          {{34 * scalar, scalar, 70 * scalar}}};
}

TEST(Gaps, AreNotStoredBack) {
  const Operation& operation = operation_under_test();
  if (operation.tiled_output)
    return; // no gaps
  for (const DTypePair dtypes : operation.dtypes)
    for (const std::int64_t channels : {3, 17})
      for (const Strided& view : views_with_gaps(channels, kernels::scalar_bytes(dtypes.to))) {
        const Shape shape{2, 33, channels};
        const MlaTiled tiled{{-1, 0, 1, 2}, {1, 2, 32, 32}, kernels::ChannelStorage::PadTo16};
        expect_gaps_left_alone(
            operation.is_linear_only()
                ? make_case(operation, shape, dtypes, kernels::Contiguous{}, view, 7)
                : make_case(operation, shape, dtypes, view, tiled, 7));
      }
}

} // namespace
} // namespace simaai::test

#endif
