// SPDX-License-Identifier: LGPL-2.1-or-later
// One run of one pipeline: its recorder, and who still needs it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "recorder.h"

namespace simaai::latency {

/// Counted by hand: metas on buffers outlive the run, and a shared pointer does not fit a GstMeta.
class Session {
public:
  Session(const Settings& settings, std::string name)
      : recorder_(settings), name_(std::move(name)) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void ref() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void unref() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }

  [[nodiscard]] Recorder& recorder() noexcept { return recorder_; }
  [[nodiscard]] const Recorder& recorder() const noexcept { return recorder_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// The run is over: pads that run again belong to a new session.
  void close() noexcept { closed_.store(true, std::memory_order_release); }
  [[nodiscard]] bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

private:
  ~Session() = default;

  Recorder recorder_;
  std::string name_;
  std::atomic<bool> closed_{false};
  std::atomic<std::uint64_t> references_{1};
};

} // namespace simaai::latency
