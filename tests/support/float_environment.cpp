// SPDX-License-Identifier: LGPL-2.1-or-later
// Floating-point control registers.
#include "float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace simaai::test {

#if defined(__x86_64__)

namespace {
constexpr std::uint64_t kStatusBits = 0x003f;
constexpr std::uint64_t kMaskedExceptions = 0x1f80;
constexpr std::uint64_t kFlush = 0x8040; // FTZ and DAZ
} // namespace

FloatState float_state() {
  const std::uint64_t word = _mm_getcsr();
  return {word & ~kStatusBits, word & kStatusBits};
}

void set_float_state(const FloatState& state) {
  _mm_setcsr(static_cast<unsigned>(state.control | state.status));
}

std::vector<NamedFloatState> hostile_float_states() {
  return {{"downward", {kMaskedExceptions | 0x2000, 0}},
          {"upward", {kMaskedExceptions | 0x4000, 0}},
          {"toward zero", {kMaskedExceptions | 0x6000, 0}},
          {"nearest, flushed", {kMaskedExceptions | kFlush, 0}},
          {"upward, flushed", {kMaskedExceptions | 0x4000 | kFlush, 0}}};
}

#elif defined(__aarch64__)

FloatState float_state() {
  FloatState state;
  __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(state.control), "=r"(state.status));
  return state;
}

void set_float_state(const FloatState& state) {
  __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(state.control), "r"(state.status));
}

std::vector<NamedFloatState> hostile_float_states() {
  constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;
  constexpr std::uint64_t kFlush16 = std::uint64_t{1} << 19;
  constexpr std::uint64_t kUpward = std::uint64_t{1} << 22;
  constexpr std::uint64_t kDownward = std::uint64_t{2} << 22;
  constexpr std::uint64_t kTowardZero = std::uint64_t{3} << 22;
  return {{"downward", {kDownward, 0}},
          {"upward", {kUpward, 0}},
          {"toward zero", {kTowardZero, 0}},
          {"nearest, flushed", {kFlush | kFlush16, 0}},
          {"upward, flushed", {kUpward | kFlush | kFlush16, 0}}};
}

#else

FloatState float_state() {
  return {static_cast<std::uint64_t>(std::fegetround()),
          static_cast<std::uint64_t>(std::fetestexcept(FE_ALL_EXCEPT))};
}

void set_float_state(const FloatState& state) {
  std::fesetround(static_cast<int>(state.control));
  std::feclearexcept(FE_ALL_EXCEPT);
  std::feraiseexcept(static_cast<int>(state.status));
}

std::vector<NamedFloatState> hostile_float_states() {
  return {{"downward", {FE_DOWNWARD, 0}}, {"upward", {FE_UPWARD, 0}}};
}

#endif

} // namespace simaai::test
