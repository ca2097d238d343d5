// SPDX-License-Identifier: LGPL-2.1-or-later
// Jobs: services for the entry, workers one after the other, the result.
#include "firmware/model/device_model.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

#include "firmware/common/partition.h"
#include "firmware/model/dma_engine.h"
#include "firmware/model/entries.h"
#include "wire/check.h"
#include "wire/descriptor.h"

namespace simaai::model {

using firmware::Route;
using kernels::wire::Descriptor;
using kernels::wire::EntryStatus;

namespace {

ModelConfig clamped(ModelConfig config) {
  config.workers = std::clamp(config.workers, 1U, firmware::kMaxWorkers);
  return config;
}

} // namespace

class DeviceModel::Impl {
public:
  explicit Impl(const ModelConfig& wanted) : config(clamped(wanted)) {
    for (const Entry& entry : entries()) {
      capabilities.push_back(entry.capability);
      capabilities.back().flags &= config.supported_flags;
    }
  }

  RunResult run(Ev74Entry entry, const void* packet, std::uint32_t bytes);
  [[nodiscard]] RunResult run_copy(Ev74Entry entry, std::span<const std::byte> packet);

  const ModelConfig config;
  std::mutex mutex; ///< memory and everything below; held for the length of a job
  AddressSpace memory;
  std::vector<EntryCapability> capabilities;

private:
  struct Services; // trampolines
  [[nodiscard]] Ev74Services services();
  void launch(std::uint32_t workers, void (*body)(void*, std::uint32_t), void* argument);
  /// Reports what of a packet's two spans is not mapped as it must be.
  [[nodiscard]] bool is_mapped(const Descriptor& packet);
  [[nodiscard]] RunResult result() const;

  PortShadow ports_;
  std::array<WorkerModel, firmware::kMaxWorkers> workers_;
  FaultLog faults_;
  JobContext job_{config, memory, ports_, faults_};
  std::uint32_t launched_ = 0;
  Route route_ = Route::None;
};

struct DeviceModel::Impl::Services {
  static Impl& model(void* context) { return *static_cast<Impl*>(context); }
  static WorkerModel& worker(void* context, std::uint32_t index) {
    return model(context).workers_[index];
  }
  static void launch(void* context, std::uint32_t workers, void (*body)(void*, std::uint32_t),
                     void* argument) {
    model(context).launch(workers, body, argument);
  }
  static void* acquire(void* context, std::uint32_t index, std::uint32_t bytes) {
    return worker(context, index).acquire(bytes);
  }
  static Ev74Ticket read(void* context, std::uint32_t index, const Ev74Transfer* transfer,
                         Ev74Ticket after) {
    return worker(context, index).submit(*transfer, true, after);
  }
  static Ev74Ticket write(void* context, std::uint32_t index, const Ev74Transfer* transfer,
                          Ev74Ticket after) {
    return worker(context, index).submit(*transfer, false, after);
  }
  static void wait(void* context, std::uint32_t index, Ev74Ticket ticket) {
    worker(context, index).wait(ticket);
  }
  static void load(void* context, std::uint32_t index, std::uint32_t device, std::uint32_t stride,
                   void* values, std::uint32_t count, std::uint32_t width) {
    worker(context, index).load(device, stride, static_cast<std::byte*>(values), count, width);
  }
  static void store(void* context, std::uint32_t index, std::uint32_t device, std::uint32_t stride,
                    const void* values, std::uint32_t count, std::uint32_t width) {
    worker(context, index)
        .store(device, stride, static_cast<const std::byte*>(values), count, width);
  }
  static void report_route(void* context, std::uint32_t route) {
    model(context).route_ = static_cast<Route>(route);
  }
  static void own(void* context, std::uint32_t index, std::uint64_t begin, std::uint64_t end) {
    model(context).ports_.own(index, begin, end);
  }
  static void touch(void* context, std::uint32_t index, const void* local, std::uint32_t bytes,
                    std::uint32_t writes) {
    worker(context, index).touch(local, bytes, writes != 0);
  }
};

Ev74Services DeviceModel::Impl::services() {
  Ev74Services out{};
  out.context = this;
  out.workers = config.workers;
  out.local_bytes = config.local_bytes;
  out.launch = &Services::launch;
  out.acquire_local = &Services::acquire;
  out.dma_read = &Services::read;
  out.dma_write = &Services::write;
  out.wait = &Services::wait;
  out.load = &Services::load;
  out.store = &Services::store;
  out.report_route = &Services::report_route;
  out.own = &Services::own;
  out.touch = &Services::touch;
  return out;
}

void DeviceModel::Impl::launch(std::uint32_t workers, void (*body)(void*, std::uint32_t),
                               void* argument) {
  launched_ = std::min(workers, config.workers);
  std::array<std::uint32_t, firmware::kMaxWorkers> order{};
  std::iota(order.begin(), order.end(), 0U);
  // Workers share nothing, so any order stands for any interleaving; deferred DMA draws one.
  if (config.dma == DmaEngine::Deferred)
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(config.seed % launched_),
                order.begin() + launched_);
  for (std::uint32_t i = 0; i < launched_; ++i) {
    WorkerModel& worker = workers_[order[i]];
    worker.begin(job_, order[i]);
    body(argument, order[i]);
    worker.finish();
  }
}

