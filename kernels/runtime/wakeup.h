// SPDX-License-Identifier: LGPL-2.1-or-later
// Ends the poll() of another thread: an eventfd that is watched beside what brings news.
#pragma once

#include <cerrno>
#include <cstdint>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <simaai/runtime/unique_fd.h>

namespace simaai::runtime {

/// Move-only. ring() from any thread, the rest by the one that polls.
class Wakeup {
public:
  Wakeup() noexcept = default;
  /// False, with errno set, where the process has no descriptor left.
  [[nodiscard]] bool open() noexcept {
    fd_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    return static_cast<bool>(fd_);
  }
  void ring() const noexcept {
    const std::uint64_t one = 1;
    (void)!::write(fd_.get(), &one, sizeof(one));
  }
  [[nodiscard]] pollfd watched() const noexcept { return {fd_.get(), POLLIN, 0}; }
  /// After poll(), with what it returned: the next one waits again.
  void acknowledge(const pollfd& found) const noexcept {
    std::uint64_t count = 0;
    if (found.revents != 0)
      (void)!::read(fd_.get(), &count, sizeof(count));
  }

private:
  UniqueFd fd_;
};

} // namespace simaai::runtime
