// SPDX-License-Identifier: LGPL-2.1-or-later
// Instruction-set levels of this machine.
#include "machine_levels.h"

#include <algorithm>

namespace simaai::test {

std::vector<std::string_view> machine_levels() {
  std::vector<std::string_view> levels{"scalar"};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0)
    levels.emplace_back("avx2");
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
