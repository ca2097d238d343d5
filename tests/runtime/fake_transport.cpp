// SPDX-License-Identifier: LGPL-2.1-or-later
// The far end of fake: URIs.
#include "fake_transport.h"

#include <map>
#include <optional>
#include <utility>

namespace simaai::runtime::test {

struct FakeDevice::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::function<void(CompletionSink&)>> events;
  std::vector<Submission> submitted;
  std::optional<Error> refusal;
  std::function<void(JobId)> hook;
  bool interrupted = false;
  bool exhausted = false;
  FakeDevice* device = nullptr;

  void post(std::function<void(CompletionSink&)> event) {
    const std::lock_guard lock(mutex);
    events.push_back(std::move(event));
    changed.notify_all();
  }
};

namespace {

std::mutex names_mutex;
std::map<std::string, FakeDevice*, std::less<>>& names() {
  static std::map<std::string, FakeDevice*, std::less<>> all;
  return all;
}

} // namespace

class FakeTransport final : public Transport {
public:
  FakeTransport(std::shared_ptr<FakeDevice::Shared> shared, const CapabilityTable& capabilities)
      : shared_(std::move(shared)), capabilities_(capabilities) {}

  static TransportResult open(std::string_view name) {
    const std::lock_guard lock(names_mutex);
    const auto found = names().find(name);
    if (found == names().end()) {
      Error error;
      error.code = ErrorCode::DeviceUnavailable;
      return error;
    }
    // A connection of its own: what happened to an earlier one is over.
    auto shared = std::make_shared<FakeDevice::Shared>();
    found->second->shared_ = shared;
    return std::make_unique<FakeTransport>(shared, found->second->capabilities);
  }

  [[nodiscard]] const CapabilityTable& capabilities() const noexcept override {
    return capabilities_;
  }

  Status submit(const Submission& submission) noexcept override {
    std::function<void(JobId)> hook;
    {
      const std::lock_guard lock(shared_->mutex);
      if (shared_->refusal)
        return *shared_->refusal;
      shared_->submitted.push_back(submission);
      hook = shared_->hook;
    }
    if (hook)
      hook(submission.job);
    return {};
  }

  PumpResult pump(CompletionSink& sink, std::chrono::nanoseconds timeout) noexcept override {
    std::unique_lock lock(shared_->mutex);
    const auto ready = [this] {
      return !shared_->events.empty() || shared_->interrupted || shared_->exhausted;
    };
    if (!shared_->changed.wait_for(lock, timeout, ready))
      return PumpResult::TimedOut;
    shared_->interrupted = false;
    auto events = std::exchange(shared_->events, {});
    const bool exhausted = shared_->exhausted && events.empty();
    lock.unlock();
    for (const auto& event : events)
      event(sink);
    return exhausted ? PumpResult::Exhausted : PumpResult::Delivered;
  }

  void interrupt() noexcept override {
    const std::lock_guard lock(shared_->mutex);
    shared_->interrupted = true;
    shared_->changed.notify_all();
  }

private:
  std::shared_ptr<FakeDevice::Shared> shared_;
  CapabilityTable capabilities_;
};

FakeDevice::FakeDevice(std::string name)
    : name_(std::move(name)), shared_(std::make_shared<Shared>()) {
  for (std::uint16_t operation = 1; operation <= 5; ++operation)
    (void)capabilities.add({operation, 1, 3, 0xff, 0xff});
  const std::lock_guard lock(names_mutex);
  names()[name_] = this;
  register_transport("fake", FakeTransport::open);
}

FakeDevice::~FakeDevice() {
  const std::lock_guard lock(names_mutex);
  names().erase(name_);
}

std::vector<Submission> FakeDevice::submitted() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->submitted;
}

void FakeDevice::complete(const Completion& completion) {
  shared_->post([completion](CompletionSink& sink) { sink.retired(completion); });
}

void FakeDevice::lose() {
  shared_->post([](CompletionSink& sink) {
    Error error;
    error.code = ErrorCode::DeviceLost;
    sink.lost(error);
  });
}

void FakeDevice::stop() {
  shared_->post([](CompletionSink& sink) { sink.stopped(); });
}

void FakeDevice::exhaust() {
  const std::lock_guard lock(shared_->mutex);
  shared_->exhausted = true;
  shared_->changed.notify_all();
}

void FakeDevice::refuse_with(const Error& error) {
  const std::lock_guard lock(shared_->mutex);
  shared_->refusal = error;
}

void FakeDevice::accept_again() {
  const std::lock_guard lock(shared_->mutex);
  shared_->refusal.reset();
}

void FakeDevice::on_submit(std::function<void(JobId)> hook) {
  const std::lock_guard lock(shared_->mutex);
  shared_->hook = std::move(hook);
}

} // namespace simaai::runtime::test
