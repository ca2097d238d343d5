// SPDX-License-Identifier: LGPL-2.1-or-later
// simaai-oracle: expected bytes for shell tests.
#include <iostream>
#include <string>
#include <vector>

#include "commands.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return simaai::oracle::run_command(arguments, std::cout, std::cerr);
}
