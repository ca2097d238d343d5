// SPDX-License-Identifier: LGPL-2.1-or-later
// Execution of one case on bytes written out by hand.
#pragma once

#include <initializer_list>

#include <gtest/gtest.h>

#include "a65/contract_case.h"

namespace simaai::test {

/// Little-endian bytes of 32- or 16-bit words.
oracle::Bytes words32(std::initializer_list<std::uint32_t> words);
oracle::Bytes words16(std::initializer_list<std::uint16_t> words);
oracle::Bytes zeros(std::size_t count);
oracle::Bytes operator+(oracle::Bytes left, const oracle::Bytes& right);

/// Runs the case on `input` and expects `output`, which starts as `background` (0xee throughout
/// where not given).
::testing::AssertionResult run_golden(const Case& c, const oracle::Bytes& input,
                                      const oracle::Bytes& output, oracle::Bytes background = {});

} // namespace simaai::test
