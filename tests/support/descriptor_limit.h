// SPDX-License-Identifier: LGPL-2.1-or-later
// A process that may open no more files, for a while.
#pragma once

#include <cstddef>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace simaai::test {

/// While it lives, only `spare` more descriptors can be opened: all others below a limit are taken.
class DescriptorLimit {
public:
  explicit DescriptorLimit(std::size_t spare) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit now = before_;
    now.rlim_cur = before_.rlim_cur < kLimit ? before_.rlim_cur : kLimit;
    ::setrlimit(RLIMIT_NOFILE, &now);
    for (int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0; fd = ::dup(fd))
      taken_.push_back(fd);
    for (; spare > 0 && !taken_.empty(); --spare) {
      ::close(taken_.back());
      taken_.pop_back();
    }
  }
  ~DescriptorLimit() {
    for (const int fd : taken_)
      ::close(fd);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

private:
  static constexpr rlim_t kLimit = 256;
  rlimit before_{};
  std::vector<int> taken_;
};

} // namespace simaai::test
