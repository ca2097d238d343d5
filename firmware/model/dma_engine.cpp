// SPDX-License-Identifier: LGPL-2.1-or-later
// Transfers of one worker: their data moves when they complete, not when they are submitted.
#include "firmware/model/dma_engine.h"

#include <algorithm>
#include <cstring>

#include "firmware/common/dma.h"

namespace simaai::model {
namespace {

/// Splitmix64: every state gives a good next value.
std::uint64_t next_random(std::uint64_t& state) noexcept {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
  return mixed ^ (mixed >> 31);
}

std::uint64_t device_row(const Ev74Transfer& t, std::uint32_t row) noexcept {
  return t.device + std::uint64_t{row} * t.device_pitch;
}

std::uint64_t payload(const Ev74Transfer& t) noexcept {
  return std::uint64_t{t.rows} * t.row_bytes;
}

/// Bytes from the first to past the last one on a side.
std::uint64_t envelope(const Ev74Transfer& t, std::uint32_t pitch) noexcept {
  return std::uint64_t{t.rows - 1} * pitch + t.row_bytes;
}

} // namespace

void WorkerModel::begin(JobContext& job, std::uint32_t index) {
  job_ = &job;
  index_ = index;
  random_state_ = job.config.seed * 8 + index;
  next_ticket_ = 1;
  local_.begin(index, job.config);
  pending_.clear();
  done_at_.assign(1, 0);
  now_ = job.config.costs.launch;
  engine_free_at_ = 0;
  counters_ = {};
}

std::uint64_t WorkerModel::random(std::uint64_t bound) noexcept {
  return next_random(random_state_) % bound;
}

void* WorkerModel::acquire(std::uint32_t bytes) {
  void* block = local_.acquire(bytes, job_->faults);
  counters_.local_bytes = local_.acquired();
  return block;
}

const WorkerModel::Pending* WorkerModel::find(Ev74Ticket ticket) const noexcept {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [ticket](const Pending& p) { return p.ticket == ticket; });
  return found == pending_.end() ? nullptr : &*found;
}

bool WorkerModel::is_declared(Ev74Ticket ticket, Ev74Ticket after) const noexcept {
  while (after != 0 && after != ticket) {
    const Pending* earlier = find(after);
    after = earlier == nullptr ? 0 : earlier->after;
  }
  return after == ticket;
}

bool WorkerModel::check_fields(const Ev74Transfer& t) {
  FaultKind kind = FaultKind::BadTransfer;
  if (t.rows != 0 && t.rows <= firmware::kMaxRows && t.row_bytes != 0) {
    if (t.rows == 1 ||
        (t.device_pitch <= firmware::kMaxPitchBytes && t.local_pitch <= firmware::kMaxPitchBytes))
      return true;
    kind = FaultKind::PitchTooLarge;
  }
  job_->faults.add(kind, index_, t.device, payload(t));
  return false;
}

bool WorkerModel::check_mapped(const Ev74Transfer& t, bool incoming) {
  LocalRange local;
  if (!local_.locate(t.local, envelope(t, t.rows == 1 ? 0 : t.local_pitch), local)) {
    job_->faults.add(FaultKind::LocalOverrun, index_, t.device, payload(t));
    return false;
  }
  const RegionAccess access = incoming ? RegionAccess::Read : RegionAccess::Write;
  const Resolved there =
      job_->memory.resolve(t.device, envelope(t, t.rows == 1 ? 0 : t.device_pitch), access);
  if (there.host == nullptr)
    job_->faults.add(there.fault, index_, t.device, payload(t));
  return there.host != nullptr;
}

void WorkerModel::check_ports(const Ev74Transfer& t, bool incoming) {
  for (std::uint32_t row = 0; row < t.rows; ++row) {
    const DeviceRange range{index_, device_row(t, row), t.row_bytes};
    if (incoming)
      job_->ports.check_read(range, job_->faults);
    else
      job_->ports.check_write(range, true, job_->faults);
  }
}

