// SPDX-License-Identifier: LGPL-2.1-or-later
// Opening and reading of one .npy file.
#include "npy_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

namespace simaai::gst {
namespace {

std::string file_text(const std::string& path) { return "file '" + path + "': "; }

void swap_elements(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t at = 0; at + width <= bytes.size(); at += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
}

} // namespace

NpyFile::NpyFile(NpyFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)),
      payload_offset_bytes_(other.payload_offset_bytes_), header_(other.header_) {}

NpyFile& NpyFile::operator=(NpyFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(payload_offset_bytes_, other.payload_offset_bytes_);
  std::swap(header_, other.header_);
  return *this;
}

NpyFile::~NpyFile() {
  if (fd_ >= 0)
    ::close(fd_);
}

std::variant<NpyFile, FileError> NpyFile::open(const std::string& path,
                                               std::optional<kernels::DType> reinterpret) {
  NpyFile file(path);
  // Opening a FIFO waits for a writer otherwise; the flag changes nothing for regular files.
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file.fd_ < 0) {
    const int failure = errno;
    return FileError{failure == ENOENT ? ErrorKind::NotFound : ErrorKind::OpenRead,
                     file_text(path) + "cannot be opened for reading: " + g_strerror(failure)};
  }
  if (auto refused = file.read_header(reinterpret))
    return *refused;
  return file;
}

FileError NpyFile::malformed(const NpyError& error) const {
  return {ErrorKind::Data, file_text(path_) + "not a usable .npy file: " + error.what +
                               ": expected " + error.expected + ", found " + error.found};
}

std::optional<FileError> NpyFile::read_header(std::optional<kernels::DType> reinterpret) {
  struct stat status {};
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode))
    return FileError{ErrorKind::OpenRead, file_text(path_) + "expected a regular file"};
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  std::array<std::byte, kNpyPrefixBytes> start{};
  const std::span<std::byte> present(start.data(),
                                     std::min<std::uint64_t>(file_bytes, start.size()));
  if (auto failed = read_at(0, present))
    return failed;
  const auto prefix = npy_prefix(present, file_bytes);
  if (const auto* refused = std::get_if<NpyError>(&prefix))
    return malformed(*refused);
  const auto& [text_offset, text_bytes] = std::get<NpyPrefix>(prefix);
  std::string text(text_bytes, ' ');
  if (auto failed = read_at(text_offset, std::as_writable_bytes(std::span(text))))
    return failed;
  auto header = npy_parse_header(text, reinterpret);
  if (const auto* refused = std::get_if<NpyError>(&header))
    return malformed(*refused);
  header_ = std::get<NpyHeader>(header);
  payload_offset_bytes_ = text_offset + text_bytes;
  const std::uint64_t payload = file_bytes - payload_offset_bytes_;
  if (payload != header_.payload_bytes)
    return malformed({payload < header_.payload_bytes ? "short data" : "trailing bytes",
                      std::to_string(header_.payload_bytes) + " bytes after the header",
                      std::to_string(payload) + " bytes"});
  return std::nullopt;
}

std::optional<FileError> NpyFile::read_at(std::uint64_t offset, std::span<std::byte> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        ::pread(fd_, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return FileError{ErrorKind::Read, file_text(path_) + "reading failed: " + g_strerror(errno)};
    if (got == 0)
      return FileError{ErrorKind::Read,
                       file_text(path_) + "became shorter while it was read: expected " +
                           std::to_string(into.size()) + " bytes at " + std::to_string(offset) +
                           ", found " + std::to_string(done)};
    done += static_cast<std::size_t>(got);
  }
  return std::nullopt;
}

std::optional<FileError> NpyFile::read_payload(std::span<std::byte> into) const {
  if (auto failed = read_at(payload_offset_bytes_, into))
    return failed;
  if (swaps())
    swap_elements(into, kernels::scalar_bytes(header_.dtype));
  return std::nullopt;
}

bool NpyFile::swaps() const noexcept {
  const bool foreign = header_.big_endian != (std::endian::native == std::endian::big);
  return foreign && kernels::scalar_bytes(header_.dtype) > 1;
}

} // namespace simaai::gst
