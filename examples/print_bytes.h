// SPDX-License-Identifier: LGPL-2.1-or-later
// Hexadecimal output that the examples share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>

/// Prints `label`, then the bytes, 16 a line.
inline void print_bytes(const char* label, std::span<const std::byte> bytes) {
  std::printf("%s (%zu bytes)\n", label, bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i)
    std::printf("%02x%c", std::to_integer<unsigned>(bytes[i]),
                i % 16 == 15 || i + 1 == bytes.size() ? '\n' : ' ');
}
