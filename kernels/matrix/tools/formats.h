// SPDX-License-Identifier: LGPL-2.1-or-later
// The file formats of simaai-tgmx: one reader and one writer each, errors as sentences.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <simaai/kernels/matrix/dyn_matrix.h>

namespace simaai::kernels::matrix::tool {

using Read = Result<DynMatrix, std::string>;
/// Empty on success, else why not.
using Written = std::optional<std::string>;

enum class Format { Tgmx, Npy, Text };

/// "tgmx", "npy" or "text".
[[nodiscard]] std::optional<Format> format_from_name(std::string_view name);
/// By extension: .tgmx, .npy, .txt or .csv.
[[nodiscard]] std::optional<Format> format_from_path(std::string_view path);

/// How messages call an input: "-" and /dev/stdin are standard input, read as it comes and not opened anew.
[[nodiscard]] std::string input_name(const std::string& path);

[[nodiscard]] Read read_matrix(const std::string& path, Format format);
/// `order` is how .npy stores the elements; the other formats have one order. "-" and /dev/stdout are standard output, written
/// where it stands; main() sees whether that failed.
[[nodiscard]] Written write_matrix(const std::string& path, Format format, const DynMatrix& matrix,
                                   DynOrder order);

/// Appends a whole file to `content`, or says why not.
[[nodiscard]] Written read_file(const std::string& path, std::string& content);
[[nodiscard]] Written write_file(const std::string& path, std::string_view content);

/// NumPy's .npy, versions 1 to 3: rank 2, int8, C or Fortran order.
[[nodiscard]] Read parse_npy(std::string_view content);
[[nodiscard]] std::string format_npy(const DynMatrix& matrix, DynOrder order);

/// One row a line, decimal numbers apart by blanks, or by one comma or semicolon; '#' starts a comment.
[[nodiscard]] Read parse_text(std::string_view content);
[[nodiscard]] std::string format_text(const DynMatrix& matrix);

} // namespace simaai::kernels::matrix::tool
