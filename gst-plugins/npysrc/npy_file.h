// SPDX-License-Identifier: LGPL-2.1-or-later
// One open .npy file whose header has been checked against its size.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "common/errors.h"
#include "npy_header.h"

namespace simaai::gst {

/// A file that cannot be used: names the file, what was expected and what was found.
struct FileError {
  ErrorKind kind = ErrorKind::Read;
  std::string reason;
};

/// Owns a file descriptor. Thread-bound.
class NpyFile {
public:
  /// Opens `path` and reads its header. The payload is exactly what the header promises: a shorter
  /// or longer file is refused. `reinterpret` as in npy_parse_header().
  [[nodiscard]] static std::variant<NpyFile, FileError>
  open(const std::string& path, std::optional<kernels::DType> reinterpret);

  NpyFile(NpyFile&& other) noexcept;
  NpyFile& operator=(NpyFile&& other) noexcept;
  NpyFile(const NpyFile&) = delete;
  NpyFile& operator=(const NpyFile&) = delete;
  ~NpyFile();

  [[nodiscard]] const NpyHeader& header() const noexcept { return header_; }
  /// Of the whole file.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept {
    return payload_offset_bytes_ + header_.payload_bytes;
  }
  /// Whether read_payload() changes the byte order of elements.
  [[nodiscard]] bool swaps() const noexcept;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Reads the payload into `into`, which has header().payload_bytes, and puts big-endian elements
  /// into the byte order of this machine.
  [[nodiscard]] std::optional<FileError> read_payload(std::span<std::byte> into) const;

private:
  explicit NpyFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] std::optional<FileError> read_header(std::optional<kernels::DType> reinterpret);
  [[nodiscard]] std::optional<FileError> read_at(std::uint64_t offset,
                                                 std::span<std::byte> into) const;
  [[nodiscard]] FileError malformed(const NpyError& error) const;

  std::string path_;
  int fd_ = -1;
  std::uint64_t payload_offset_bytes_ = 0;
  NpyHeader header_;
};

} // namespace simaai::gst
