// SPDX-License-Identifier: LGPL-2.1-or-later
// Lengths of what overlapping jobs cover.
#include "jobs.h"

#include <algorithm>

namespace simaai::latency {

namespace {

/// Moments at which a job, or what is asked about, begins or ends; sorted.
class Moments {
public:
  void add(std::uint64_t ns) noexcept { moments_[count_++] = ns; }
  /// Calls with each pair of neighbours.
  template <class Visit> void for_each_piece(Visit visit) noexcept {
    std::sort(moments_.begin(), moments_.begin() + static_cast<std::ptrdiff_t>(count_));
    for (std::size_t i = 1; i < count_; ++i)
      visit(moments_[i - 1], moments_[i]);
  }

private:
  std::array<std::uint64_t, 4 * kMostJobs + 2> moments_;
  std::size_t count_ = 0;
};

Moments moments_of(std::span<const Job> jobs) noexcept {
  Moments moments;
  for (const Job& job : jobs) {
    for (const std::uint64_t ns : {job.submitted_ns, job.started_ns, job.done_ns, job.retired_ns})
      moments.add(ns);
  }
  return moments;
}

/// Some job is between the two times during the whole piece.
bool any_covers(std::span<const Job> jobs, std::uint64_t Job::*from, std::uint64_t Job::*to,
                std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
  return std::any_of(jobs.begin(), jobs.end(),
                     [&](const Job& job) { return job.*from <= begin_ns && end_ns <= job.*to; });
}

} // namespace

JobParts parts_of(std::span<const Job> jobs) noexcept {
  JobParts parts;
  moments_of(jobs).for_each_piece([&](std::uint64_t begin_ns, std::uint64_t end_ns) {
    const auto covered = [&](std::uint64_t Job::*from, std::uint64_t Job::*to) {
      return any_covers(jobs, from, to, begin_ns, end_ns);
    };
    if (covered(&Job::started_ns, &Job::done_ns))
      parts.device_ns += end_ns - begin_ns;
    else if (covered(&Job::submitted_ns, &Job::started_ns))
      parts.queued_ns += end_ns - begin_ns;
    else if (covered(&Job::done_ns, &Job::retired_ns))
      parts.retirement_ns += end_ns - begin_ns;
  });
  return parts;
}

std::uint64_t last_submission(std::span<const Job> jobs) noexcept {
  std::uint64_t last_ns = 0;
  for (const Job& job : jobs)
    last_ns = std::max(last_ns, job.submitted_ns);
  return last_ns;
}

std::uint64_t time_without_jobs(std::span<const Job> jobs, std::uint64_t begin_ns,
                                std::uint64_t end_ns) noexcept {
  Moments moments = moments_of(jobs);
  moments.add(begin_ns);
  moments.add(end_ns);
  std::uint64_t without_ns = 0;
  moments.for_each_piece([&](std::uint64_t from_ns, std::uint64_t to_ns) {
    if (from_ns >= begin_ns && to_ns <= end_ns &&
        !any_covers(jobs, &Job::submitted_ns, &Job::retired_ns, from_ns, to_ns))
      without_ns += to_ns - from_ns;
  });
  return without_ns;
}

std::uint64_t thread_time(std::span<const Job> jobs, std::uint64_t begin_ns,
                          std::uint64_t end_ns) noexcept {
  const std::uint64_t without_ns = time_without_jobs(jobs, begin_ns, end_ns);
  std::uint64_t held_ns = 0;
  for (const Job& job : jobs)
    held_ns += job.held_ns;
  return without_ns - std::min(held_ns, without_ns);
}

} // namespace simaai::latency
