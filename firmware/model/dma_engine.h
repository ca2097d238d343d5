// SPDX-License-Identifier: LGPL-2.1-or-later
// The DMA engine of one worker: checks transfers, moves their bytes now or later, and keeps time.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/common/services.h"
#include "firmware/model/address_space.h"
#include "firmware/model/local_memory.h"
#include "firmware/model/port_shadow.h"

namespace simaai::model {

/// What all workers of a job share.
struct JobContext {
  const ModelConfig& config;
  const AddressSpace& memory;
  PortShadow& ports;
  FaultLog& faults;

  [[nodiscard]] bool checks_all() const noexcept { return config.checking == Checking::Full; }
};

/// One worker. Its functions are the bodies of Ev74Services.
class WorkerModel {
public:
  void begin(JobContext& job, std::uint32_t index);

  [[nodiscard]] void* acquire(std::uint32_t bytes);
  [[nodiscard]] Ev74Ticket submit(const Ev74Transfer& transfer, bool incoming, Ev74Ticket after);
  void wait(Ev74Ticket ticket);
  void load(std::uint32_t device, std::uint32_t stride, std::byte* values, std::uint32_t count,
            std::uint32_t width);
  void store(std::uint32_t device, std::uint32_t stride, const std::byte* values,
             std::uint32_t count, std::uint32_t width);
  void touch(const void* local, std::uint32_t bytes, bool writes);

  /// The worker's code has returned: reports what is still in flight, and completes it.
  void finish();

  [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

private:
  struct Pending {
    Ev74Ticket ticket;
    Ev74Ticket after;
    bool incoming;
    Ev74Transfer transfer;
    std::uint64_t local_offset;
  };

  [[nodiscard]] std::uint64_t random(std::uint64_t bound) noexcept;
  [[nodiscard]] bool is_known(Ev74Ticket ticket) const noexcept { return ticket < next_ticket_; }
  [[nodiscard]] const Pending* find(Ev74Ticket ticket) const noexcept;
  /// True where `ticket` is `after` or something that it waits for.
  [[nodiscard]] bool is_declared(Ev74Ticket ticket, Ev74Ticket after) const noexcept;

  [[nodiscard]] bool check_fields(const Ev74Transfer& transfer);
  [[nodiscard]] bool check_mapped(const Ev74Transfer& transfer, bool incoming);
  void check_ports(const Ev74Transfer& transfer, bool incoming);
  void check_local(const Pending& request);
  void check_local_row(const Pending& request, const LocalRange& row);
  [[nodiscard]] bool conflicts(const Pending& request, const LocalRange& row,
                               bool with_incoming) const noexcept;

  void keep_time(const Pending& request);
  void complete(std::size_t position);
  void complete_with_predecessors(Ev74Ticket ticket);
  void complete_some();
  void access_scalar(std::uint64_t address, std::uint32_t width, bool reads, std::byte* value);

  JobContext* job_ = nullptr;
  std::uint32_t index_ = 0;
  std::uint64_t random_state_ = 0;
  Ev74Ticket next_ticket_ = 1;
  LocalMemory local_;
  std::vector<Pending> pending_;
  std::vector<std::uint64_t> done_at_; ///< by ticket
  std::uint64_t now_ = 0;
  std::uint64_t engine_free_at_ = 0;
  Counters counters_{};
};

} // namespace simaai::model
