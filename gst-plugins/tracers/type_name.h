// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of types that two copies of the tracer in one process do not share.
#pragma once

#include <string>

#include <glib-object.h>

namespace simaai::latency {

/// `name`, or with a number where another copy of this code has it: a program that links the tracer
/// loads the plug-in as well when its registry is built without a helper process.
[[nodiscard]] inline std::string free_type_name(const std::string& name) {
  std::string free = name;
  for (int copy = 2; g_type_from_name(free.c_str()) != 0; ++copy)
    free = name + std::to_string(copy);
  return free;
}

} // namespace simaai::latency
