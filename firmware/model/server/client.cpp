// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages of one client, read without trust.
#include "firmware/model/server/client.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "runtime/attention.h"
#include "runtime/descriptors.h"
#include "runtime/protocol.h"
#include "runtime/records.h"

namespace simaai::model {
namespace {

namespace protocol = runtime::protocol;
using runtime::Completion;
using runtime::JobOutcome;
using runtime::UniqueFd;

using Descriptors = std::array<UniqueFd, protocol::kMaxDescriptors>;

/// Room for more descriptors than a message may bring, so that one too many is seen.
union ControlRoom {
  cmsghdr head;
  std::array<char, CMSG_SPACE(sizeof(int) * (protocol::kMaxDescriptors + 2))> bytes;
};

bool well_formed(const protocol::Submit& message, std::size_t descriptors) noexcept {
  if (message.reserved != 0 || message.fd_count == 0 || message.fd_count != descriptors ||
      message.packet_bytes > sizeof(message.packet))
    return false;
  return std::all_of(std::begin(message.relocations), std::end(message.relocations),
                     [&](const protocol::RelocationRecord& record) {
                       return record.fd_index < message.fd_count && record.writes <= 1 &&
                              record.reserved == 0;
                     });
}

} // namespace

bool Client::greet() noexcept {
  protocol::Hello hello{};
  hello.header = protocol::header_of<protocol::Hello>(protocol::MessageType::Hello);
  hello.queue_limit = static_cast<std::uint32_t>(queue_limit_);
  const runtime::CapabilityTable table = space_.capabilities();
  for (const runtime::Capability& entry : table.entries())
    hello.capabilities[hello.capability_count++] = {entry.operation, entry.version, entry.flags,
                                                    entry.source_dtypes, entry.destination_dtypes};
  return ::send(socket_.get(), &hello, sizeof(hello), MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof(hello));
}

Received Client::refuse(runtime::JobId job, JobOutcome outcome, std::uint32_t detail) noexcept {
  Completion completion;
  completion.job = job;
  completion.outcome = outcome;
  completion.detail = detail;
  complete(completion);
  return Received::Refused;
}

Received Client::receive() noexcept {
  protocol::Submit message{};
  ControlRoom control{};
  iovec part{&message, sizeof(message)};
  msghdr envelope{};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  envelope.msg_control = control.bytes.data();
  envelope.msg_controllen = control.bytes.size();
  const ssize_t got = ::recvmsg(socket_.get(), &envelope, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0)
    return errno == EAGAIN || errno == EINTR ? Received::Nothing : Received::Gone;
  Descriptors fds;
  const std::size_t count = runtime::take_descriptors(envelope, fds);
  if ((envelope.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ||
      !protocol::is(message, protocol::MessageType::Submit, static_cast<std::size_t>(got)) ||
      !well_formed(message, count))
    return Received::Gone;
  processor_ = message.processor;
  if (queue.size() + (running ? 1 : 0) >= queue_limit_)
    return refuse(message.job, JobOutcome::Overfull, static_cast<std::uint32_t>(queue_limit_));
  std::array<PortRange, 2> ports;
  for (std::size_t port = 0; port < ports.size(); ++port) {
    const protocol::RelocationRecord& record = message.relocations[port];
    ports[port] = {fds[record.fd_index].get(), record.packet_offset, record.offset_bytes,
                   record.length_bytes, record.writes == 1};
  }
  auto admitted = space_.admit(message.job, {message.packet, message.packet_bytes}, ports);
  if (const auto* reason = std::get_if<protocol::RefusalReason>(&admitted))
    return refuse(message.job, JobOutcome::Refused, static_cast<std::uint32_t>(*reason));
  queue.push_back(std::move(*std::get_if<ClientSpace::Job>(&admitted)));
  return Received::Queued;
}

bool Client::send(const Completion& completion) noexcept {
  auto record = runtime::record_of<protocol::CompletionRecord>(completion);
  record.header =
      protocol::header_of<protocol::CompletionRecord>(protocol::MessageType::Completion);
  record.job = completion.job;
  record.processor = runtime::this_processor();
  const ssize_t sent = ::send(socket_.get(), &record, sizeof(record), MSG_DONTWAIT | MSG_NOSIGNAL);
  // To a client that is gone everything has been said.
  return sent >= 0 || errno != EAGAIN;
}

void Client::complete(const Completion& completion) noexcept {
  if (!unsent_.empty() || !send(completion))
    unsent_.push_back(completion);
}

void Client::flush() noexcept {
  while (!unsent_.empty() && send(unsent_.front()))
    unsent_.pop_front();
}

} // namespace simaai::model
