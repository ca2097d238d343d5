// SPDX-License-Identifier: LGPL-2.1-or-later
// Devices and jobs: asynchronous submission, waiting, confirmed retirement.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <simaai/kernels/ev74/packet.h>
#include <simaai/runtime/capability.h>
#include <simaai/runtime/dma_buf.h>
#include <simaai/runtime/error.h>
#include <simaai/runtime/export.h>
#include <simaai/runtime/prepare.h>
#include <simaai/runtime/transport.h>

namespace simaai::runtime {

namespace detail {
class Session;
} // namespace detail

/// Something that is let go when a job is retired. Move-only; makes no allocation.
class Keep {
public:
  using Release = void (*)(void* object) noexcept;
  Keep() noexcept = default;
  Keep(void* object, Release release) noexcept : object_(object), release_(release) {}
  Keep(Keep&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), release_(other.release_) {}
  Keep& operator=(Keep&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(release_, other.release_);
    return *this;
  }
  Keep(const Keep&) = delete;
  Keep& operator=(const Keep&) = delete;
  ~Keep() {
    if (object_ != nullptr)
      release_(object_);
  }

private:
  void* object_ = nullptr;
  Release release_ = nullptr;
};

/// Memory for one port. `fd` is borrowed and must stay open until the job is retired: `keep` sees to that.
struct Binding {
  int fd = -1;
  std::uint64_t offset_bytes = 0; ///< of the port's first byte in the object
  std::uint64_t length_bytes = 0; ///< accessible from there on
  Keep keep;
  /// What inspect(fd) said, where the caller has asked already; else make_job() asks.
  std::optional<MemoryInfo> object = std::nullopt;
};

/// Life of a job; docs/runtime.md has the diagram.
enum class JobState : std::uint8_t {
  Pending,   ///< made, not handed over
  Submitted, ///< the device has it
  Completed, ///< retired, output written
  Failed,    ///< retired, or never handed over: the error says why
  Parked,    ///< the caller has been given an error, but the device may still touch the buffers
};

/// When a job passed from hand to hand: CLOCK_MONOTONIC (std::chrono::steady_clock), in nanoseconds; 0 where that did not
/// happen, or where the device does not tell.
struct JobTimes {
  std::uint64_t submitted_ns = 0; ///< about to be handed over
  std::uint64_t started_ns = 0;   ///< the device began
  std::uint64_t done_ns = 0;      ///< the device had ended
  std::uint64_t retired_ns = 0;   ///< this process learned of it and let the buffers go
};

class Device;

/// One run of one packet. Move-only. Thread-bound, except that jobs of one device may be used by different threads at
/// once.
class Job {
public:
  Job() noexcept = default;
  Job(Job&& other) noexcept = default;
  SIMAAI_RUNTIME_API Job& operator=(Job&& other) noexcept;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  /// Never blocks: a job that is submitted is parked and keeps its buffers until it is retired.
  SIMAAI_RUNTIME_API ~Job();

  [[nodiscard]] SIMAAI_RUNTIME_API JobState state() const noexcept;

  /// Hands a pending job over. Refusals: WrongState; QueueFull, which leaves the job pending so that it can be tried
  /// again after another one retired; DeviceLost and others, which make it Failed.
  SIMAAI_RUNTIME_API Status submit(AfterSubmit next = AfterSubmit::Anything) noexcept;

  /// Waits until the job is retired, at most `timeout`. Returns success, or why the job failed;
  /// TimedOut leaves the job parked and its buffers retained. Waiting for a parked job again waits
  /// for its retirement and returns the first error. Where `cancelled` is given and becomes true,
  /// with Device::wake() after it, the wait ends like a timeout, with Cancelled.
  SIMAAI_RUNTIME_API Status wait(std::chrono::nanoseconds timeout,
                                 const std::atomic<bool>* cancelled = nullptr) noexcept;

  /// Like wait(), but jobs that were handed over earlier on the same device, by whomever in this process, do not count:
  /// `timeout` begins anew when one of them retires. A device that stands still is so found after `timeout`; jobs that were
  /// handed over later give no more time, and so a wait ends after at most `timeout` for each job ahead and one more.
  SIMAAI_RUNTIME_API Status wait_in_turn(std::chrono::nanoseconds timeout,
                                         const std::atomic<bool>* cancelled = nullptr) noexcept;

  /// Looks for completions without waiting, then tells whether the job is retired.
  [[nodiscard]] SIMAAI_RUNTIME_API bool poll() noexcept;