bool DeviceModel::Impl::is_mapped(const Descriptor& packet) {
  const auto check = [this](std::uint64_t address, std::uint64_t bytes, RegionAccess access) {
    const Resolved found = memory.resolve(address, bytes, access);
    if (found.host == nullptr)
      faults_.add(found.fault, 0, address, bytes);
    return found.host != nullptr;
  };
  return check(packet.source_address, packet.source_capacity_bytes, RegionAccess::Read) &&
         check(packet.destination_address, packet.destination_capacity_bytes, RegionAccess::Write);
}

RunResult DeviceModel::Impl::result() const {
  RunResult out;
  out.route = route_;
  faults_.copy_to(out);
  for (std::uint32_t i = 0; i < launched_; ++i) {
    const Counters& worker = workers_[i].counters();
    out.counters.dma_calls_in += worker.dma_calls_in;
    out.counters.dma_calls_out += worker.dma_calls_out;
    out.counters.dma_bytes_in += worker.dma_bytes_in;
    out.counters.dma_bytes_out += worker.dma_bytes_out;
    out.counters.typed_load_bytes += worker.typed_load_bytes;
    out.counters.typed_store_bytes += worker.typed_store_bytes;
    out.counters.waits += worker.waits;
    out.counters.local_bytes = std::max(out.counters.local_bytes, worker.local_bytes);
    out.counters.cycles = std::max(out.counters.cycles, worker.cycles);
  }
  out.counters.workers = launched_;
  return out;
}

RunResult DeviceModel::Impl::run(Ev74Entry entry, const void* packet, std::uint32_t bytes) {
  if (config.latency_us != 0)
    std::this_thread::sleep_for(std::chrono::microseconds(config.latency_us));
  const std::lock_guard lock(mutex);
  faults_ = {};
  launched_ = 0;
  route_ = Route::None;
  Descriptor descriptor;
  const bool readable =
      packet != nullptr &&
      kernels::wire::read(static_cast<const std::byte*>(packet), bytes, descriptor).ok();
  if (readable && (descriptor.flags & ~config.supported_flags) != 0) {
    RunResult refused;
    refused.status = EntryStatus::UnsupportedFlags;
    return refused;
  }
  const bool valid = readable && kernels::wire::check_geometry(descriptor).ok() &&
                     kernels::wire::check_addresses(descriptor).ok();
  // A bus error at the first access; nothing as large as the packet claims is prepared for it.
  if (valid && !is_mapped(descriptor)) {
    RunResult refused = result();
    refused.status = EntryStatus::TransferFault;
    return refused;
  }
  if (config.checking == Checking::Full)
    ports_.begin(valid ? &descriptor : nullptr);
  const Ev74Services offered = services();
  const auto status = static_cast<EntryStatus>(entry(packet, bytes, &offered));
  if (status == EntryStatus::Completed && config.checking == Checking::Full)
    ports_.check_complete(faults_);
  RunResult out = result();
  out.status = status;
  return out;
}

RunResult DeviceModel::Impl::run_copy(Ev74Entry entry, std::span<const std::byte> packet) {
  // Whole 8-byte words give the alignment that the device demands.
  std::vector<std::uint64_t> copy(packet.size() / 8 + 1);
  if (!packet.empty())
    std::memcpy(copy.data(), packet.data(), packet.size());
  return run(entry, copy.data(), static_cast<std::uint32_t>(packet.size()));
}

DeviceModel::DeviceModel(const ModelConfig& config) : impl_(std::make_unique<Impl>(config)) {}
DeviceModel::~DeviceModel() = default;
DeviceModel::DeviceModel(DeviceModel&&) noexcept = default;
DeviceModel& DeviceModel::operator=(DeviceModel&&) noexcept = default;

const ModelConfig& DeviceModel::config() const noexcept { return impl_->config; }

std::optional<std::uint64_t> DeviceModel::map(void* host, std::uint64_t bytes,
                                              RegionAccess access) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->memory.map(static_cast<std::byte*>(host), bytes, access);
}

bool DeviceModel::map_at(std::uint64_t address, void* host, std::uint64_t bytes,
                         RegionAccess access) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->memory.map_at(address, static_cast<std::byte*>(host), bytes, access);
}

bool DeviceModel::unmap(std::uint64_t address) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->memory.unmap(address);
}

RunResult DeviceModel::run(std::span<const std::byte> packet) {
  return impl_->run_copy(entry_of(packet), packet);
}

RunResult DeviceModel::run_in_place(const void* packet, std::uint32_t bytes) {
  const std::span<const std::byte> view(static_cast<const std::byte*>(packet),
                                        packet == nullptr ? 0 : bytes);
  return impl_->run(entry_of(view), packet, bytes);
}

RunResult DeviceModel::run_entry(Ev74Entry entry, std::span<const std::byte> packet) {
  return impl_->run_copy(entry, packet);
}

std::span<const EntryCapability> DeviceModel::capabilities() const noexcept {
  return impl_->capabilities;
}

} // namespace simaai::model
