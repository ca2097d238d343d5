// SPDX-License-Identifier: LGPL-2.1-or-later
// File descriptors that came with a message of a socket.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include <sys/socket.h>

#include <simaai/runtime/unique_fd.h>

namespace simaai::runtime {

/// Takes every descriptor of a message into ownership; those that find no room are closed. Returns
/// how many there were.
inline std::size_t take_descriptors(msghdr& message, std::span<UniqueFd> into) noexcept {
  std::size_t taken = 0;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
      continue;
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
      UniqueFd owned(fd);
      if (taken < into.size())
        into[taken] = std::move(owned);
      ++taken;
    }
  }
  return taken;
}

} // namespace simaai::runtime