bool WorkerModel::conflicts(const Pending& request, const LocalRange& row,
                            bool with_incoming) const noexcept {
  for (const Pending& other : pending_) {
    if (other.incoming != with_incoming || is_declared(other.ticket, request.after))
      continue;
    for (std::uint32_t i = 0; i < other.transfer.rows; ++i) {
      const std::uint64_t begin =
          other.local_offset + std::uint64_t{i} * other.transfer.local_pitch;
      if (begin < row.offset + row.bytes && row.offset < begin + other.transfer.row_bytes)
        return true;
    }
  }
  return false;
}

void WorkerModel::check_local_row(const Pending& request, const LocalRange& row) {
  const LocalMemory::State state = local_.state_of(row);
  const bool into = state.incoming && conflicts(request, row, true);
  const bool out_of = state.outgoing && request.incoming && conflicts(request, row, false);
  FaultLog& faults = job_->faults;
  if (request.incoming && (into || out_of))
    faults.add(FaultKind::EarlyReuse, index_, row.offset, row.bytes);
  else if (into)
    faults.add(FaultKind::MissingWait, index_, row.offset, row.bytes);
  else if (!request.incoming && state.unwritten && !state.incoming)
    faults.add(FaultKind::NeverWritten, index_, row.offset, row.bytes);
}

void WorkerModel::check_local(const Pending& request) {
  const Ev74Transfer& t = request.transfer;
  for (std::uint32_t row = 0; row < t.rows; ++row)
    check_local_row(request,
                    {request.local_offset + std::uint64_t{row} * t.local_pitch, t.row_bytes});
  const bool noise = job_->config.dma == DmaEngine::Deferred;
  for (std::uint32_t row = 0; row < t.rows; ++row)
    local_.start({request.local_offset + std::uint64_t{row} * t.local_pitch, t.row_bytes},
                 request.incoming, noise);
}

void WorkerModel::keep_time(const Pending& request) {
  const CycleCosts& costs = job_->config.costs;
  const Ev74Transfer& t = request.transfer;
  const std::uint64_t start = std::max({now_, engine_free_at_, done_at_[request.after]});
  engine_free_at_ = start + costs.dma_call + std::uint64_t{t.rows - 1} * costs.dma_row +
                    payload(t) / std::max(1U, costs.dma_bytes_per_cycle);
  done_at_.push_back(engine_free_at_);
  (request.incoming ? counters_.dma_calls_in : counters_.dma_calls_out) += 1;
  (request.incoming ? counters_.dma_bytes_in : counters_.dma_bytes_out) += payload(t);
}

Ev74Ticket WorkerModel::submit(const Ev74Transfer& transfer, bool incoming, Ev74Ticket after) {
  if (!is_known(after)) {
    job_->faults.add(FaultKind::UnknownTicket, index_, after, 0);
    return 0;
  }
  if (!check_fields(transfer) || !check_mapped(transfer, incoming))
    return 0;
  LocalRange local;
  (void)local_.locate(transfer.local, transfer.row_bytes, local);
  const Pending request{next_ticket_++, after, incoming, transfer, local.offset};
  keep_time(request);
  if (job_->checks_all()) {
    check_ports(transfer, incoming);
    check_local(request);
  }
  pending_.push_back(request);
  if (job_->config.dma == DmaEngine::Immediate)
    complete_with_predecessors(request.ticket);
  else
    complete_some();
  return request.ticket;
}

void WorkerModel::complete(std::size_t position) {
  const Pending done = pending_[position];
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(position));
  const Ev74Transfer& t = done.transfer;
  // Regions cannot change during a job, so this was resolved before.
  const Resolved device =
      job_->memory.resolve(t.device, envelope(t, t.rows == 1 ? 0 : t.device_pitch),
                           done.incoming ? RegionAccess::Read : RegionAccess::Write);
  for (std::uint32_t row = 0; row < t.rows; ++row) {
    const std::uint64_t local_row = done.local_offset + std::uint64_t{row} * t.local_pitch;
    std::byte* there = device.host + std::uint64_t{row} * t.device_pitch;
    std::byte* here = local_.at(local_row);
    std::memcpy(done.incoming ? here : there, done.incoming ? there : here, t.row_bytes);
    if (!job_->checks_all())
      continue;
    local_.end({local_row, t.row_bytes}, done.incoming);
    if (!done.incoming)
      job_->ports.retire({index_, device_row(t, row), t.row_bytes});
  }
}

