// SPDX-License-Identifier: LGPL-2.1-or-later
// Borrowed host memory handed to execute(): a pointer and the bytes that may be accessed behind it.
#pragma once

#include <cstddef>

#include <simaai/kernels/language.h>

namespace simaai::kernels {

/// Readable memory of at least `capacity_bytes`. The caller keeps it alive until the call returns.
struct ConstHostBuffer {
  const void* data = nullptr;
  std::size_t capacity_bytes = 0;
};

/// Writable memory of at least `capacity_bytes`. The caller keeps it alive until the call returns.
struct HostBuffer {
  void* data = nullptr;
  std::size_t capacity_bytes = 0;
};

} // namespace simaai::kernels
