// SPDX-License-Identifier: LGPL-2.1-or-later
// A cast with data: what goes in, what must come out by the oracle, and guards around both.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "jobs.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"

namespace simaai::runtime::test {

/// float32 -> bfloat16 of `elements` values at offsets of two objects, which may be one.
class CastJob {
public:
  CastJob(std::int64_t elements, std::uint64_t seed)
      : plan_(cast_plan(elements)),
        values_(oracle::random_tensor({elements}, kernels::DType::Float32, seed)),
        source_(memory(static_cast<std::uint64_t>(elements) * 4 + kOffset + kGuard)),
        destination_(memory(static_cast<std::uint64_t>(elements) * 2 + kOffset + kGuard)) {
    CpuMapping in = map(source_);
    std::memset(in.data(), 0x5a, in.size_bytes());
    for (std::size_t i = 0; i < values_.bits.size(); ++i)
      std::memcpy(in.data() + kOffset + 4 * i, &values_.bits[i], 4);
    clear();
  }

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const DmaBuf& source_memory() const { return source_; }
  [[nodiscard]] Binding source() const {
    return {source_.fd(), kOffset, source_.length_bytes() - kOffset, {}};
  }
  [[nodiscard]] Binding destination() const {
    return {destination_.fd(), kOffset, destination_.length_bytes() - kOffset, {}};
  }
  void clear() {
    CpuMapping out = map(destination_);
    std::memset(out.data(), 0x5a, out.size_bytes());
  }
  /// Every byte of the destination object, guards included.
  [[nodiscard]] ::testing::AssertionResult is_done() const {
    const CpuMapping out = map(destination_);
    const std::size_t bytes = values_.bits.size() * 2;
    for (std::size_t at = 0; at < out.size_bytes(); ++at) {
      std::uint8_t expected = 0x5a;
      if (at >= kOffset && at < kOffset + bytes) {
        const std::size_t element = (at - kOffset) / 2;
        const std::uint16_t bits = oracle::float32_to_bfloat16(values_.bits[element]);
        expected = static_cast<std::uint8_t>((at - kOffset) % 2 == 0 ? bits : bits >> 8);
      }
      if (out.data()[at] != std::byte{expected})
        return ::testing::AssertionFailure() << "byte " << at << " of the destination is wrong";
    }
    return ::testing::AssertionSuccess();
  }
  /// No byte was written.
  [[nodiscard]] bool is_untouched() const {
    const CpuMapping out = map(destination_);
    for (std::size_t at = 0; at < out.size_bytes(); ++at)
      if (out.data()[at] != std::byte{0x5a})
        return false;
    return true;
  }

private:
  static constexpr std::uint64_t kOffset = 64;
  static constexpr std::uint64_t kGuard = 64;
  static CpuMapping map(const DmaBuf& buffer) {
    return take(CpuMapping::map(buffer.fd(), 0, buffer.length_bytes(), true));
  }

  Plan plan_;
  oracle::Tensor values_;
  DmaBuf source_;
  DmaBuf destination_;
};

} // namespace simaai::runtime::test
