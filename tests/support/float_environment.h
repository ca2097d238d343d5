// SPDX-License-Identifier: LGPL-2.1-or-later
// The processor's floating-point control and status, raw.
#pragma once

#include <array>
#include <cfenv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace simaai::test {

/// One control word and its exception flags. On x86-64 MXCSR, on AArch64 FPCR and FPSR; elsewhere
/// the rounding mode alone.
struct FloatState {
  std::uint64_t control = 0;
  std::uint64_t status = 0;
  friend bool operator==(const FloatState&, const FloatState&) = default;
};

FloatState float_state();
void set_float_state(const FloatState& state);

struct NamedFloatState {
  std::string_view name;
  FloatState state;
};

/// Each rounding mode, with subnormals kept and flushed, no exception flag set.
std::vector<NamedFloatState> hostile_float_states();

} // namespace simaai::test
