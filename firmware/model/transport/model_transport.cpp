// SPDX-License-Identifier: LGPL-2.1-or-later
// A queue, a thread that is the device, a list of completions.
#include "firmware/model/transport/model_transport.h"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <simaai/runtime/device.h>
#include <simaai/runtime/transport.h>

#include "firmware/model/transport/client_space.h"
#include "firmware/model/transport/model_options.h"

namespace simaai::model {
namespace {

using runtime::Completion;
using runtime::PumpResult;
using runtime::Status;

constexpr std::size_t kQueueLimit = runtime::Device::kMaxJobs;
/// A waiter with that much time runs a job of that size himself: a few milliseconds.
constexpr std::chrono::milliseconds kPatience{100};
/// A poll runs a job of that size: a few microseconds.
constexpr std::uint64_t kPollBytes = std::uint64_t{1} << 13;
constexpr std::uint64_t kPatientBytes = std::uint64_t{8} << 20;

class ModelTransport final : public runtime::Transport {
public:
  explicit ModelTransport(const ModelConfig& config)
      : space_(config), capabilities_(space_.capabilities()), device_([this] { serve(); }) {}
  ~ModelTransport() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    work_.notify_all();
    device_.join();
  }
  ModelTransport(const ModelTransport&) = delete;
  ModelTransport& operator=(const ModelTransport&) = delete;

  [[nodiscard]] const runtime::CapabilityTable& capabilities() const noexcept override {
    return capabilities_;
  }
  Status submit(const runtime::Submission& submission) noexcept override;
  PumpResult pump(runtime::CompletionSink& sink,
                  std::chrono::nanoseconds timeout) noexcept override;
  void interrupt() noexcept override {
    {
      const std::lock_guard lock(mutex_);
      interrupted_ = true;
    }
    news_.notify_all();
  }

private:
  void serve();
  void run_front(std::unique_lock<std::mutex>& lock);
  /// Brief jobs wake nobody: whoever waits runs them, or the device's thread after an earlier job.
  [[nodiscard]] bool is_left_to_waiter(const ClientSpace::Job& job) const noexcept {
    return job.accessed_bytes() <= kPollBytes && !space_.is_delayed();
  }
  /// Whoever waits runs a job himself, unless the device's thread was quicker, where that takes a small part of his
  /// patience: two changes of threads are saved.
  [[nodiscard]] bool may_run(const ClientSpace::Job& job,
                             std::chrono::nanoseconds timeout) const noexcept {
    return is_left_to_waiter(job) ||
           (!space_.is_delayed() && !space_.checks_all() && timeout >= kPatience &&
            job.accessed_bytes() <= kPatientBytes);
  }

  ClientSpace space_;
  const runtime::CapabilityTable capabilities_;
  std::mutex mutex_; ///< everything below but device_
  std::condition_variable work_;
  std::condition_variable news_;
  std::deque<ClientSpace::Job> queue_;
  std::vector<Completion> done_;
  std::vector<Completion> delivering_; ///< of pump(), one caller at a time
  bool busy_ = false;                  ///< a job runs, on whichever thread
  bool interrupted_ = false;
  bool ending_ = false;
  std::thread device_;
};

Status ModelTransport::submit(const runtime::Submission& submission) noexcept {
  std::array<PortRange, 2> ports;
  for (std::size_t port = 0; port < ports.size(); ++port) {
    const runtime::BoundRelocation& from = submission.relocations[port];
    ports[port] = {from.fd,
                   from.packet_offset,
                   from.offset_bytes,
                   from.length_bytes,
                   from.access == kernels::ev74::RegionAccess::Write,
                   &from.object};
  }
  auto admitted = space_.admit(submission.job, submission.packet, ports);
  if (const auto* reason = std::get_if<runtime::protocol::RefusalReason>(&admitted)) {
    runtime::Error error;
    error.code = runtime::ErrorCode::JobRefused;
    error.found = static_cast<std::int64_t>(*reason);
    return error;
  }
  bool wakes = false;
  const bool waits = submission.next == runtime::AfterSubmit::Wait;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kQueueLimit) {
      runtime::Error error;
      error.code = runtime::ErrorCode::QueueFull;
      error.expected = kQueueLimit;
      return error;
    }
    queue_.push_back(std::move(*std::get_if<ClientSpace::Job>(&admitted)));
    wakes = !is_left_to_waiter(queue_.back()) && !(waits && may_run(queue_.back(), kPatience));
  }
  if (wakes)
    work_.notify_one();
  return {};
}

void ModelTransport::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return ending_ || (!busy_ && !queue_.empty()); });
    if (ending_)
      return;
    run_front(lock);
    news_.notify_all();
  }
}

/// Runs the oldest job; the lock is held before and after.
void ModelTransport::run_front(std::unique_lock<std::mutex>& lock) {
  const ClientSpace::Job job = std::move(queue_.front());
  queue_.pop_front();
  busy_ = true;
  lock.unlock();
  const Completion completion = space_.run(job);
  lock.lock();
  busy_ = false;
  done_.push_back(completion);
}

PumpResult ModelTransport::pump(runtime::CompletionSink& sink,
                                std::chrono::nanoseconds timeout) noexcept {
  {
    std::unique_lock lock(mutex_);
    if (done_.empty() && !busy_ && !queue_.empty()) {
      if (may_run(queue_.front(), timeout))
        run_front(lock);
      // What is left is for the device's thread, which may not have been woken for it.
      if (!queue_.empty())
        work_.notify_one();
    }
    if (!news_.wait_for(lock, timeout, [this] { return interrupted_ || !done_.empty(); }))
      return PumpResult::TimedOut;
    interrupted_ = false;
    std::swap(done_, delivering_);
  }
  for (const Completion& completion : delivering_)
    sink.retired(completion);
  delivering_.clear();
  return PumpResult::Delivered;
}

runtime::TransportResult open_model(std::string_view options) {
  const auto config = parse_options(options);
  if (const auto* bad = std::get_if<BadOption>(&config)) {
    runtime::Error error;
    error.code = runtime::ErrorCode::BadDeviceOption;
    error.found = static_cast<std::int64_t>(bad->position);
    return error;
  }
  return std::make_unique<ModelTransport>(*std::get_if<ModelConfig>(&config));
}

} // namespace

void register_model_transport() noexcept { runtime::register_transport("model", open_model); }

} // namespace simaai::model
