// SPDX-License-Identifier: LGPL-2.1-or-later
// Local memory of one worker, with the state of each byte beside it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "firmware/model/fault_log.h"

namespace simaai::model {

/// A contiguous range of local memory, by offset.
struct LocalRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class LocalMemory {
public:
  /// Prepares for a job: nothing acquired. Under full checking the block holds noise drawn from the seed, and the state
  /// of its bytes is kept; else it holds what earlier jobs of this worker left, and only its bounds are watched.
  void begin(std::uint32_t worker, const ModelConfig& config);

  /// The whole block once a job; null, and a fault, for more than there is or a second call.
  [[nodiscard]] std::byte* acquire(std::uint32_t bytes, FaultLog& faults) noexcept;
  [[nodiscard]] std::uint32_t acquired() const noexcept { return acquired_; }

  /// Offset of a pointer into the acquired block; false where [pointer, + bytes) is not inside.
  [[nodiscard]] bool locate(const void* pointer, std::uint64_t bytes,
                            LocalRange& out) const noexcept;
  /// True where the pointer lies in the block at all, acquired or not.
  [[nodiscard]] bool contains(const void* pointer) const noexcept;
  [[nodiscard]] std::byte* at(std::uint64_t offset) noexcept { return base_ + offset; }

  // Code uses local bytes. From here to end(): full checking only.
  void check_use(const LocalRange& range, bool writes, FaultLog& faults) noexcept;

  /// What of a range is in the way of a new transfer.
  struct State {
    bool incoming = false; ///< bytes of a transfer into them are in flight
    bool outgoing = false; ///< a transfer out of them is in flight
    bool unwritten = false;
  };
  [[nodiscard]] State state_of(const LocalRange& range) const noexcept;

  /// Marks a row of a transfer as started or ended. Incoming rows hold noise while in flight.
  void start(const LocalRange& range, bool incoming, bool make_noise) noexcept;
  void end(const LocalRange& range, bool incoming) noexcept;

  /// Reports bytes beyond the acquired block that changed.
  void check_bounds(FaultLog& faults) const noexcept;

private:
  struct ByteState {
    std::uint8_t incoming = 0; ///< transfers in flight into the byte
    std::uint8_t outgoing = 0; ///< transfers in flight out of it
    bool written = false;
  };
  static constexpr std::uint64_t kCanaryBytes = 1024;
  [[nodiscard]] std::byte noise(std::uint64_t offset) const noexcept;

  std::uint32_t worker_ = 0;
  std::uint64_t seed_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t acquired_ = 0;
  bool tracked_ = false;
  std::array<std::byte, kCanaryBytes> canary_{}; ///< what lies on both sides
  std::vector<std::byte> storage_;               ///< canary, block, canary
  std::byte* base_ = nullptr;
  std::vector<ByteState> states_;
};

} // namespace simaai::model
