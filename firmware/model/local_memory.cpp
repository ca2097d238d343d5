// SPDX-License-Identifier: LGPL-2.1-or-later
// Byte states of a worker's local memory.
#include "firmware/model/local_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace simaai::model {
namespace {

constexpr std::uint64_t kAlignment = 64;

} // namespace

std::byte LocalMemory::noise(std::uint64_t offset) const noexcept {
  return static_cast<std::byte>(((offset + seed_) * 0x9E3779B97F4A7C15U) >> 56);
}

void LocalMemory::begin(std::uint32_t worker, const ModelConfig& config) {
  const std::uint64_t seed = config.seed * 2 + worker;
  worker_ = worker;
  tracked_ = config.checking == Checking::Full;
  acquired_ = 0;
  if (capacity_ == config.local_bytes && seed_ == seed && base_ != nullptr)
    return;
  seed_ = seed;
  capacity_ = config.local_bytes;
  storage_.resize(capacity_ + 2 * kCanaryBytes + kAlignment);
  const auto start = reinterpret_cast<std::uintptr_t>(storage_.data()) + kCanaryBytes;
  base_ = storage_.data() + kCanaryBytes + (kAlignment - start % kAlignment) % kAlignment;
  for (std::uint64_t i = 0; i < kCanaryBytes; ++i)
    canary_[i] = noise(i);
}

std::byte* LocalMemory::acquire(std::uint32_t bytes, FaultLog& faults) noexcept {
  if (bytes > capacity_ || acquired_ != 0) {
    faults.add(FaultKind::LocalMemory, worker_, 0, bytes);
    return nullptr;
  }
  acquired_ = bytes;
  if (tracked_) {
    states_.assign(bytes, ByteState{});
    for (std::uint64_t i = 0; i < bytes; ++i)
      base_[i] = noise(i);
  }
  std::copy(canary_.begin(), canary_.end(), base_ + bytes);
  std::copy(canary_.begin(), canary_.end(), base_ - kCanaryBytes);
  return base_;
}

bool LocalMemory::contains(const void* pointer) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  const auto base = reinterpret_cast<std::uintptr_t>(base_);
  return at >= base && at - base < capacity_;
}

bool LocalMemory::locate(const void* pointer, std::uint64_t bytes, LocalRange& out) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(pointer);
  const auto base = reinterpret_cast<std::uintptr_t>(base_);
  if (at < base || at - base > acquired_ || bytes > acquired_ - (at - base))
    return false;
  out = {at - base, bytes};
  return true;
}

LocalMemory::State LocalMemory::state_of(const LocalRange& range) const noexcept {
  State state;
  for (std::uint64_t i = range.offset; i < range.offset + range.bytes; ++i) {
    const ByteState byte = states_[i];
    state.incoming = state.incoming || byte.incoming != 0;
    state.outgoing = state.outgoing || byte.outgoing != 0;
    state.unwritten = state.unwritten || !byte.written;
  }
  return state;
}

void LocalMemory::check_use(const LocalRange& range, bool writes, FaultLog& faults) noexcept {
  const State state = state_of(range);
  if (writes) {
    if (state.incoming || state.outgoing)
      faults.add(FaultKind::EarlyReuse, worker_, range.offset, range.bytes);
    for (std::uint64_t i = range.offset; i < range.offset + range.bytes; ++i)
      states_[i].written = true;
  } else if (state.incoming) {
    faults.add(FaultKind::MissingWait, worker_, range.offset, range.bytes);
  } else if (state.unwritten) {
    faults.add(FaultKind::NeverWritten, worker_, range.offset, range.bytes);
  }
}

void LocalMemory::start(const LocalRange& range, bool incoming, bool make_noise) noexcept {
  for (std::uint64_t i = range.offset; i < range.offset + range.bytes; ++i) {
    ByteState& byte = states_[i];
    // Bytes that an earlier transfer of the same chain still needs stay as they are.
    if (incoming && make_noise && byte.incoming == 0 && byte.outgoing == 0)
      base_[i] = noise(i + 17);
    ++(incoming ? byte.incoming : byte.outgoing);
  }
}

void LocalMemory::end(const LocalRange& range, bool incoming) noexcept {
  for (std::uint64_t i = range.offset; i < range.offset + range.bytes; ++i) {
    std::uint8_t& count = incoming ? states_[i].incoming : states_[i].outgoing;
    --count;
    states_[i].written = states_[i].written || incoming;
  }
}

void LocalMemory::check_bounds(FaultLog& faults) const noexcept {
  if (acquired_ == 0)
    return;
  const auto damage = [this](const std::byte* found) {
    if (std::memcmp(canary_.data(), found, kCanaryBytes) == 0)
      return static_cast<std::ptrdiff_t>(kCanaryBytes);
    return std::mismatch(canary_.begin(), canary_.end(), found).first - canary_.begin();
  };
  if (const auto at = static_cast<std::uint64_t>(damage(base_ + acquired_)); at < kCanaryBytes)
    faults.add(FaultKind::LocalMemory, worker_, acquired_ + at, 1);
  else if (const auto before = static_cast<std::uint64_t>(damage(base_ - kCanaryBytes));
           before < kCanaryBytes)
    faults.add(FaultKind::LocalMemory, worker_, 0, kCanaryBytes - before);
}

} // namespace simaai::model
