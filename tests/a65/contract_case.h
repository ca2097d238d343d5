// SPDX-License-Identifier: LGPL-2.1-or-later
// One positive case: specs, its bytes by the oracle, and its execution in guarded memory.
#pragma once

#include <array>
#include <string>

#include <gtest/gtest.h>

#include "a65/operation.h"
#include "oracle/tensor.h"

namespace simaai::test {

struct Case {
  kernels::TensorSpec input;
  kernels::TensorSpec output;
  Fill fill{};
  std::uint64_t seed = 0;
};

/// Physical bytes before and after. Padding of a tiled input is poisoned; holes of a strided output
/// hold the background that the output buffer starts with.
struct Golden {
  oracle::Bytes input;
  oracle::Bytes background;
  oracle::Bytes output;
};

/// A case of `operation` between a linear and a tiled layout, whichever side is tiled, or between
/// two linear ones. Int8 gets a fill where its storage wants one.
Case make_case(const Operation& operation, const kernels::Shape& shape, DTypePair dtypes,
               const kernels::Layout& linear, const kernels::Layout& other, std::uint64_t seed);

std::string describe(const Case& c);

/// Random values by the case's seed, or the given ones.
Golden golden_of(const Case& c);
Golden golden_of(const Case& c, const oracle::Tensor& values);

/// Admits the case, compares the requirements and executes it between guard pages at both ends of
/// both buffers.
::testing::AssertionResult run_case(const Operation& operation, const Case& c);
::testing::AssertionResult run_case(const Operation& operation, const Case& c,
                                    const Golden& golden);

/// Required alignment of a port: 16 bytes where tiled, else the scalar width.
std::uint32_t port_alignment(const kernels::TensorSpec& spec);

} // namespace simaai::test