  /// Of a completed job.
  [[nodiscard]] SIMAAI_RUNTIME_API Counters counters() const noexcept;

  /// What is known so far; complete once the job is retired. An empty plan has no times.
  [[nodiscard]] SIMAAI_RUNTIME_API JobTimes times() const noexcept;

private:
  friend class Device;
  friend class detail::Session;
  Job(std::shared_ptr<detail::Session> session, std::uint32_t slot) noexcept
      : session_(std::move(session)), slot_(slot) {}
  void abandon() noexcept;

  std::shared_ptr<detail::Session> session_; ///< none: an empty plan, complete from the start
  std::uint32_t slot_ = 0;
};

/// One connection to a device, shared by all who open the same URI in this process. Cheap to copy. Thread-safe.
///
///   model:OPTIONS  in-process device model, where its library was linked and registered
///   unix:PATH      server simaai-ev74d
///   dev:PATH       driver behind a character device (simaai/runtime/ev74_uapi.h)
class Device {
public:
  /// Jobs of one device that may be pending, submitted or parked at a time. Those that have ended do not count.
  static constexpr std::size_t kMaxJobs = 64;

  Device() noexcept = default;

  /// The live device of that URI, or a new connection. A device that was lost is opened anew; its parked jobs stay
  /// where they are. Refusals: UnknownScheme, BadDeviceOption, DeviceUnavailable, ProtocolMismatch.
  [[nodiscard]] SIMAAI_RUNTIME_API static std::variant<Device, Error> open(std::string_view uri);

  [[nodiscard]] explicit operator bool() const noexcept { return session_ != nullptr; }
  [[nodiscard]] SIMAAI_RUNTIME_API const CapabilityTable& capabilities() const noexcept;
  [[nodiscard]] SIMAAI_RUNTIME_API bool lost() const noexcept;

  /// Success where the device can run the packet of an EV74 plan.
  [[nodiscard]] SIMAAI_RUNTIME_API Status check(const Plan& plan) const noexcept;

  /// A pending job. Checks capability and memory before anything is handed over: each object is identified by the
  /// kernel, long enough from its offset on, aligned, writable where written, unable to shrink, and the two ports do
  /// not overlap within one object, whatever descriptors lead to it. Refusals: those of check(), WrongBackend, the codes
  /// under "Memory", QueueFull, DeviceLost. A plan without work gives a job that is complete. Allocates only where more than kMaxJobs jobs exist, and
  /// more than ever before, those that have ended but are kept included.
  [[nodiscard]] SIMAAI_RUNTIME_API std::variant<Job, Error>
  make_job(const Plan& plan, Binding source, Binding destination) const noexcept;

  /// make_job() and Job::submit().
  [[nodiscard]] SIMAAI_RUNTIME_API std::variant<Job, Error>
  submit(const Plan& plan, Binding source, Binding destination,
         AfterSubmit next = AfterSubmit::Anything) const noexcept;

  /// submit(), with AfterSubmit::Wait, and Job::wait().
  SIMAAI_RUNTIME_API Status run(const Plan& plan, Binding source, Binding destination,
                                std::chrono::nanoseconds timeout,
                                const std::atomic<bool>* cancelled = nullptr) const noexcept;

  /// For whoever met QueueFull: reads completions until a job that the device had retires, whoever has it, at most `timeout`.
  /// True where one did. Somebody has to: those who have the jobs may wait for the caller.
  SIMAAI_RUNTIME_API bool await_retirement(std::chrono::nanoseconds timeout) const noexcept;

  /// Jobs that the device had and that retired so far, whoever had them: it is alive while they become more.
  [[nodiscard]] SIMAAI_RUNTIME_API std::uint64_t retirements() const noexcept;

  /// Makes every wait on this device look at its `cancelled`.
  SIMAAI_RUNTIME_API void wake() const noexcept;

private:
  explicit Device(std::shared_ptr<detail::Session> session) noexcept
      : session_(std::move(session)) {}
  std::shared_ptr<detail::Session> session_;
};

/// Parked jobs of a URI in this process, those of lost connections included. Looks for completions first. Thread-safe.
[[nodiscard]] SIMAAI_RUNTIME_API std::size_t parked_jobs(std::string_view uri) noexcept;

/// Those of the parked jobs that nobody can be sure of: whoever waited was told TimedOut, or the connection is lost.
/// Thread-safe.
[[nodiscard]] SIMAAI_RUNTIME_API std::size_t overdue_jobs(std::string_view uri) noexcept;

} // namespace simaai::runtime
