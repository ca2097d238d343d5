// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that are written in one go.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace simaai::kernels::matrix {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, CloseFile>;

enum class WriteStep : std::uint8_t { Done, Open, Write };

/// The step that failed and its errno value.
struct WriteOutcome {
  WriteStep step = WriteStep::Done;
  int system_error = 0;
};

/// Replaces the content of `path`, or of the file that a link of this name means. A file that could not be written whole is
/// removed, so that nothing takes the part for the whole; links, devices and pipes stay.
inline WriteOutcome write_whole_file(const std::string& path, const void* data, std::size_t bytes) {
  FilePtr file(std::fopen(path.c_str(), "wb"));
  if (!file)
    return {WriteStep::Open, errno};
  const bool written = std::fwrite(data, 1, bytes, file.get()) == bytes;
  const int write_error = errno;
  const bool closed = std::fclose(file.release()) == 0;
  if (written && closed)
    return {};
  const WriteOutcome outcome{WriteStep::Write, written ? errno : write_error};
  std::error_code ignored;
  const auto target = std::filesystem::canonical(path, ignored);
  if (std::filesystem::is_regular_file(target, ignored))
    std::filesystem::remove(target, ignored);
  return outcome;
}

} // namespace simaai::kernels::matrix
