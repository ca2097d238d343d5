// SPDX-License-Identifier: LGPL-2.1-or-later
// Links, permissions, rename.
#include "part_file.h"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include <glib.h>

namespace simaai::gst {
namespace {

/// As many as the kernel follows.
constexpr int kMostLinks = 40;

constexpr mode_t kPermissions = 07777;

const char* kind_of(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
  case S_IFDIR:
    return "a folder";
  case S_IFIFO:
    return "a pipe (FIFO)";
  case S_IFSOCK:
    return "a socket";
  case S_IFCHR:
    return "a character device";
  case S_IFBLK:
    return "a block device";
  case S_IFLNK:
    return "a link";
  default:
    return "no regular file";
  }
}

std::string refusal(const std::string& path, const std::string& is) {
  return "file '" + path + "' is " + is + "; expected a regular file, or nothing of that name";
}

/// What a link says, seen from the folder in which the link is. Empty where it cannot be read.
std::string link_target(const std::string& link) {
  std::array<char, PATH_MAX> text{};
  const ssize_t bytes = ::readlink(link.c_str(), text.data(), text.size());
  if (bytes <= 0)
    return {};
  std::string target(text.data(), static_cast<std::size_t>(bytes));
  const std::size_t slash = link.rfind('/');
  if (target.front() != '/' && slash != std::string::npos)
    target.insert(0, link, 0, slash + 1);
  return target;
}

/// As far as this process may: else the group alone, else nothing.
void keep_owner(int fd, const struct stat& replaced) noexcept {
  if (::fchown(fd, replaced.st_uid, replaced.st_gid) == 0)
    return;
  if (::fchown(fd, static_cast<uid_t>(-1), replaced.st_gid) == 0)
    return;
}

} // namespace

std::variant<FilePlace, std::string> find_file_place(const std::string& path) {
  FilePlace place{path, std::nullopt};
  struct stat found {};
  for (int links = 0; ::lstat(place.path.c_str(), &found) == 0; ++links) {
    if (!S_ISLNK(found.st_mode)) {
      if (!S_ISREG(found.st_mode))
        return refusal(path, (links > 0 ? "a link to '" + place.path + "', which is " : "") +
                                 kind_of(found.st_mode));
      place.replaced = found;
      break;
    }
    std::string target = link_target(place.path);
    if (links == kMostLinks || target.empty())
      return refusal(path, "a link to more links than are followed");
    place.path = std::move(target);
  }
  return place; // where it cannot be looked at, create() says why
}

PartFile::PartFile(FilePlace place) : place_(std::move(place)), part_(place_.path + ".part") {}

PartFile::~PartFile() {
  if (fd_ >= 0)
    ::close(fd_);
  if (is_there_)
    ::unlink(part_.c_str());
}

std::optional<std::string> PartFile::create() {
  struct stat stale {};
  if (::lstat(part_.c_str(), &stale) == 0) {
    if (!S_ISREG(stale.st_mode))
      return refusal(part_, kind_of(stale.st_mode));
    ::unlink(part_.c_str()); // its permissions and other names are not ours
  }
  // Never more open than the file that it replaces, not even while it grows.
  const mode_t mode = place_.replaced ? place_.replaced->st_mode & 0777 : 0666;
  fd_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd_ < 0)
    return "file '" + part_ + "' cannot be opened for writing: " + g_strerror(errno);
  is_there_ = true;
  if (!place_.replaced)
    return std::nullopt;
  keep_owner(fd_, *place_.replaced); // clears bits of the mode
  if (::fchmod(fd_, place_.replaced->st_mode & kPermissions) != 0)
    return "file '" + part_ + "' cannot have the permissions of '" + place_.path +
           "': " + g_strerror(errno);
  return std::nullopt;
}

bool PartFile::append(std::span<const std::byte> bytes) const noexcept {
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
bool PartFile::commit() noexcept {
  const bool closed = ::close(std::exchange(fd_, -1)) == 0;
  const bool moved = closed && std::rename(part_.c_str(), place_.path.c_str()) == 0;
  is_there_ = !moved;
  return moved;
}

} // namespace simaai::gst
