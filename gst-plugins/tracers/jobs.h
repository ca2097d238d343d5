// SPDX-License-Identifier: LGPL-2.1-or-later
// Jobs that wrote a buffer on a device: what of the buffer's time they account for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace simaai::latency {

/// Times of one job, each not earlier than the one before, in the clock of the other times.
struct Job {
  std::uint64_t submitted_ns = 0;
  std::uint64_t started_ns = 0;
  std::uint64_t done_ns = 0;
  std::uint64_t retired_ns = 0;
  std::uint64_t held_ns =
      0; ///< before it was submitted, its thread waited so long for leave to do so
};

/// Jobs of one buffer. A moment belongs to one part: to the device while any job runs, else to the queue while any job waits
/// for it, else to the way back.
struct JobParts {
  std::uint64_t queued_ns = 0;     ///< submitted, not started
  std::uint64_t device_ns = 0;     ///< started, not done
  std::uint64_t retirement_ns = 0; ///< done, not retired
  [[nodiscard]] std::uint64_t sum() const noexcept { return queued_ns + device_ns + retirement_ns; }
};

inline constexpr std::size_t kMostJobs = 16; ///< of a buffer

[[nodiscard]] JobParts parts_of(std::span<const Job> jobs) noexcept;

/// When the last one was handed over.
[[nodiscard]] std::uint64_t last_submission(std::span<const Job> jobs) noexcept;

/// How much of the time from `begin_ns` to `end_ns` no job was on its way.
[[nodiscard]] std::uint64_t time_without_jobs(std::span<const Job> jobs, std::uint64_t begin_ns,
                                              std::uint64_t end_ns) noexcept;

/// How long a thread worked that was in the element from `begin_ns` to `end_ns`: neither held nor with a job on its way.
[[nodiscard]] std::uint64_t thread_time(std::span<const Job> jobs, std::uint64_t begin_ns,
                                        std::uint64_t end_ns) noexcept;

/// Jobs of the buffer that this thread is about to push.
class PendingJobs {
public:
  /// More than kMostJobs of one buffer are not known as a whole: none is then.
  void add(std::uint64_t pointer, const char* device, const Job& job) noexcept {
    if (pointer != pointer_)
      count_ = 0;
    pointer_ = pointer;
    device_ = device;
    if (count_ < kMostJobs)
      jobs_[count_] = job;
    count_ = std::min(count_ + 1, kMostJobs + 1);
  }
  void add_unknown(std::uint64_t pointer) noexcept {
    pointer_ = pointer;
    count_ = kMostJobs + 1;
  }
  /// Those of the buffer; none where others are pending. They are taken: the next buffer may lie at the same address.
  [[nodiscard]] std::span<const Job> take(std::uint64_t pointer) noexcept {
    const std::size_t count = pointer == pointer_ && count_ <= kMostJobs ? count_ : 0;
    count_ = 0;
    return {jobs_.data(), count};
  }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] const char* device() const noexcept { return device_; }

private:
  std::uint64_t pointer_ = 0;
  const char* device_ = nullptr;
  std::size_t count_ = 0;
  std::array<Job, kMostJobs> jobs_;
};

} // namespace simaai::latency
