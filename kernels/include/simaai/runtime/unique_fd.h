// SPDX-License-Identifier: LGPL-2.1-or-later
// Owner of one file descriptor.
#pragma once

#include <utility>

#include <unistd.h>

namespace simaai::runtime {

/// Closes its descriptor when destroyed. Move-only. Thread-bound.
class UniqueFd {
public:
  UniqueFd() noexcept = default;
  /// Takes over `fd`; a negative value is "none".
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Gives the descriptor up without closing it.
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept {
    const int old = std::exchange(fd_, fd);
    if (old >= 0 && old != fd)
      ::close(old);
  }

private:
  int fd_ = -1;
};

} // namespace simaai::runtime
