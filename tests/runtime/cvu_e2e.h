// SPDX-License-Identifier: LGPL-2.1-or-later
// End-to-end runs of one operation on a device: every byte checked, submission to retirement measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include <simaai/kernels/tensor_spec.h>
#include <simaai/runtime/error.h>
#include <simaai/runtime/prepare.h>

#include "a65/contract_case.h"

namespace simaai::runtime::test {

/// A case and where its ports start in their objects: bytes past a multiple of 64.
struct E2eCase {
  std::string name;
  simaai::test::Case c;
  std::uint32_t source_phase = 0;
  std::uint32_t destination_phase = 0;
};

struct E2eSuite {
  const char* program;
  std::function<std::variant<Plan, Error>(const simaai::test::Case&)> prepare;
  std::vector<E2eCase> generated; ///< 300: correctness only
  std::vector<E2eCase> corpus;    ///< 30: latency
  std::vector<E2eCase> family;    ///< layouts that two firmware routes share or compete for
  std::vector<E2eCase> retained;  ///< 32: same objects again and again, at phases of their own
};

/// Runs the program: `[--device URI] [--shared-family-only] [--no-latency] [--only TEXT]`. Each case is verified, output holes and
/// guards included; then, unless asked not to, 10 warm-ups and 100 samples from submission to retirement are taken of the
/// cases that are measured, and verified again. The median decides; percentiles are printed to diagnose. Returns the
/// exit status: 0 only where all bytes of all cases are right.
int run_e2e(const E2eSuite& suite, int count, char** arguments);

} // namespace simaai::runtime::test
