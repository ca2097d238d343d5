// SPDX-License-Identifier: LGPL-2.1-or-later
// Client side of the protocol: descriptors out, completion records in.
#include "runtime/unix_transport.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <simaai/runtime/unique_fd.h>

#include "runtime/attention.h"
#include "runtime/common.h"
#include "runtime/protocol.h"
#include "runtime/records.h"
#include "runtime/wakeup.h"

namespace simaai::runtime {
namespace {

using std::chrono::nanoseconds;

constexpr timeval kGreetingTimeout{2, 0};
/// How long after the end of a connection the end of the server is awaited before the loss is reported without it.
constexpr int kExitGraceMs = 200;

/// Descriptors of one message.
union ControlRoom {
  cmsghdr head;
  std::array<char, CMSG_SPACE(sizeof(int) * protocol::kMaxDescriptors)> bytes;
};

UniqueFd connect_to(std::string_view path) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    errno = path.empty() ? ENOENT : ENAMETOOLONG;
    return {};
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket)
    return {};
  // Bounds connect() too, which waits while the server's backlog is full.
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kGreetingTimeout,
                     sizeof(kGreetingTimeout));
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kGreetingTimeout,
                     sizeof(kGreetingTimeout));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return {};
  return socket;
}

/// Tells when the server's process has ended; none where the kernel does not say who it is.
UniqueFd watch_peer(int socket) noexcept {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0)
    return {};
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, peer.pid, 0)));
}

class UnixTransport final : public Transport {
public:
  UnixTransport(UniqueFd socket, UniqueFd server, Wakeup wakeup,
                const protocol::Hello& hello) noexcept
      : socket_(std::move(socket)), server_(std::move(server)), wakeup_(std::move(wakeup)),
        queue_limit_(hello.queue_limit), capabilities_(capabilities_of(hello)) {}

  [[nodiscard]] const CapabilityTable& capabilities() const noexcept override {
    return capabilities_;
  }
  Status submit(const Submission& submission) noexcept override;
  PumpResult pump(CompletionSink& sink, nanoseconds timeout) noexcept override;
  void interrupt() noexcept override { wakeup_.ring(); }

private:
  enum class Drained { Open, Ended };
  Drained drain(CompletionSink& sink) noexcept;
  PumpResult lose(CompletionSink& sink, int reason) noexcept;
  PumpResult await_exit(CompletionSink& sink, nanoseconds timeout) noexcept;
  Status send(const protocol::Submit& message, const std::array<int, 2>& fds) noexcept;

  const UniqueFd socket_;
  const UniqueFd server_; ///< pidfd
  const Wakeup wakeup_;   ///< of interrupt()
  const std::uint32_t queue_limit_;
  const CapabilityTable capabilities_;
  std::atomic<std::uint32_t> server_processor_{kNoProcessor}; ///< of its last answer
  std::atomic<std::uint32_t> in_flight_{0};
  std::atomic<bool> expecting_{false}; ///< a brief job alone was handed over, and is waited for
  // Of pump(), one caller at a time.
  bool lost_ = false;
  bool stopped_ = false;
};

Status UnixTransport::submit(const Submission& submission) noexcept {
  const std::uint32_t before = in_flight_.fetch_add(1, std::memory_order_relaxed);
  if (before >= queue_limit_) {
    in_flight_.fetch_sub(1, std::memory_order_relaxed);
    return make_error(ErrorCode::QueueFull, queue_limit_);
  }
  protocol::Submit message{};
  message.header = protocol::header_of<protocol::Submit>(protocol::MessageType::Submit);
  message.job = submission.job;
  message.packet_bytes = static_cast<std::uint32_t>(submission.packet.size());
  message.fd_count = protocol::kMaxDescriptors;
  message.processor = this_processor();
  std::array<int, 2> fds{};
  for (std::uint32_t port = 0; port < fds.size(); ++port) {
    const BoundRelocation& from = submission.relocations[port];
    fds[port] = from.fd;
    message.relocations[port] = {from.packet_offset,
                                 port,
                                 from.offset_bytes,
                                 from.length_bytes,
                                 from.access == kernels::ev74::RegionAccess::Write ? 1U : 0U,
                                 0};
  }
  std::memcpy(message.packet, submission.packet.data(), submission.packet.size());
  const Status status = send(message, fds);
  if (!status.ok())
    in_flight_.fetch_sub(1, std::memory_order_relaxed);
  else if (before == 0 && submission.next == AfterSubmit::Wait &&
           submission.relocations[0].length_bytes + submission.relocations[1].length_bytes <=
               kBriefBytes)
    expecting_.store(true, std::memory_order_relaxed);
  return status;
}

