// SPDX-License-Identifier: LGPL-2.1-or-later
// Client of the interface in simaai/runtime/ev74_uapi.h.
#include "runtime/char_transport.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <simaai/runtime/ev74_uapi.h>
#include <simaai/runtime/unique_fd.h>

#include "runtime/common.h"
#include "runtime/records.h"
#include "runtime/wakeup.h"

namespace simaai::runtime {
namespace {

using std::chrono::nanoseconds;

static_assert(sizeof(SimaaiEv74Info) == 16 + 16 * SIMAAI_EV74_CAPABILITIES);
static_assert(sizeof(SimaaiEv74Relocation) == 32);
static_assert(sizeof(SimaaiEv74Submit) == 16 + 2 * 32 + SIMAAI_EV74_PACKET_BYTES);
static_assert(sizeof(SimaaiEv74Completion) == 24 + 9 * 8 + 8);
static_assert(SIMAAI_EV74_PACKET_BYTES == kernels::ev74::kMaxPacketBytes);

class CharTransport final : public Transport {
public:
  CharTransport(UniqueFd node, Wakeup wakeup, const SimaaiEv74Info& info) noexcept
      : node_(std::move(node)), wakeup_(std::move(wakeup)), queue_limit_(info.queue_limit),
        capabilities_(capabilities_of(info)) {}

  [[nodiscard]] const CapabilityTable& capabilities() const noexcept override {
    return capabilities_;
  }
  Status submit(const Submission& submission) noexcept override;
  PumpResult pump(CompletionSink& sink, nanoseconds timeout) noexcept override;
  void interrupt() noexcept override { wakeup_.ring(); }

private:
  enum class Drained { Open, Ended };
  Drained drain(CompletionSink& sink) noexcept;

  const UniqueFd node_;
  const Wakeup wakeup_; ///< of interrupt()
  const std::uint32_t queue_limit_;
  const CapabilityTable capabilities_;
  bool lost_ = false; ///< of pump(), one caller at a time
};

Status CharTransport::submit(const Submission& submission) noexcept {
  SimaaiEv74Submit message{};
  message.job = submission.job;
  message.packet_bytes = static_cast<std::uint32_t>(submission.packet.size());
  for (std::size_t port = 0; port < submission.relocations.size(); ++port) {
    const BoundRelocation& from = submission.relocations[port];
    message.relocations[port] = {from.packet_offset,
                                 from.fd,
                                 from.offset_bytes,
                                 from.length_bytes,
                                 from.access == kernels::ev74::RegionAccess::Write ? 1U : 0U,
                                 0};
    // The driver imports DMA-BUFs; a memfd is told here, where the port is known.
    if (from.object.kind != MemoryKind::DmaBuf)
      return on_port(make_error(ErrorCode::UnsupportedMemory, 0, 0),
                     port == 0 ? Port::Source : Port::Destination);
  }
  std::memcpy(message.packet, submission.packet.data(), submission.packet.size());
  while (::ioctl(node_.get(), SIMAAI_EV74_IOCTL_SUBMIT, &message) != 0) {
    switch (errno) {
    case EINTR:
      continue;
    case EAGAIN:
    case ENOMEM:
      return make_error(ErrorCode::QueueFull, queue_limit_);
    case ENODEV:
      return make_error(ErrorCode::DeviceLost, 0, 0, ENODEV);
    default: // descriptors that changed since they were checked, or a driver that wants something else
      return make_error(ErrorCode::BadDescriptor, 0, message.relocations[0].fd, errno);
    }
  }
  return {};
}

CharTransport::Drained CharTransport::drain(CompletionSink& sink) noexcept {
  while (true) {
    SimaaiEv74Completion record{};
    const ssize_t got = ::read(node_.get(), &record, sizeof(record));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return Drained::Open;
    if (got != static_cast<ssize_t>(sizeof(record)))
      return Drained::Ended;
    sink.retired(completion_of(record));
  }
}

PumpResult CharTransport::pump(CompletionSink& sink, nanoseconds timeout) noexcept {
  if (lost_)
    return PumpResult::Exhausted;
  std::array<pollfd, 2> watched{pollfd{node_.get(), POLLIN, 0}, wakeup_.watched()};
  const timespec left = to_timespec(timeout);
  if (::ppoll(watched.data(), watched.size(), &left, nullptr) <= 0)
    return PumpResult::TimedOut;
  wakeup_.acknowledge(watched[1]);
  if (drain(sink) == Drained::Ended) {
    // The driver says so once nothing touches memory any more.
    lost_ = true;
    sink.lost(make_error(ErrorCode::DeviceLost, 0, 0, ENODEV));
    sink.stopped();
  }
  return PumpResult::Delivered;
}

} // namespace

TransportResult open_char_transport(std::string_view path) {
  UniqueFd node(::open(std::string(path).c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!node)
    return unavailable(errno);
  SimaaiEv74Info info{};
  if (::ioctl(node.get(), SIMAAI_EV74_IOCTL_INFO, &info) != 0)
    return unavailable(errno);
  if (info.uapi_version != SIMAAI_EV74_UAPI_VERSION || info.queue_limit == 0 ||
      info.capability_count > SIMAAI_EV74_CAPABILITIES)
    return make_error(ErrorCode::ProtocolMismatch, SIMAAI_EV74_UAPI_VERSION, info.uapi_version);
  Wakeup wakeup;
  if (!wakeup.open())
    return unavailable(errno);
  return std::make_unique<CharTransport>(std::move(node), std::move(wakeup), info);
}

} // namespace simaai::runtime
