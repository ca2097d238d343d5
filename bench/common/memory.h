// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffers of a case, filled with reproducible random data, and the cache sizes that they must beat.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <simaai/kernels/buffers.h>

#include "case.h"

namespace simaai::bench {

/// Bytes of the last-level cache, read from the system; 32 MiB where it does not tell.
[[nodiscard]] std::uint64_t last_level_cache_bytes();

/// Bytes that the buffers of one case may take.
[[nodiscard]] std::uint64_t memory_budget_bytes();

/// One input and one output as execute() takes them.
struct BufferSet {
  std::array<kernels::ConstHostBuffer, 1> input;
  std::array<kernels::HostBuffer, 1> output;
};

/// Anonymous memory; pages that are given back serve the next one, already mapped.
class Pages {
public:
  explicit Pages(std::size_t bytes);
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages();
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Sets of buffers that calls use in turn: one for hot cases, for cold ones as many as make each
/// set leave the last-level cache before it is used again.
class Ring {
public:
  /// Every buffer starts `offset_bytes`, 0 or 16, above a multiple of 64.
  Ring(const Case& bench_case, std::size_t offset_bytes);
  [[nodiscard]] std::size_t size() const noexcept { return sets_.size(); }
  [[nodiscard]] const BufferSet& operator[](std::size_t index) const noexcept {
    return sets_[index];
  }
  /// Set for the next call; each batch of calls starts where the one before ended.
  std::size_t cursor = 0;

private:
  std::vector<BufferSet> sets_;
  std::unique_ptr<Pages> pages_;
};

} // namespace simaai::bench
