// SPDX-License-Identifier: LGPL-2.1-or-later
// One connection to a device and every job that went, or may go, through it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <simaai/runtime/device.h>
#include <simaai/runtime/transport.h>

namespace simaai::runtime::detail {

/// What the time of a wait is for.
enum class Waiting : std::uint8_t {
  Limited, ///< the time is for all of the wait
  InTurn,  ///< it begins anew when a job that may be ahead retires
};

/// Jobs live in a table of slots, so that a job costs no allocation. A slot is free again when its job is retired and its
/// handle is gone, whichever is later. The number in flight is bounded; the table grows where more handles are kept: those
/// of elements upstream must not take the places that elements downstream need.
///
/// Who reads completions: whoever waits. One thread at a time is in Transport::pump() (pumping_), the others wait on
/// changed_ and one of them takes over. Where jobs are parked and nobody waits for them, a thread of the session does,
/// and holds a reference to the session until none is left.
///
/// Which jobs are ahead of another one: hand-overs are counted as they begin, as two of them at a time end in either order.
/// Those that began after another one had ended are behind it; all others may be ahead.
///
/// mutex_ protects every member but transport_ and uri_. It is never held across a call into the transport or into a
/// Keep.
class Session final : public CompletionSink, public std::enable_shared_from_this<Session> {
public:
  Session(std::string uri, std::unique_ptr<Transport> transport) noexcept
      : uri_(std::move(uri)), transport_(std::move(transport)) {}
  ~Session() override = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const std::string& uri() const noexcept { return uri_; }
  [[nodiscard]] const CapabilityTable& capabilities() const noexcept {
    return transport_->capabilities();
  }
  [[nodiscard]] bool lost() const noexcept;
  [[nodiscard]] std::size_t parked() const noexcept;
  [[nodiscard]] std::size_t overdue() const noexcept;
  /// Delivers what has arrived, unless somebody else does.
  void deliver() noexcept;

  /// The bindings are checked. Nothing where as many jobs as may be are in flight; the bindings are left alone then.
  [[nodiscard]] std::optional<std::uint32_t>
  take_slot(const kernels::ev74::RelocatablePacket& packet, Binding& source, Binding& destination,
            const std::array<MemoryInfo, 2>& objects) noexcept;
  [[nodiscard]] JobState state(std::uint32_t slot) const noexcept;
  [[nodiscard]] Counters counters(std::uint32_t slot) const noexcept;
  [[nodiscard]] JobTimes times(std::uint32_t slot) const noexcept;
  [[nodiscard]] bool retired(std::uint32_t slot) const noexcept;
  Status submit(std::uint32_t index, AfterSubmit next) noexcept;
  Status wait(std::uint32_t index, std::chrono::nanoseconds timeout, Waiting waiting,
              const std::atomic<bool>* cancelled) noexcept;
  bool await_retirement(std::chrono::nanoseconds timeout) noexcept;
  [[nodiscard]] std::uint64_t retirements() const noexcept;
  void wake() noexcept;
  /// The handle goes away.
  void abandon(std::uint32_t index) noexcept;

  // CompletionSink.
  void retired(const Completion& completion) noexcept override;
  void lost(const Error& why) noexcept override;
  void stopped() noexcept override;

private:
  using Lock = std::unique_lock<std::mutex>;
  using Keeps = std::array<Keep, 2>;

  struct Slot {
    bool used = false;
    bool owned = false;  ///< a Job refers to it
    bool parked = false; ///< an error was reported, or the handle went, before retirement
    JobState state = JobState::Pending;
    JobId job = 0;
    std::uint64_t handed_over = 0; ///< number of the hand-over
    std::uint64_t behind = 0;      ///< the last hand-over that had begun when this one ended
    std::optional<kernels::ev74::RelocatablePacket> packet;
    std::array<Binding, 2> bindings;
    std::array<MemoryInfo, 2> objects;
    Error error{};
    Counters counters{};
    JobTimes times{};
  };

  [[nodiscard]] static bool in_flight(const Slot& slot) noexcept {
    return slot.used && (slot.state == JobState::Submitted || slot.state == JobState::Parked);
  }
  [[nodiscard]] std::size_t jobs_ahead(const Slot& slot) const noexcept;
  void park(Slot& slot, const Error& why) noexcept;
  [[nodiscard]] Keeps retire(Slot& slot, JobState end) noexcept;
  void pump(Lock& lock, std::chrono::nanoseconds timeout) noexcept;
  /// Waits for one change, reading completions where nobody else does. False once the deadline was over at the last look as well.
  [[nodiscard]] bool wait_on(Lock& lock, std::chrono::steady_clock::time_point deadline,
                             bool* last_look) noexcept;
  void start_reaper() noexcept;
  void reap() noexcept;
  [[nodiscard]] Submission submission(const Slot& slot) const noexcept;

  const std::string uri_;
  const std::unique_ptr<Transport> transport_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Slot> slots_ =
      std::deque<Slot>(Device::kMaxJobs); ///< never shrinks: slots stay in place
  std::uint64_t next_job_ = 1;
  std::size_t unretired_ = 0;     ///< pending, submitted or parked; at most Device::kMaxJobs
  std::uint64_t hand_overs_ = 0;  ///< begun so far
  std::uint64_t retirements_ = 0; ///< so far, of jobs that the device had
  std::size_t parked_ = 0;
  bool pumping_ = false;
  bool reaping_ = false;
  bool exhausted_ = false; ///< nothing will ever be delivered again
  std::optional<Error> lost_;
  std::shared_ptr<Session>
      self_; ///< where parked jobs can never retire: kept until the process ends
};

} // namespace simaai::runtime::detail
