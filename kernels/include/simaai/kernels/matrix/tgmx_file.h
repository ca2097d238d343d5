// SPDX-License-Identifier: LGPL-2.1-or-later
// TGMX files, and refusals as sentences. Hosted only.
#pragma once

#include <cstdint>
#include <string>

#include <simaai/kernels/export.h>
#include <simaai/kernels/matrix/dyn_matrix.h>

namespace simaai::kernels::matrix {

/// English sentence without a full stop: what was expected, what was found. Allocates.
[[nodiscard]] SIMAAI_KERNELS_API std::string message(const EncodeError& error);
[[nodiscard]] SIMAAI_KERNELS_API std::string message(const DecodeError& error);

/// Why a file was not read or written.
struct FileError {
  enum Code : std::uint8_t {
    CannotOpen,  ///< system_error
    CannotRead,  ///< system_error
    CannotWrite, ///< system_error; a regular file was removed
    Refused,     ///< refusal: the bytes are no matrix
  };
  Code code = CannotOpen;
  int system_error = 0; ///< an errno value
  DecodeError refusal{};

  /// English sentence without the file's name. Allocates.
  [[nodiscard]] SIMAAI_KERNELS_API std::string message() const;
};

/// Reads the one matrix that a file, pipe or device holds, up to its end. Never reads or allocates
/// more than the stated shape needs. Reentrant.
SIMAAI_KERNELS_API Result<DynMatrix, FileError> read_tgmx(const std::string& path, DynOrder order);

/// Replaces the file's content by the matrix. A file that cannot be written whole is removed. Reentrant.
SIMAAI_KERNELS_API Result<void, FileError> write_tgmx(const std::string& path, DynMatrixRef matrix);

} // namespace simaai::kernels::matrix
