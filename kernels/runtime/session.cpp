// SPDX-License-Identifier: LGPL-2.1-or-later
// Job slots, waiting and retirement.
#include "runtime/session.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <pthread.h>

#include "runtime/common.h"

namespace simaai::runtime::detail {
namespace {

using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

/// A wait without end, in steps that no clock overflows at.
constexpr nanoseconds kLongest = std::chrono::hours(24);

Error failure_of(const Completion& completion) noexcept {
  switch (completion.outcome) {
  case JobOutcome::Done:
    break;
  case JobOutcome::Entry:
    return make_error(ErrorCode::EntryRefused, 0, completion.entry_status);
  case JobOutcome::Fault:
    return make_error(ErrorCode::DeviceFault, 0, completion.detail);
  case JobOutcome::Refused:
    return make_error(ErrorCode::JobRefused, 0, completion.detail);
  case JobOutcome::Overfull:
    return make_error(ErrorCode::QueueFull, completion.detail);
  }
  return {};
}

std::uint64_t now_ns() noexcept {
  const auto since = Clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<nanoseconds>(since).count());
}

Error wrong_state(JobState expected, JobState found) noexcept {
  return make_error(ErrorCode::WrongState, static_cast<std::int64_t>(expected),
                    static_cast<std::int64_t>(found));
}

} // namespace

bool Session::lost() const noexcept {
  const std::lock_guard lock(mutex_);
  return lost_.has_value();
}

std::size_t Session::parked() const noexcept {
  const std::lock_guard lock(mutex_);
  return parked_;
}

std::size_t Session::overdue() const noexcept {
  const std::lock_guard lock(mutex_);
  if (lost_)
    return parked_;
  return static_cast<std::size_t>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.used && slot.parked && slot.error.code == ErrorCode::TimedOut;
  }));
}

void Session::deliver() noexcept {
  Lock lock(mutex_);
  if (!pumping_ && !exhausted_)
    pump(lock, nanoseconds(0));
}

std::optional<std::uint32_t> Session::take_slot(const kernels::ev74::RelocatablePacket& packet,
                                                Binding& source, Binding& destination,
                                                const std::array<MemoryInfo, 2>& objects) noexcept {
  const std::lock_guard lock(mutex_);
  if (unretired_ == Device::kMaxJobs)
    return std::nullopt;
  const auto unused =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.used; });
  const auto index = static_cast<std::uint32_t>(unused - slots_.begin());
  Slot& slot = unused != slots_.end() ? *unused : slots_.emplace_back();
  ++unretired_;
  slot.used = true;
  slot.owned = true;
  slot.parked = false;
  slot.state = JobState::Pending;
  slot.job = next_job_++;
  slot.packet = packet;
  slot.bindings[0] = std::move(source);
  slot.bindings[1] = std::move(destination);
  slot.objects = objects;
  slot.error = {};
  slot.counters = {};
  slot.times = {};
  return index;
}

JobState Session::state(std::uint32_t slot) const noexcept {
  const std::lock_guard lock(mutex_);
  return slots_[slot].state;
}

Counters Session::counters(std::uint32_t slot) const noexcept {
  const std::lock_guard lock(mutex_);
  return slots_[slot].counters;
}

JobTimes Session::times(std::uint32_t slot) const noexcept {
  const std::lock_guard lock(mutex_);
  return slots_[slot].times;
}

bool Session::retired(std::uint32_t slot) const noexcept {
  const std::lock_guard lock(mutex_);
  return slots_[slot].state == JobState::Completed || slots_[slot].state == JobState::Failed;
}

Submission Session::submission(const Slot& slot) const noexcept {
  Submission made;
  made.job = slot.job;
  made.packet = slot.packet->bytes();
  const auto relocations = slot.packet->relocations();
  for (std::size_t port = 0; port < made.relocations.size(); ++port) {
    const Binding& binding = slot.bindings[port];
    const kernels::ev74::Relocation& needs = relocations[port];
    made.relocations[port] = {needs.packet_offset, binding.fd,   binding.offset_bytes,
                              needs.length_bytes,  needs.access, slot.objects[port]};
  }
  return made;
}

