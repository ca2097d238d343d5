// SPDX-License-Identifier: LGPL-2.1-or-later
// One worker's view of the platform: its local memory, transfers, waits and scalar accesses.
// Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/common/services.h"

namespace simaai::firmware {

/// Hardware fields for pitches and row counts have 16 bits.
inline constexpr std::uint32_t kMaxPitchBytes = 65535;
inline constexpr std::uint32_t kMaxRows = 65535;

/// DMA writes are whole granules, and no two workers write into one.
inline constexpr std::uint32_t kGranuleBytes = 16;

/// Transfers that follow each other; waiting for the chain retires all of them. An empty chain is
/// complete. Whoever fills a chain waits for it: a worker returns with all its chains empty.
class Chain {
public:
  [[nodiscard]] bool empty() const noexcept { return tail_ == 0; }

private:
  friend class Worker;
  Ev74Ticket tail_ = 0;
};

/// One row, or several at equal distances on both sides.
struct Transfer {
  std::uint32_t device = 0; ///< address of the first row
  std::byte* local = nullptr;
  std::uint32_t row_bytes = 0;
  std::uint32_t rows = 1;
  std::uint32_t device_pitch = 0; ///< bytes between row starts; ignored for one row
  std::uint32_t local_pitch = 0;
};

/// Passed by reference through a worker's code; bound to the thread that runs the worker.
class Worker {
public:
  Worker(const Ev74Services& services, std::uint32_t index) noexcept
      : services_(services), index_(index) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }

  /// False once a transfer was refused. Loops stop then, and still wait for their chains.
  [[nodiscard]] bool ok() const noexcept { return !failed_; }

  /// The worker's slots; called once. Null where its local memory is too small.
  [[nodiscard]] std::byte* acquire(std::uint32_t bytes) noexcept {
    return static_cast<std::byte*>(services_.acquire_local(services_.context, index_, bytes));
  }

  /// Appends a transfer from, or to, system memory. It starts when its predecessors in the chain
  /// are complete; other chains are independent of it.
  void read(Chain& chain, const Transfer& transfer) noexcept {
    submit(services_.dma_read, chain, transfer);
  }
  void write(Chain& chain, const Transfer& transfer) noexcept {
    submit(services_.dma_write, chain, transfer);
  }

  /// Returns when every transfer of the chain is complete, and empties it.
  void wait(Chain& chain) noexcept {
    if (chain.tail_ != 0)
      services_.wait(services_.context, index_, chain.tail_);
    chain.tail_ = 0;
  }

  /// Makes what is appended to `chain` next start after all of `earlier`, which stays to be waited
  /// for. `chain` is empty.
  static void follow(Chain& chain, const Chain& earlier) noexcept { chain.tail_ = earlier.tail_; }

  /// `count` scalars of `width` bytes, `stride` bytes apart in system memory, packed in `values`.
  void load(std::uint32_t device, std::uint32_t stride, void* values, std::uint32_t count,
            std::uint32_t width) noexcept {
    services_.load(services_.context, index_, device, stride, values, count, width);
  }
  void store(std::uint32_t device, std::uint32_t stride, const void* values, std::uint32_t count,
             std::uint32_t width) noexcept {
    services_.store(services_.context, index_, device, stride, values, count, width);
  }

  /// This worker writes only to [begin, end) until the next call.
  void own(std::uint64_t begin, std::uint64_t end) noexcept {
    if (services_.own != nullptr)
      services_.own(services_.context, index_, begin, end);
  }

  /// Said before code reads or writes local bytes, so that a model can check the state of slots.
  void reads(const void* local, std::uint32_t bytes) noexcept { touch(local, bytes, 0); }
  void writes(const void* local, std::uint32_t bytes) noexcept { touch(local, bytes, 1); }

private:
  using Submit = Ev74Ticket (*)(void*, std::uint32_t, const Ev74Transfer*, Ev74Ticket);

  void submit(Submit function, Chain& chain, const Transfer& transfer) noexcept {
    if (failed_)
      return;
    const Ev74Transfer request{transfer.device,       transfer.rows,        transfer.row_bytes,
                               transfer.device_pitch, transfer.local_pitch, transfer.local};
    const Ev74Ticket ticket = function(services_.context, index_, &request, chain.tail_);
    if (ticket == 0)
      failed_ = true;
    else
      chain.tail_ = ticket;
  }

  void touch(const void* local, std::uint32_t bytes, std::uint32_t writes) noexcept {
    if (services_.touch != nullptr)
      services_.touch(services_.context, index_, local, bytes, writes);
  }

  const Ev74Services& services_;
  std::uint32_t index_;
  bool failed_ = false;
};

} // namespace simaai::firmware
