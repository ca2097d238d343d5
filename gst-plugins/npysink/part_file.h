// SPDX-License-Identifier: LGPL-2.1-or-later
// A file that is whole, or what it was before.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>

#include <sys/stat.h>

namespace simaai::gst {

/// Where a file goes: links are followed, so that they stay, and a file that is there keeps its permissions.
struct FilePlace {
  std::string path;                    ///< no link
  std::optional<struct stat> replaced; ///< of the file that is there
};

/// Refuses, with a sentence that names `path`, what is there and is no regular file: it could be a device.
[[nodiscard]] std::variant<FilePlace, std::string> find_file_place(const std::string& path);

/// Written beside its place, under the name PATH.part, and moved there by commit(). Else nothing of it stays. Thread-bound.
class PartFile {
public:
  explicit PartFile(FilePlace place);
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile();

  /// Creates the file. A part of an earlier run is removed, anything else of its name refused with a sentence.
  [[nodiscard]] std::optional<std::string> create();
  /// The next two return false with errno set.
  [[nodiscard]] bool append(std::span<const std::byte> bytes) const noexcept;
  [[nodiscard]] bool commit() noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return part_; }

private:
  FilePlace place_;
  std::string part_;
  int fd_ = -1;
  bool is_there_ = false; ///< a part that is ours
};

} // namespace simaai::gst