Session::Keeps Session::retire(Slot& slot, JobState end) noexcept {
  if (slot.parked)
    --parked_;
  --unretired_;
  slot.parked = false;
  slot.state = end;
  if (slot.times.submitted_ns != 0)
    slot.times.retired_ns = now_ns();
  Keeps keeps{std::move(slot.bindings[0].keep), std::move(slot.bindings[1].keep)};
  if (!slot.owned)
    slot.used = false;
  return keeps;
}

void Session::park(Slot& slot, const Error& why) noexcept {
  slot.state = JobState::Parked;
  slot.error = why;
  if (!slot.parked)
    ++parked_;
  slot.parked = true;
}

Status Session::submit(std::uint32_t index, AfterSubmit next) noexcept {
  Keeps released;
  Lock lock(mutex_);
  Slot& slot = slots_[index];
  if (slot.state != JobState::Pending)
    return wrong_state(JobState::Pending, slot.state);
  if (lost_) {
    slot.error = *lost_;
    released = retire(slot, JobState::Failed);
    lock.unlock();
    return *lost_;
  }
  // Before the transport has it: another thread may pump the completion at once.
  slot.state = JobState::Submitted;
  slot.handed_over = ++hand_overs_;
  slot.times.submitted_ns = now_ns();
  Submission handed = submission(slot);
  handed.next = next;
  lock.unlock();
  const Status status = transport_->submit(handed);
  lock.lock();
  slot.behind = hand_overs_;
  if (status.ok())
    return status;
  if (!in_flight(slot)) // the device stopped meanwhile
    return slot.error;
  if (status.error().code == ErrorCode::QueueFull && !slot.parked) {
    slot.state = JobState::Pending;
    return status;
  }
  slot.error = status.error();
  released = retire(slot, JobState::Failed);
  lock.unlock();
  return status;
}

/// Called and left with the lock held, without it in between.
void Session::pump(Lock& lock, nanoseconds timeout) noexcept {
  pumping_ = true;
  lock.unlock();
  const PumpResult result = transport_->pump(*this, timeout);
  lock.lock();
  pumping_ = false;
  if (result == PumpResult::Exhausted)
    exhausted_ = true;
  changed_.notify_all();
}

/// In flight, and perhaps before `slot` in the device's queue.
std::size_t Session::jobs_ahead(const Slot& slot) const noexcept {
  if (unretired_ <= 1)
    return 0;
  return static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [&slot](const Slot& other) {
        return &other != &slot && in_flight(other) && other.handed_over <= slot.behind;
      }));
}

Status Session::wait(std::uint32_t index, nanoseconds timeout, Waiting waiting,
                     const std::atomic<bool>* cancelled) noexcept {
  const nanoseconds bounded = std::min(std::max(timeout, nanoseconds(0)), kLongest);
  auto deadline = Clock::now() + bounded;
  const auto is_cancelled = [cancelled] { return cancelled != nullptr && *cancelled; };
  Lock lock(mutex_);
  Slot& slot = slots_[index];
  if (slot.state == JobState::Pending)
    return wrong_state(JobState::Submitted, slot.state);
  // Whoever waits for a job that is parked already waits for its retirement.
  const bool reported = slot.parked;
  // None are added: each can begin the time anew once.
  std::size_t ahead = waiting == Waiting::InTurn ? jobs_ahead(slot) : 0;
  bool last_look = false;
  while (in_flight(slot) && slot.parked == reported && !is_cancelled()) {
    if (const std::size_t left_ahead = ahead != 0 ? jobs_ahead(slot) : 0; left_ahead < ahead) {
      ahead = left_ahead;
      deadline = Clock::now() + bounded;
    }
    if (exhausted_ || !wait_on(lock, deadline, &last_look))
      break;
  }
  switch (slot.state) {
  case JobState::Completed:
    return {};
  case JobState::Submitted:
    park(slot,
         is_cancelled()
             ? make_error(ErrorCode::Cancelled)
             : make_error(ErrorCode::TimedOut,
                          std::chrono::duration_cast<std::chrono::milliseconds>(bounded).count()));
    start_reaper();
    break;
  case JobState::Pending:
  case JobState::Failed:
  case JobState::Parked:
    break;
  }
  return slot.error;
}

