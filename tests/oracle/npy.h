// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading and writing .npy files (format versions 1 to 3, C order, little-endian).
#pragma once

#include <string>

#include "tensor.h"

namespace simaai::oracle {

/// Reads a file. bfloat16 is '<V2', '|V2' or '<u2'. Throws std::runtime_error that names the file
/// and what is wrong with it.
Tensor read_npy(const std::string& path);

/// Writes a file of format version 1; bfloat16 is written as '<V2'. Throws std::runtime_error.
void write_npy(const std::string& path, const Tensor& tensor);

/// Physical bytes as a one-dimensional uint8 array.
Bytes read_npy_bytes(const std::string& path);
void write_npy_bytes(const std::string& path, const Bytes& bytes);

} // namespace simaai::oracle
