// SPDX-License-Identifier: LGPL-2.1-or-later
// Instruction-set levels of this machine, found without the library.
#pragma once

#include <string_view>
#include <vector>

namespace simaai::test {

/// Levels that the library has code for and this machine can run, lowest first.
std::vector<std::string_view> machine_levels();
bool machine_has(std::string_view level);

} // namespace simaai::test
