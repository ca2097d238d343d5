// SPDX-License-Identifier: LGPL-2.1-or-later
// The simaai-oracle commands, callable from tests.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

namespace simaai::oracle {

/// Runs one command. Returns 0, 1 where `compare` found a difference, or 2 for a usage or file
/// error, which is reported on `errors`.
int run_command(std::span<const std::string> arguments, std::ostream& output, std::ostream& errors);

} // namespace simaai::oracle
