// SPDX-License-Identifier: LGPL-2.1-or-later
// Header, payload, rename.
#include "npy_writer.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include <simaai/kernels/ops/requirement.h>

#include "common/linear_size.h"
#include "gather.h"
#include "npysrc/npy_header.h"

namespace simaai::gst {
namespace {

/// A file that exists under its final name only after commit().
class PartFile {
public:
  explicit PartFile(const std::string& path)
      : path_(path), part_(path + ".part"),
        fd_(::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {}
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() {
    if (fd_ >= 0)
      ::close(fd_);
    if (created_ && !committed_)
      ::unlink(part_.c_str());
  }

  [[nodiscard]] bool open() const noexcept { return created_; }

  [[nodiscard]] bool append(std::span<const std::byte> bytes) const noexcept {
    while (!bytes.empty()) {
      const ssize_t put = ::write(fd_, bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR)
        continue;
      if (put < 0)
        return false;
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return true;
  }

  /// close() reports what the file system kept back until now (quota, network).
  [[nodiscard]] bool commit() noexcept {
    const bool closed = ::close(std::exchange(fd_, -1)) == 0;
    committed_ = closed && std::rename(part_.c_str(), path_.c_str()) == 0;
    return committed_;
  }

private:
  std::string path_;
  std::string part_;
  int fd_;
  bool created_ = fd_ >= 0;
  bool committed_ = false;
};

} // namespace

std::variant<NpyWriter, std::string> NpyWriter::make(const kernels::TensorSpec& spec) {
  const auto need = kernels::ops::port_requirement(spec);
  if (const auto* refused = std::get_if<kernels::Error>(&need))
    return refused->message();
  NpyWriter writer;
  writer.spec_ = spec;
  writer.needed_bytes_ = std::get<kernels::ops::PortRequirement>(need).bytes;
  const bool linear = std::holds_alternative<kernels::Contiguous>(spec.layout) ||
                      std::holds_alternative<kernels::Strided>(spec.layout);
  if (!linear) {
    const std::array physical{static_cast<std::int64_t>(writer.needed_bytes_)};
    writer.header_ = npy_build_header(kernels::DType::UInt8, physical);
    return writer;
  }
  writer.header_ = npy_build_header(spec.dtype, spec.shape.extents());
  if (!is_dense(spec) && writer.needed_bytes_ > 0) {
    std::size_t bytes = kernels::scalar_bytes(spec.dtype);
    for (const std::int64_t extent : spec.shape.extents())
      bytes *= static_cast<std::size_t>(extent);
    writer.gathered_.resize(bytes);
  }
  return writer;
}

std::optional<std::string> NpyWriter::write(const std::string& path,
                                            std::span<const std::byte> tensor) {
  std::span<const std::byte> payload = tensor.first(static_cast<std::size_t>(needed_bytes_));
  if (gathers()) {
    gather_row_major(spec_, tensor.data(), gathered_.data());
    payload = gathered_;
  }
  PartFile file(path);
  if (!file.open())
    return "file '" + path + ".part' cannot be opened for writing: " + g_strerror(errno);
  if (!file.append(std::as_bytes(std::span(header_))) || !file.append(payload))
    return "file '" + path + ".part': writing " + std::to_string(header_.size() + payload.size()) +
           " bytes failed: " + g_strerror(errno);
  if (!file.commit())
    return "file '" + path + "': cannot be put in place: " + std::string(g_strerror(errno));
  return std::nullopt;
}

} // namespace simaai::gst
