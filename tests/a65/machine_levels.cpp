// SPDX-License-Identifier: LGPL-2.1-or-later
// Instruction-set levels of this machine.
#include "machine_levels.h"

#include <algorithm>
#include <cstdlib>

namespace simaai::test {

std::vector<std::string_view> machine_levels() {
  std::vector<std::string_view> levels{"scalar"};
#if defined(__x86_64__)
  // Set for the programs whose AVX-512 kernels run in emulation.
  const bool emulated = std::getenv("SIMAAI_TEST_EMULATED_AVX512") != nullptr;
  const bool avx2 = __builtin_cpu_supports("avx2") != 0;
  const bool avx512 = avx2 && (emulated || (__builtin_cpu_supports("avx512f") != 0 &&
                                            __builtin_cpu_supports("avx512bw") != 0 &&
                                            __builtin_cpu_supports("avx512vl") != 0));
  if (avx2)
    levels.emplace_back("avx2");
  if (avx512)
    levels.emplace_back("avx512");
  if (avx512 && (emulated || __builtin_cpu_supports("avx512vbmi") != 0))
    levels.emplace_back("avx512vbmi");
#elif defined(__aarch64__)
  levels.emplace_back("neon");
#endif
  return levels;
}

bool machine_has(std::string_view level) {
  const auto levels = machine_levels();
  return std::find(levels.begin(), levels.end(), level) != levels.end();
}

} // namespace simaai::test