bool Session::wait_on(Lock& lock, Clock::time_point deadline, bool* last_look) noexcept {
  const nanoseconds left = std::max<nanoseconds>(deadline - Clock::now(), nanoseconds(0));
  if (*last_look && left == nanoseconds(0))
    return false;
  *last_look = left == nanoseconds(0);
  if (pumping_)
    changed_.wait_for(lock, left);
  else
    pump(lock, left);
  return true;
}

bool Session::await_retirement(nanoseconds timeout) noexcept {
  const auto deadline = Clock::now() + std::min(std::max(timeout, nanoseconds(0)), kLongest);
  Lock lock(mutex_);
  const std::uint64_t before = retirements_;
  bool last_look = false;
  while (retirements_ == before && !exhausted_ && wait_on(lock, deadline, &last_look)) {
  }
  return retirements_ != before;
}

std::uint64_t Session::retirements() const noexcept {
  const std::lock_guard lock(mutex_);
  return retirements_;
}

void Session::wake() noexcept {
  {
    // A waiter is either before its look at `cancelled`, or asleep and will be woken.
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  transport_->interrupt();
}

void Session::abandon(std::uint32_t index) noexcept {
  Keeps released;
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[index];
  slot.owned = false;
  switch (slot.state) {
  case JobState::Pending:
    released = retire(slot, JobState::Failed);
    break;
  case JobState::Completed:
  case JobState::Failed:
    slot.used = false;
    break;
  case JobState::Submitted:
    park(slot, {});
    start_reaper();
    break;
  case JobState::Parked:
    break;
  }
}

void Session::retired(const Completion& completion) noexcept {
  Keeps released;
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    if (!in_flight(slot) || slot.job != completion.job)
      continue;
    const bool done = completion.outcome == JobOutcome::Done;
    slot.counters = completion.counters;
    slot.times.started_ns = completion.started_ns;
    slot.times.done_ns = completion.done_ns;
    // A parked job stays what its caller was told: failed.
    if (!slot.parked && !done)
      slot.error = failure_of(completion);
    ++retirements_;
    released = retire(slot, done && !slot.parked ? JobState::Completed : JobState::Failed);
    changed_.notify_all();
    return;
  }
}

void Session::lost(const Error& why) noexcept {
  const std::lock_guard lock(mutex_);
  if (lost_)
    return;
  lost_ = why;
  for (Slot& slot : slots_)
    if (slot.used && slot.state == JobState::Submitted)
      park(slot, why);
  if (parked_ > 0)
    start_reaper();
  changed_.notify_all();
}

void Session::stopped() noexcept {
  std::array<Keeps, Device::kMaxJobs> released;
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (Slot& slot : slots_)
    if (in_flight(slot)) {
      ++retirements_;
      released[count++] = retire(slot, JobState::Failed);
    }
  changed_.notify_all();
}

/// With the lock held.
void Session::start_reaper() noexcept {
  if (reaping_ || exhausted_)
    return;
  auto self = std::make_unique<std::shared_ptr<Session>>(shared_from_this());
  // Detached: it keeps the session alive, not the other way round.
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0)
    return;
  (void)::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  const auto run = [](void* argument) -> void* {
    const std::unique_ptr<std::shared_ptr<Session>> session(
        static_cast<std::shared_ptr<Session>*>(argument));
    (*session)->reap();
    return nullptr;
  };
  if (::pthread_create(&thread, &attributes, run, self.get()) == 0) {
    reaping_ = true;
    (void)self.release(); // NOLINT(bugprone-unused-return-value): the thread owns it
  }
  // Without a thread, deliver() and other waiters retire parked jobs.
  (void)::pthread_attr_destroy(&attributes);
}

void Session::reap() noexcept {
  Lock lock(mutex_);
  while (parked_ > 0 && !exhausted_) {
    if (pumping_)
      changed_.wait(lock);
    else
      pump(lock, kLongest);
  }
  reaping_ = false;
  if (parked_ > 0)
    self_ = shared_from_this();
}

} // namespace simaai::runtime::detail
