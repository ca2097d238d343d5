// SPDX-License-Identifier: LGPL-2.1-or-later
// Public handles over sessions; what is checked before a job exists.
#include <algorithm>
#include <array>
#include <utility>

#include <simaai/runtime/device.h>
#include <simaai/runtime/dma_buf.h>

#include "runtime/common.h"
#include "runtime/registry.h"
#include "runtime/session.h"

namespace simaai::runtime {
namespace {

using kernels::ev74::RegionAccess;
using kernels::ev74::Relocation;

/// An object, and the range of it that a port accesses.
struct Range {
  MemoryInfo object;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::variant<Range, Error> check_binding(const Binding& binding, const Relocation& needs) noexcept {
  const auto found =
      binding.object ? std::variant<MemoryInfo, Error>(*binding.object) : inspect(binding.fd);
  if (const auto* error = std::get_if<Error>(&found))
    return *error;
  Range range;
  range.object = *std::get_if<MemoryInfo>(&found);
  if (!range.object.sealed)
    return make_error(ErrorCode::NotSealed);
  if (needs.access == RegionAccess::Write && !range.object.writable)
    return make_error(ErrorCode::NotWritable);
  const std::uint64_t behind =
      range.object.size_bytes - std::min(range.object.size_bytes, binding.offset_bytes);
  const std::uint64_t available = std::min(behind, binding.length_bytes);
  if (available < needs.length_bytes)
    return make_error(ErrorCode::BufferTooSmall, clamp(needs.length_bytes), clamp(available));
  if (binding.offset_bytes % needs.alignment_bytes != 0)
    return make_error(ErrorCode::BufferMisaligned, needs.alignment_bytes,
                      clamp(binding.offset_bytes % needs.alignment_bytes));
  range.begin = binding.offset_bytes;
  range.end = binding.offset_bytes + needs.length_bytes;
  return range;
}

/// Both objects, source first.
using Objects = std::array<MemoryInfo, 2>;

std::variant<Objects, Error> check_bindings(const kernels::ev74::RelocatablePacket& packet,
                                            const Binding& source,
                                            const Binding& destination) noexcept {
  const auto relocations = packet.relocations();
  const auto from = check_binding(source, relocations[0]);
  if (const auto* error = std::get_if<Error>(&from))
    return on_port(*error, Port::Source);
  const auto to = check_binding(destination, relocations[1]);
  if (const auto* error = std::get_if<Error>(&to))
    return on_port(*error, Port::Destination);
  const Range& read = *std::get_if<Range>(&from);
  const Range& written = *std::get_if<Range>(&to);
  const Objects objects{read.object, written.object};
  if (read.object.device != written.object.device || read.object.inode != written.object.inode)
    return objects;
  const std::uint64_t begin = std::max(read.begin, written.begin);
  const std::uint64_t end = std::min(read.end, written.end);
  if (begin < end)
    return on_port(make_error(ErrorCode::BuffersOverlap, 0, clamp(end - begin)), Port::Destination);
  return objects;
}

} // namespace

void Job::abandon() noexcept {
  if (const auto session = std::exchange(session_, nullptr))
    session->abandon(slot_);
}

Job& Job::operator=(Job&& other) noexcept {
  if (this == &other)
    return *this;
  abandon();
  session_ = std::move(other.session_);
  slot_ = other.slot_;
  return *this;
}

Job::~Job() { abandon(); }

JobState Job::state() const noexcept {
  return session_ ? session_->state(slot_) : JobState::Completed;
}

Status Job::submit(AfterSubmit next) noexcept {
  return session_ ? session_->submit(slot_, next) : Status();
}

Status Job::wait(std::chrono::nanoseconds timeout, const std::atomic<bool>* cancelled) noexcept {
  return session_ ? session_->wait(slot_, timeout, detail::Waiting::Limited, cancelled) : Status();
}

Status Job::wait_in_turn(std::chrono::nanoseconds timeout,
                         const std::atomic<bool>* cancelled) noexcept {
  return session_ ? session_->wait(slot_, timeout, detail::Waiting::InTurn, cancelled) : Status();
}

bool Job::poll() noexcept {
  if (!session_ || session_->retired(slot_))
    return true;
  session_->deliver();
  return session_->retired(slot_);
}

Counters Job::counters() const noexcept {
  return session_ ? session_->counters(slot_) : Counters();
}

JobTimes Job::times() const noexcept { return session_ ? session_->times(slot_) : JobTimes(); }

std::variant<Device, Error> Device::open(std::string_view uri) {
  auto opened = detail::open_session(uri);
  if (const auto* error = std::get_if<Error>(&opened))
    return *error;
  return Device(std::move(*std::get_if<std::shared_ptr<detail::Session>>(&opened)));
}

const CapabilityTable& Device::capabilities() const noexcept { return session_->capabilities(); }

bool Device::lost() const noexcept { return session_->lost(); }

Status Device::check(const Plan& plan) const noexcept {
  if (plan.backend() != Backend::Ev74)
    return make_error(ErrorCode::WrongBackend);
  const auto* packet = plan.packet();
  return packet == nullptr ? Status() : capabilities().check(kernels::ev74::packet_head(*packet));
}

std::variant<Job, Error> Device::make_job(const Plan& plan, Binding source,
                                          Binding destination) const noexcept {
  if (const Status status = check(plan); !status.ok())
    return status.error();
  const auto* packet = plan.packet();
  if (packet == nullptr)
    return Job();
  if (lost())
    return make_error(ErrorCode::DeviceLost);
  const auto checked = check_bindings(*packet, source, destination);
  if (const auto* error = std::get_if<Error>(&checked))
    return *error;
  const auto slot =
      session_->take_slot(*packet, source, destination, *std::get_if<Objects>(&checked));
  if (!slot)
    return make_error(ErrorCode::QueueFull, static_cast<std::int64_t>(kMaxJobs));
  return Job(session_, *slot);
}

std::variant<Job, Error> Device::submit(const Plan& plan, Binding source, Binding destination,
                                        AfterSubmit next) const noexcept {
  auto made = make_job(plan, std::move(source), std::move(destination));
  if (auto* job = std::get_if<Job>(&made); job != nullptr && job->session_ != nullptr)
    if (const Status status = job->submit(next); !status.ok())
      return status.error();
  return made;
}

Status Device::run(const Plan& plan, Binding source, Binding destination,
                   std::chrono::nanoseconds timeout,
                   const std::atomic<bool>* cancelled) const noexcept {
  auto submitted = submit(plan, std::move(source), std::move(destination), AfterSubmit::Wait);
  if (const auto* error = std::get_if<Error>(&submitted))
    return *error;
  return std::get_if<Job>(&submitted)->wait(timeout, cancelled);
}

bool Device::await_retirement(std::chrono::nanoseconds timeout) const noexcept {
  return session_->await_retirement(timeout);
}

std::uint64_t Device::retirements() const noexcept { return session_->retirements(); }

void Device::wake() const noexcept { session_->wake(); }

std::size_t parked_jobs(std::string_view uri) noexcept {
  return detail::count_jobs(uri, &detail::Session::parked);
}

std::size_t overdue_jobs(std::string_view uri) noexcept {
  return detail::count_jobs(uri, &detail::Session::overdue);
}

} // namespace simaai::runtime
