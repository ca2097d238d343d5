// SPDX-License-Identifier: LGPL-2.1-or-later
// Admission of jobs from outside, mapping of their objects, execution.
#include "firmware/model/transport/client_space.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "wire/bytes.h"
#include "wire/check.h"
#include "wire/descriptor.h"

namespace simaai::model {
namespace {

namespace wire = kernels::wire;
using runtime::Completion;
using runtime::JobOutcome;
using runtime::MemoryInfo;
using runtime::protocol::RefusalReason;
using Inspected = std::variant<MemoryInfo, runtime::Error>;

/// What the packet itself says about a port.
struct PortNeeds {
  std::uint32_t packet_offset;
  std::uint64_t length_bytes;
  std::uint32_t alignment_bytes;
  bool writes;
};

std::optional<std::array<PortNeeds, 2>> needs_of(std::span<const std::byte> packet) noexcept {
  wire::Descriptor d;
  if (packet.size() > wire::kMaxPacketBytes ||
      !wire::read(packet.data(), static_cast<std::uint32_t>(packet.size()), d).ok() ||
      !wire::check_geometry(d).ok() || d.source_address != 0 || d.destination_address != 0)
    return std::nullopt;
  return std::array{PortNeeds{wire::kSourceAddressOffset, d.source_capacity_bytes,
                              wire::source_alignment(d), false},
                    PortNeeds{wire::kDestinationAddressOffset, d.destination_capacity_bytes,
                              wire::destination_alignment(d), true}};
}

bool same_object(const MemoryInfo& a, const MemoryInfo& b) noexcept {
  return a.device == b.device && a.inode == b.inode;
}

std::optional<RefusalReason> judge(const PortRange& port, const PortNeeds& needs,
                                   const MemoryInfo& info) noexcept {
  if (port.packet_offset != needs.packet_offset || port.length_bytes != needs.length_bytes ||
      port.writes != needs.writes)
    return RefusalReason::BadPacket;
  if (!info.sealed || (port.writes && !info.writable) || port.offset_bytes > info.size_bytes ||
      info.size_bytes - port.offset_bytes < port.length_bytes)
    return RefusalReason::BadMemory;
  if (port.offset_bytes % needs.alignment_bytes != 0)
    return RefusalReason::Misaligned;
  return std::nullopt;
}

bool overlap(std::span<const PortRange, 2> ports, const std::array<MemoryInfo, 2>& infos) noexcept {
  return same_object(infos[0], infos[1]) &&
         ports[0].offset_bytes < ports[1].offset_bytes + ports[1].length_bytes &&
         ports[1].offset_bytes < ports[0].offset_bytes + ports[0].length_bytes;
}

std::uint64_t now_ns() noexcept {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

runtime::Counters counters_of(const RunResult& result) noexcept {
  const Counters& from = result.counters;
  return {from.dma_calls_in,  from.dma_calls_out,    from.dma_bytes_in,
          from.dma_bytes_out, from.typed_load_bytes, from.typed_store_bytes,
          from.cycles,        from.workers,          static_cast<std::uint32_t>(result.route)};
}

} // namespace

ClientSpace::Job::Job(Job&& other) noexcept
    : space_(std::exchange(other.space_, nullptr)), id_(other.id_), packet_(other.packet_),
      packet_bytes_(other.packet_bytes_), accessed_bytes_(other.accessed_bytes_),
      objects_(std::exchange(other.objects_, {})) {}

ClientSpace::Job::~Job() {
  for (Object* object : objects_)
    if (object != nullptr)
      space_->unpin(object);
}

bool ClientSpace::evict_one() noexcept {
  auto oldest = objects_.end();
  for (auto object = objects_.begin(); object != objects_.end(); ++object)
    if (object->users == 0 && (oldest == objects_.end() || object->last_use < oldest->last_use))
      oldest = object;
  if (oldest == objects_.end())
    return false;
  // The model lets go of the range before the pages go.
  (void)model_.unmap(oldest->address);
  objects_.erase(oldest);
  return true;
}

std::variant<ClientSpace::Object*, ClientSpace::Reason> ClientSpace::map(const PortRange& port,
                                                                         const MemoryInfo& info) {
  while (objects_.size() >= kMaxObjects && evict_one()) {
  }
  runtime::UniqueFd own(::fcntl(port.fd, F_DUPFD_CLOEXEC, 0));
  // What the caller looked at may not be there any more: a mapping beyond the end of an object ends the process.
  struct stat file {};
  if (!own || ::fstat(own.get(), &file) != 0 || file.st_dev != info.device ||
      file.st_ino != info.inode)
    return Reason::Unmappable;
  auto mapped = runtime::CpuMapping::map(own.get(), 0, info.size_bytes, info.writable);
  auto* mapping = std::get_if<runtime::CpuMapping>(&mapped);
  if (mapping == nullptr)
    return Reason::Unmappable;
  const RegionAccess access = info.writable ? RegionAccess::ReadWrite : RegionAccess::Read;
  std::optional<std::uint64_t> address;
  do
    address = model_.map(mapping->data(), info.size_bytes, access);
  while (!address && evict_one());
  if (!address)
    return Reason::AddressSpace;
  objects_.push_back(Object{info, std::move(own), std::move(*mapping), *address, 0, 0});
  return &objects_.back();
}

std::variant<ClientSpace::Object*, ClientSpace::Reason> ClientSpace::pin(const PortRange& port,
                                                                         const MemoryInfo& info) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(objects_.begin(), objects_.end(), [&](const Object& object) {
    return same_object(object.info, info) && (object.info.writable || !port.writes) &&
           object.info.size_bytes >= port.offset_bytes + port.length_bytes;
  });
  Object* object = nullptr;
  if (found != objects_.end()) {
    object = &*found;
  } else {
    const auto mapped = map(port, info);
    if (const auto* reason = std::get_if<Reason>(&mapped))
      return *reason;
    object = *std::get_if<Object*>(&mapped);
  }
  ++object->users;
  object->last_use = ++uses_;
  return object;
}

void ClientSpace::unpin(Object* object) noexcept {
  const std::lock_guard lock(mutex_);
  --object->users;
}

std::variant<ClientSpace::Job, ClientSpace::Reason>
ClientSpace::admit(runtime::JobId id, std::span<const std::byte> packet,
                   std::span<const PortRange, 2> ports) noexcept {
  const auto needs = needs_of(packet);
  if (!needs)
    return Reason::BadPacket;
  std::array<MemoryInfo, 2> infos;
  for (std::size_t port = 0; port < ports.size(); ++port) {
    const MemoryInfo* info = ports[port].object;
    const auto found = info != nullptr ? Inspected(*info) : runtime::inspect(ports[port].fd);
    info = std::get_if<MemoryInfo>(&found);
    if (info == nullptr)
      return Reason::BadMemory;
    infos[port] = *info;
    if (const auto reason = judge(ports[port], (*needs)[port], *info))
      return *reason;
  }
  if (overlap(ports, infos))
    return Reason::Overlap;
  Job job(*this, id);
  std::copy(packet.begin(), packet.end(), job.packet_.begin());
  job.packet_bytes_ = static_cast<std::uint32_t>(packet.size());
  for (std::size_t port = 0; port < ports.size(); ++port) {
    job.accessed_bytes_ += ports[port].length_bytes;
    const auto pinned = pin(ports[port], infos[port]);
    if (const auto* reason = std::get_if<Reason>(&pinned))
      return *reason;
    job.objects_[port] = *std::get_if<Object*>(&pinned);
    wire::store_le(job.packet_.data() + ports[port].packet_offset,
                   job.objects_[port]->address + ports[port].offset_bytes);
  }
  return job;
}

Completion ClientSpace::run(const Job& job) noexcept {
  using runtime::CpuAccess;
  using runtime::CpuAccessMode;
  Completion completion;
  completion.job = job.id_;
  const Object& source = *job.objects_[0];
  const Object& destination = *job.objects_[1];
  // To real DMA-BUFs the model is the CPU.
  const auto read = CpuAccess::begin(source.fd.get(), source.info.kind, CpuAccessMode::Read);
  const auto write =
      CpuAccess::begin(destination.fd.get(), destination.info.kind, CpuAccessMode::ReadWrite);
  if (!std::holds_alternative<CpuAccess>(read) || !std::holds_alternative<CpuAccess>(write)) {
    completion.outcome = JobOutcome::Refused;
    completion.detail = static_cast<std::uint32_t>(Reason::Unmappable);
    return completion;
  }
  completion.started_ns = now_ns();
  const RunResult result = model_.run_in_place(job.packet_.data(), job.packet_bytes_);
  completion.done_ns = now_ns();
  completion.entry_status = static_cast<std::uint32_t>(result.status);
  completion.counters = counters_of(result);
  if (result.fault_count != 0) {
    completion.outcome = JobOutcome::Fault;
    completion.detail = static_cast<std::uint32_t>(result.faults[0].kind);
  } else if (result.status != wire::EntryStatus::Completed) {
    completion.outcome = JobOutcome::Entry;
  }
  return completion;
}

runtime::CapabilityTable ClientSpace::capabilities() const noexcept {
  runtime::CapabilityTable table;
  for (const EntryCapability& entry : model_.capabilities())
    (void)table.add({static_cast<std::uint16_t>(entry.operation), entry.version, entry.flags,
                     entry.source_dtypes, entry.destination_dtypes});
  return table;
}

} // namespace simaai::model
