// SPDX-License-Identifier: LGPL-2.1-or-later
// Platform of the reference run: an ordinary program of the build machine.
#include <cstdio>

#include "program.h"

void write_bytes(const void* bytes, std::size_t count) { std::fwrite(bytes, 1, count, stdout); }

int main() {
  run_program();
  return std::fflush(stdout) == 0 ? 0 : 1;
}
