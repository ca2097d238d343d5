// SPDX-License-Identifier: LGPL-2.1-or-later
// Float32 bit patterns through the row kernels that apply the cast rule: all 2^32 of them, and, for
// machines that are too slow for that, every upper half with the lower halves where rounding turns.
#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <simaai/kernels/a65/cast.h>
#include <simaai/kernels/a65/casttess.h>

#include "oracle/numerics.h"

namespace simaai::test {
namespace {

using kernels::ConstHostBuffer;
using kernels::DType;
using kernels::HostBuffer;
using kernels::MlaTiled;
using kernels::Shape;
using kernels::TensorSpec;

constexpr std::uint32_t kBlockElements = 1U << 16;
constexpr std::uint32_t kBlocks = 1U << 16;

/// Converts `input` to `found`; false where refused.
using Convert =
    std::function<bool(const std::vector<std::uint32_t>& input, std::vector<std::uint16_t>& found)>;

/// One block of bit patterns and what the oracle makes of them.
struct Block {
  Block() : input(kBlockElements), words(kBlockElements), planes(kBlockElements) {}
  /// Pattern i is first + i * step.
  void fill(std::uint32_t first, std::uint32_t step);

  std::vector<std::uint32_t> input;
  std::vector<std::uint16_t> words;  ///< converted
  std::vector<std::uint16_t> planes; ///< the same as pixels of sixteen low, then high bytes
};

void Block::fill(std::uint32_t first_pattern, std::uint32_t step) {
  for (std::uint32_t i = 0; i < kBlockElements; ++i) {
    input[i] = first_pattern + i * step;
    words[i] = oracle::float32_to_bfloat16(input[i]);
  }
  std::array<std::uint8_t, 32> pixel{};
  for (std::size_t first = 0; first < words.size(); first += 16) {
    for (std::size_t channel = 0; channel < 16; ++channel) {
      pixel[channel] = static_cast<std::uint8_t>(words[first + channel]);
      pixel[16 + channel] = static_cast<std::uint8_t>(words[first + channel] >> 8);
    }
    for (std::size_t word = 0; word < 16; ++word)
      planes[first + word] =
          static_cast<std::uint16_t>(pixel[2 * word] | (pixel[2 * word + 1] << 8));
  }
}

/// A converter under test, the form of its results, and what went wrong in all blocks.
struct Subject {
  const char* name;
  Convert convert;
  bool planes;
  std::atomic<std::uint32_t> wrong_blocks{0};
  std::atomic<std::uint32_t> wrong_at{0};
  std::atomic<std::uint32_t> wrong_block{0};

  void check(const Block& block, std::vector<std::uint16_t>& found) {
    const std::vector<std::uint16_t>& expected = planes ? block.planes : block.words;
    std::fill(found.begin(), found.end(), std::uint16_t{0x5a5a});
    if (convert(block.input, found) && found == expected)
      return;
    ++wrong_blocks;
    const auto differing = std::mismatch(found.begin(), found.end(), expected.begin());
    wrong_at = static_cast<std::uint32_t>(differing.first - found.begin());
    wrong_block = block.input.front();
  }
};

template <class Plan>
Convert converter(const Plan& plan,
                  kernels::Status (*run)(const Plan&, std::span<const ConstHostBuffer>,
                                         std::span<const HostBuffer>) noexcept) {
  return [plan, run](const std::vector<std::uint32_t>& input, std::vector<std::uint16_t>& found) {
    const std::array inputs{ConstHostBuffer{input.data(), input.size() * 4}};
    const std::array outputs{HostBuffer{found.data(), found.size() * 2}};
    return run(plan, inputs, outputs).ok();
  };
}

Convert cast_converter() {
  namespace op = kernels::a65::cast;
  const std::array inputs{TensorSpec{{kBlockElements}, DType::Float32}};
  const std::array outputs{TensorSpec{{kBlockElements}, DType::BFloat16}};
  return converter(std::get<op::Plan>(op::check_inference({inputs, outputs, {}})), op::execute);
}

Convert casttess_converter(std::int64_t channels) {
  namespace op = kernels::a65::casttess;
  const Shape shape{kBlockElements / channels, channels};
  const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, kBlockElements, channels}};
  const std::array inputs{TensorSpec{shape, DType::Float32}};
  const std::array outputs{TensorSpec{shape, DType::BFloat16, layout}};
  return converter(std::get<op::Plan>(op::check_inference({inputs, outputs, {}})), op::execute);
}

// Compact pixels of one channel are words with the low byte first, as linear ones are.
class CastRule : public ::testing::Test {
protected:
  std::array<Subject, 3> subjects{Subject{"cast", cast_converter(), false},
                                  Subject{"casttess, 1 channel", casttess_converter(1), false},
                                  Subject{"casttess, 16 channels", casttess_converter(16), true}};

  void TearDown() override {
    for (const Subject& subject : subjects)
      EXPECT_EQ(subject.wrong_blocks, 0U)
          << subject.name << ": word " << subject.wrong_at << " is wrong in the block from 0x"
          << std::hex << subject.wrong_block;
  }
};

TEST_F(CastRule, EveryFloat32Pattern) {
  std::atomic<std::uint32_t> next{0};
  const auto work = [&] {
    Block block;
    std::vector<std::uint16_t> found(kBlockElements);
    for (std::uint32_t number = next++; number < kBlocks; number = next++) {
      block.fill(number * kBlockElements, 1);
      for (Subject& subject : subjects)
        subject.check(block, found);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < std::max(1U, std::thread::hardware_concurrency()); ++thread)
    threads.emplace_back(work);
  for (std::thread& thread : threads)
    thread.join();
}

// Half a unit is 0x8000: a tie goes up after an odd upper half, what is below never does.
TEST_F(CastRule, EveryUpperHalfWithBoundaryLowerHalves) {
  constexpr std::array<std::uint32_t, 16> kLowerHalves{
      0x0000, 0x0001, 0x0002, 0x00ff, 0x0100, 0x3fff, 0x4000, 0x7ffe,
      0x7fff, 0x8000, 0x8001, 0x8002, 0xbfff, 0xc000, 0xfffe, 0xffff};
  Block block;
  std::vector<std::uint16_t> found(kBlockElements);
  for (const std::uint32_t lower_half : kLowerHalves) {
    block.fill(lower_half, 0x10000);
    for (Subject& subject : subjects)
      subject.check(block, found);
  }
}

} // namespace
} // namespace simaai::test
