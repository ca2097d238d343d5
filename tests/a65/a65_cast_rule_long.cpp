// SPDX-License-Identifier: LGPL-2.1-or-later
// All 2^32 Float32 bit patterns through the row kernels that apply the cast rule.
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

/// One block of consecutive bit patterns and what the oracle makes of them.
struct Block {
  Block() : input(kBlockElements), words(kBlockElements), planes(kBlockElements) {}
  void fill(std::uint32_t number);

  std::vector<std::uint32_t> input;
  std::vector<std::uint16_t> words;  ///< converted
  std::vector<std::uint16_t> planes; ///< the same as pixels of sixteen low, then high bytes
};

void Block::fill(std::uint32_t number) {
  for (std::uint32_t i = 0; i < kBlockElements; ++i) {
    input[i] = number * kBlockElements + i;
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

  void check(const Block& block, std::vector<std::uint16_t>& found) {
    const std::vector<std::uint16_t>& expected = planes ? block.planes : block.words;
    std::fill(found.begin(), found.end(), std::uint16_t{0x5a5a});
    if (convert(block.input, found) && found == expected)
      return;
    ++wrong_blocks;
    const auto differing = std::mismatch(found.begin(), found.end(), expected.begin());
    wrong_at = block.input.front() + static_cast<std::uint32_t>(differing.first - found.begin());
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

TEST(CastRule, EveryFloat32Pattern) {
  // Compact pixels of one channel are words with the low byte first, as linear ones are.
  std::array<Subject, 3> subjects{Subject{"cast", cast_converter(), false},
                                  Subject{"casttess, 1 channel", casttess_converter(1), false},
                                  Subject{"casttess, 16 channels", casttess_converter(16), true}};
  std::atomic<std::uint32_t> next{0};
  const auto work = [&] {
    Block block;
    std::vector<std::uint16_t> found(kBlockElements);
    for (std::uint32_t number = next++; number < kBlocks; number = next++) {
      block.fill(number);
      for (Subject& subject : subjects)
        subject.check(block, found);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < std::max(1U, std::thread::hardware_concurrency()); ++thread)
    threads.emplace_back(work);
  for (std::thread& thread : threads)
    thread.join();
  for (const Subject& subject : subjects)
    EXPECT_EQ(subject.wrong_blocks, 0U)
        << subject.name << ": one wrong word is at position 0x" << std::hex << subject.wrong_at;
}

} // namespace
} // namespace simaai::test