Status UnixTransport::send(const protocol::Submit& message,
                           const std::array<int, 2>& fds) noexcept {
  ControlRoom control{};
  iovec part{const_cast<protocol::Submit*>(&message), sizeof(message)}; // sendmsg only reads
  msghdr envelope{};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  envelope.msg_control = control.bytes.data();
  envelope.msg_controllen = control.bytes.size();
  cmsghdr* head = CMSG_FIRSTHDR(&envelope);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(fds));
  std::memcpy(CMSG_DATA(head), fds.data(), sizeof(fds));
  while (::sendmsg(socket_.get(), &envelope, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
    switch (errno) {
    case EINTR:
      continue;
    case EAGAIN:
    case ETOOMANYREFS:
    case ENOBUFS:
      return make_error(ErrorCode::QueueFull, queue_limit_);
    case EBADF: // one of the two: the socket is ours and open
      return make_error(ErrorCode::BadDescriptor, 0, fds[0], EBADF);
    default:
      return make_error(ErrorCode::DeviceLost, 0, 0, errno);
    }
  }
  return {};
}

UnixTransport::Drained UnixTransport::drain(CompletionSink& sink) noexcept {
  while (true) {
    protocol::CompletionRecord record{};
    const ssize_t got = ::recv(socket_.get(), &record, sizeof(record), MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return Drained::Open;
    // A server that talks nonsense is not one that can be waited for.
    const std::uint32_t flying = in_flight_.load(std::memory_order_relaxed);
    if (got <= 0 || flying == 0 ||
        !protocol::is(record, protocol::MessageType::Completion, static_cast<std::size_t>(got)))
      return Drained::Ended;
    server_processor_.store(record.processor, std::memory_order_relaxed);
    const bool was_last = in_flight_.fetch_sub(1, std::memory_order_relaxed) == 1;
    sink.retired(completion_of(record));
    // Another look would find nothing, and so costs a call for nothing.
    if (was_last)
      return Drained::Open;
  }
}

PumpResult UnixTransport::lose(CompletionSink& sink, int reason) noexcept {
  lost_ = true;
  (void)::shutdown(socket_.get(), SHUT_RDWR);
  pollfd exit{server_.get(), POLLIN, 0};
  const bool ended = server_ && ::poll(&exit, 1, kExitGraceMs) == 1;
  sink.lost(make_error(ErrorCode::DeviceLost, 0, 0, reason));
  if (ended) {
    stopped_ = true;
    sink.stopped();
  }
  return PumpResult::Delivered;
}

PumpResult UnixTransport::await_exit(CompletionSink& sink, nanoseconds timeout) noexcept {
  if (stopped_ || !server_)
    return PumpResult::Exhausted;
  std::array<pollfd, 2> watched{pollfd{server_.get(), POLLIN, 0}, wakeup_.watched()};
  const timespec left = to_timespec(timeout);
  if (::ppoll(watched.data(), watched.size(), &left, nullptr) <= 0)
    return PumpResult::TimedOut;
  wakeup_.acknowledge(watched[1]);
  if (watched[0].revents != 0) {
    stopped_ = true;
    sink.stopped();
  }
  return PumpResult::Delivered;
}

PumpResult UnixTransport::pump(CompletionSink& sink, nanoseconds timeout) noexcept {
  if (lost_)
    return await_exit(sink, timeout);
  std::array<pollfd, 2> watched{wakeup_.watched(), pollfd{socket_.get(), POLLIN, 0}};
  int ready = 0;
  if (expecting_.exchange(false, std::memory_order_relaxed) &&
      may_look_out(server_processor_.load(std::memory_order_relaxed)))
    ready = look_out(watched, std::min<nanoseconds>(timeout, kAttention));
  const timespec left = to_timespec(timeout);
  if (ready == 0 && ::ppoll(watched.data(), watched.size(), &left, nullptr) <= 0)
    return PumpResult::TimedOut;
  wakeup_.acknowledge(watched[0]);
  const bool hung_up = (watched[1].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  if ((watched[1].revents != 0 && drain(sink) == Drained::Ended) || hung_up)
    return lose(sink, hung_up ? ECONNRESET : EPROTO);
  return PumpResult::Delivered;
}

} // namespace

TransportResult open_unix_transport(std::string_view path) {
  UniqueFd socket = connect_to(path);
  if (!socket)
    return unavailable(errno == EAGAIN ? ETIMEDOUT : errno);
  UniqueFd server = watch_peer(socket.get());
  protocol::Hello hello{};
  const ssize_t got = ::recv(socket.get(), &hello, sizeof(hello), MSG_TRUNC);
  const int reason = got < 0 ? errno : ECONNRESET;
  if (got <= 0)
    return unavailable(reason == EAGAIN ? ETIMEDOUT : reason);
  if (!protocol::is(hello, protocol::MessageType::Hello, static_cast<std::size_t>(got)) ||
      hello.capability_count > CapabilityTable::kMaxEntries || hello.queue_limit == 0)
    return make_error(ErrorCode::ProtocolMismatch, protocol::kVersion,
                      hello.header.magic == protocol::kMagic ? hello.header.version : 0);
  Wakeup wakeup;
  if (!wakeup.open())
    return unavailable(errno);
  return std::make_unique<UnixTransport>(std::move(socket), std::move(server), std::move(wakeup),
                                         hello);
}

} // namespace simaai::runtime
