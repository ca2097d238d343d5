// SPDX-License-Identifier: LGPL-2.1-or-later
// The rescale against floor division in 128 bits, on every instruction set of the machine.
#include <limits>

#include "support.h"

using namespace matrix_test;

namespace {

constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();

/// Expects one element from an accumulator, by the single call and inside a run of each length
/// that ends a vector early, exactly or late.
void expect_run(const std::vector<std::int32_t>& accumulators, std::int32_t multiplier,
                unsigned shift) {
  const Requant requant(multiplier, shift);
  std::vector<std::int8_t> run(accumulators.size());
  requantize_into(accumulators, requant, run);
  for (std::size_t n = 0; n < run.size(); ++n) {
    const int expected = reference::requantized(accumulators[n], multiplier, shift);
    ASSERT_EQ(requant.requantize(accumulators[n]), expected)
        << accumulators[n] << " * " << multiplier << " >> " << shift;
    ASSERT_EQ(run[n], expected) << accumulators[n] << " * " << multiplier << " >> " << shift
                                << " at " << n;
  }
}

std::vector<std::int32_t> interesting_accumulators(reference::Random& random) {
  std::vector<std::int32_t> values = {0,    1,         -1,         2,     -2,       127,      128,
                                      -128, -129,      kMax,       kMin,  kMax - 1, kMin + 1, 300,
                                      -300, 183042048, -181612032, 65535, -65536};
  for (int n = 0; n < 80; ++n)
    values.push_back(random.word() >> (random.bits() % 32));
  return values;
}

TEST(RequantSuite, WorkedTable) {
  constexpr Requant scale(38'997'123, 27);
  static_assert(scale.requantize(0) == 0);
  static_assert(scale.requantize(1) == 0);
  static_assert(scale.requantize(4) == 1);
  static_assert(scale.requantize(300) == 87);
  static_assert(scale.requantize(-300) == -87);
  static_assert(scale.requantize(2'000'000) == 127);
  constexpr std::array<std::int32_t, 6> accumulators = {0, 1, 4, 300, -300, 2'000'000};
  on_each_backend([&] {
    std::array<std::int8_t, 6> elements{};
    requantize_into(accumulators, scale, elements);
    EXPECT_EQ(elements, (std::array<std::int8_t, 6>{0, 0, 1, 87, -87, 127}));
  });
}

TEST(RequantSuite, HalfMovesTowardPositiveInfinity) {
  constexpr Requant half(1, 1);
  static_assert(half.requantize(-1) == 0 && half.requantize(1) == 1);
  static_assert(half.requantize(-3) == -1 && half.requantize(3) == 2);
  on_each_backend([&] {
    std::array<std::int8_t, 4> elements{};
    requantize_into(std::array<std::int32_t, 4>{-1, 1, -3, 3}, half, elements);
    EXPECT_EQ(elements, (std::array<std::int8_t, 4>{0, 1, -1, 2}));
  });
}

TEST(RequantSuite, ShiftZeroTakesTheProduct) {
  on_each_backend([] {
    expect_run({0, 1, -1, 63, -64, 64, -65, 127, -128, kMax, kMin, 5, 9, -9, 11, 12, 13}, 2, 0);
    expect_run({0, 1, -1, 127, -127, 128, -128, 129, -129, kMax, kMin}, -1, 0);
    expect_run({0, 1, -1, 2, -2, kMax, kMin, 3, 4}, kMin, 0);
  });
}

TEST(RequantSuite, ResultsBeyondTheRangeLandOnItsEnds) {
  constexpr Requant unit(1, 0);
  EXPECT_EQ(unit.requantize(127), 127);
  EXPECT_EQ(unit.requantize(128), 127);
  EXPECT_EQ(unit.requantize(-128), -128);
  EXPECT_EQ(unit.requantize(-129), -128);
  EXPECT_EQ(unit.requantize(kMax), 127);
  EXPECT_EQ(unit.requantize(kMin), -128);
  on_each_backend([] { expect_run({127, 128, -128, -129, kMax, kMin, 126, -127, 0}, 1, 0); });
}

TEST(RequantSuite, LargestShift) {
  constexpr Requant scale(kMin, 62);
  // (-2^31) * (-2^31) = 2^62, and 2^62 + 2^61 floors to 1; one less in magnitude floors the same.
  static_assert(scale.requantize(kMin) == 1 && scale.requantize(0) == 0);
  static_assert(Requant(kMax, 62).requantize(kMin) == -1);
  on_each_backend([] {
    expect_run({kMin, kMax, 0, 1, -1, 1 << 30, -(1 << 30), (1 << 30) - 1}, kMin, 62);
    expect_run({kMin, kMax, 0, 1, -1, 1 << 30, -(1 << 30), (1 << 30) - 1}, kMax, 62);
  });
}

TEST(RequantSuite, EveryShiftWithExtremeMultipliers) {
  reference::Random random(31);
  const auto accumulators = interesting_accumulators(random);
  on_each_backend([&] {
    for (unsigned shift = 0; shift <= 62; ++shift)
      for (const std::int32_t multiplier :
           {kMin, kMin + 1, kMax, kMax - 1, 0, 1, -1, 2, -2, 127, 38'997'123, -38'997'123})
        expect_run(accumulators, multiplier, shift);
  });
}

TEST(RequantSuite, RandomScales) {
  reference::Random random(32);
  on_each_backend([&] {
    for (int n = 0; n < 3000; ++n)
      expect_run(interesting_accumulators(random), random.word() >> (random.bits() % 31),
                 random.bits() % 63);
  });
}

TEST(RequantSuite, BoundariesOfSaturationAndRounding) {
  // Accumulators around every result boundary: where acc * m / 2^s crosses k - 1/2.
  reference::Random random(33);
  on_each_backend([&] {
    for (int n = 0; n < 400; ++n) {
      const std::int32_t multiplier = random.word() >> (random.bits() % 24);
      const unsigned shift = random.bits() % 57;
      std::vector<std::int32_t> near;
      for (const int k : {-129, -128, -127, -1, 0, 1, 126, 127, 128})
        for (int around = -2; around <= 2 && multiplier != 0; ++around) {
          const reference::Wide edge =
              ((static_cast<reference::Wide>(2 * k - 1) << shift) / 2) / multiplier + around;
          if (edge >= kMin && edge <= kMax)
            near.push_back(static_cast<std::int32_t>(edge));
        }
      expect_run(near, multiplier, shift);
    }
  });
}

TEST(RequantSuite, RunsOfEveryLengthAndAlignment) {
  reference::Random random(34);
  on_each_backend([&] {
    for (std::size_t length = 0; length <= 70; ++length)
      for (std::size_t skip = 0; skip < 3; ++skip) {
        std::vector<std::int32_t> src(length + skip);
        for (std::int32_t& value : src)
          value = random.word() >> 14;
        std::vector<std::int8_t> dst(length + skip + 9, 77);
        requantize_into(std::span(src).subspan(skip), Requant(38'997'123, 33),
                        std::span(dst).subspan(skip, length));
        for (std::size_t n = 0; n < dst.size(); ++n) {
          const bool inside = n >= skip && n < skip + length;
          ASSERT_EQ(dst[n], inside ? reference::requantized(src[n], 38'997'123, 33) : 77);
        }
      }
  });
}

TEST(RequantSuite, FusedAndSeparateRescaleAgree) {
  reference::Random random(35);
  on_each_backend([&] {
    const auto a = filled<Matrix<40, 90>>(random.rows(40, 90));
    const auto b = filled<Matrix<90, 30, ColMajor>>(random.rows(90, 30));
    const Requant scale(random.word(), 44);
    std::array<std::int32_t, 1200> sums{};
    std::array<std::int8_t, 1200> separate{};
    std::array<std::int8_t, 1200> fused{};
    matmul(a, b, sums);
    requantize_into(sums, scale, separate);
    matmul_requantized(a, b, scale, fused);
    EXPECT_EQ(fused, separate);
  });
}

TEST(RequantSuiteDeathTest, ShiftAboveTheBoundIsRefused) {
  for (volatile unsigned shift : {63U, 64U, 255U, 256U, 4'000'000'000U})
    EXPECT_DEATH((void)Requant(1, shift), "Requant: shift [0-9]+ is above 62");
  EXPECT_EQ(Requant(1, 62).shift(), 62U);
}

TEST(RequantSuiteDeathTest, RunsOfDifferentLengthAreRefused) {
  const std::vector<std::int32_t> src(4);
  std::vector<std::int8_t> dst(5);
  EXPECT_DEATH(requantize_into(src, Requant(1, 1), dst),
               "requantize_into: 5 elements were given, 4 are expected");
}

} // namespace
