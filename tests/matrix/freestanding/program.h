// SPDX-License-Identifier: LGPL-2.1-or-later
// The program that the freestanding proof compiles: a list of bytes that must not depend on the
// machine, and what the machine must offer to write them down.
#pragma once

#include <cstddef>

/// Computes with the whole core of the matrix library and hands every result to write_bytes().
void run_program();

/// Given by the platform: appends bytes to what the run reports.
void write_bytes(const void* bytes, std::size_t count);
