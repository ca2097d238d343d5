// SPDX-License-Identifier: LGPL-2.1-or-later
// A client of the server that writes its messages itself, and so can write wrong ones.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <simaai/runtime/unique_fd.h>

#include "cast_job.h"
#include "runtime/protocol.h"
#include "server_process.h"

namespace simaai::runtime::test {

/// Connected, and greeted; none where the server does not take it.
inline UniqueFd raw_client(const ServerProcess& server) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, server.path().c_str(), sizeof(address.sun_path) - 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const timeval limit{60, 0};
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return {};
  protocol::Hello hello{};
  if (::recv(socket.get(), &hello, sizeof(hello), 0) != static_cast<ssize_t>(sizeof(hello)))
    return {};
  return socket;
}

inline bool send_with(int socket, const void* data, std::size_t bytes,
                      const std::vector<int>& fds) {
  iovec part{const_cast<void*>(data), bytes};
  std::vector<char> control(CMSG_SPACE(sizeof(int) * std::max<std::size_t>(fds.size(), 1)));
  msghdr envelope{};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  if (!fds.empty()) {
    envelope.msg_control = control.data();
    envelope.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* head = CMSG_FIRSTHDR(&envelope);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(head), fds.data(), sizeof(int) * fds.size());
  }
  return ::sendmsg(socket, &envelope, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
}

inline protocol::Submit message_of(const CastJob& cast) {
  protocol::Submit message{};
  message.header = protocol::header_of<protocol::Submit>(protocol::MessageType::Submit);
  message.job = 77;
  const auto packet = cast.plan().packet()->bytes();
  message.packet_bytes = static_cast<std::uint32_t>(packet.size());
  message.fd_count = 2;
  const auto relocations = cast.plan().packet()->relocations();
  message.relocations[0] = {24, 0, cast.source().offset_bytes, relocations[0].length_bytes, 0, 0};
  message.relocations[1] = {32, 1, cast.destination().offset_bytes, relocations[1].length_bytes,
                            1,  0};
  std::memcpy(message.packet, packet.data(), packet.size());
  return message;
}

/// The record that answers, or nothing where the server hung up.
inline std::optional<protocol::CompletionRecord> answer(int socket) {
  protocol::CompletionRecord record{};
  if (::recv(socket, &record, sizeof(record), 0) != static_cast<ssize_t>(sizeof(record)))
    return std::nullopt;
  return record;
}

} // namespace simaai::runtime::test