void WorkerModel::complete_with_predecessors(Ev74Ticket ticket) {
  const Pending* wanted = find(ticket);
  if (wanted == nullptr)
    return;
  // Tickets grow along a chain, and so do positions: earlier ones complete first.
  std::vector<Ev74Ticket> chain;
  for (; wanted != nullptr; wanted = find(wanted->after))
    chain.push_back(wanted->ticket);
  for (; !chain.empty(); chain.pop_back())
    complete(static_cast<std::size_t>(find(chain.back()) - pending_.data()));
}

void WorkerModel::complete_some() {
  while (!pending_.empty() && random(4) == 0) {
    const Pending& drawn = pending_[random(pending_.size())];
    if (find(drawn.after) == nullptr)
      complete(static_cast<std::size_t>(&drawn - pending_.data()));
  }
}

void WorkerModel::wait(Ev74Ticket ticket) {
  ++counters_.waits;
  if (!is_known(ticket)) {
    job_->faults.add(FaultKind::UnknownTicket, index_, ticket, 0);
    return;
  }
  now_ = std::max(now_ + job_->config.costs.wait, done_at_[ticket]);
  complete_some();
  complete_with_predecessors(ticket);
}

void WorkerModel::access_scalar(std::uint64_t address, std::uint32_t width, bool reads,
                                std::byte* value) {
  if (job_->checks_all()) {
    if (reads)
      job_->ports.check_read({index_, address, width}, job_->faults);
    else
      job_->ports.check_write({index_, address, width}, false, job_->faults);
  }
  const Resolved there =
      job_->memory.resolve(address, width, reads ? RegionAccess::Read : RegionAccess::Write);
  if (there.host == nullptr || address % width != 0)
    job_->faults.add(there.host == nullptr ? there.fault : FaultKind::BadTransfer, index_, address,
                     width);
  else
    std::memcpy(reads ? value : there.host, reads ? there.host : value, width);
}

void WorkerModel::load(std::uint32_t device, std::uint32_t stride, std::byte* values,
                       std::uint32_t count, std::uint32_t width) {
  if (local_.contains(values))
    touch(values, count * width, true);
  for (std::uint32_t i = 0; i < count; ++i)
    access_scalar(device + std::uint64_t{i} * stride, width, true, values + std::size_t{i} * width);
  counters_.typed_load_bytes += std::uint64_t{count} * width;
  now_ += std::uint64_t{count} * job_->config.costs.typed_access;
}

void WorkerModel::store(std::uint32_t device, std::uint32_t stride, const std::byte* values,
                        std::uint32_t count, std::uint32_t width) {
  if (local_.contains(values))
    touch(values, count * width, false);
  for (std::uint32_t i = 0; i < count; ++i) {
    std::byte value[8] = {};
    std::memcpy(value, values + std::size_t{i} * width, width);
    access_scalar(device + std::uint64_t{i} * stride, width, false, value);
  }
  counters_.typed_store_bytes += std::uint64_t{count} * width;
  now_ += std::uint64_t{count} * job_->config.costs.typed_access;
}

void WorkerModel::touch(const void* local, std::uint32_t bytes, bool writes) {
  now_ += bytes / std::max(1U, job_->config.costs.local_bytes_per_cycle);
  LocalRange range;
  if (!local_.locate(local, bytes, range))
    job_->faults.add(FaultKind::LocalOverrun, index_, 0, bytes);
  else if (job_->checks_all())
    local_.check_use(range, writes, job_->faults);
}

void WorkerModel::finish() {
  if (!pending_.empty())
    job_->faults.add(FaultKind::UnretiredTransfer, index_, pending_.front().transfer.device,
                     pending_.size());
  while (!pending_.empty()) {
    const std::size_t drawn = random(pending_.size());
    complete_with_predecessors(pending_[drawn].ticket);
  }
  local_.check_bounds(job_->faults);
  counters_.cycles = now_;
}

} // namespace simaai::model
