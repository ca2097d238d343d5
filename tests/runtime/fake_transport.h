// SPDX-License-Identifier: LGPL-2.1-or-later
// A device that does what a test tells it: URIs fake:NAME. It reads no packet and touches no memory.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <simaai/runtime/transport.h>

namespace simaai::runtime::test {

/// The far end. Lives as long as the test; its transport comes and goes.
class FakeDevice {
public:
  /// Known as fake:`name` until destroyed.
  explicit FakeDevice(std::string name);
  ~FakeDevice();
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;

  [[nodiscard]] std::string uri() const { return "fake:" + name_; }
  [[nodiscard]] std::vector<Submission> submitted() const;
  void complete(const Completion& completion);
  void complete(JobId job) { complete(Completion{job, JobOutcome::Done, 0, 0, {}}); }
  /// Loses the current connection; a later open() works again.
  void lose();
  void stop();
  /// After lose(): nothing will ever come.
  void exhaust();
  /// What submit() answers while it is set.
  void refuse_with(const Error& error);
  void accept_again();
  /// Called for every accepted job, on the submitting thread and without a lock.
  void on_submit(std::function<void(JobId)> hook);

  CapabilityTable capabilities; ///< of connections opened from now on; everything at first

private:
  friend class FakeTransport;
  struct Shared;
  std::string name_;
  std::shared_ptr<Shared> shared_;
};

} // namespace simaai::runtime::test
