// SPDX-License-Identifier: LGPL-2.1-or-later
// Casts in DMA-BUFs on a device: data, results, refusals.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <variant>

#include <gtest/gtest.h>
#include <unistd.h>

#include "observer.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "runtime/jobs.h"

namespace simaai::runtime::test {

inline DmaBuf allocate(BufferSourceKind kind, std::uint64_t bytes) {
  return take(take(BufferSource::open(kind)).allocate(bytes));
}

/// Calls `use` with the mapped object inside a bracket.
template <class Use> void access(const DmaBuf& buffer, CpuAccessMode mode, Use use) {
  const CpuMapping mapping =
      take(CpuMapping::map(buffer.fd(), 0, buffer.length_bytes(), mode != CpuAccessMode::Read));
  const CpuAccess open = take(CpuAccess::begin(buffer.fd(), buffer.kind(), mode));
  use(mapping.data(), mapping.size_bytes());
}

inline void fill(const DmaBuf& buffer, std::byte value) {
  access(buffer, CpuAccessMode::Write, [&](std::byte* data, std::uint64_t bytes) {
    std::memset(data, static_cast<int>(value), bytes);
  });
}

/// A cast of float32 to bfloat16 at an offset of two DMA-BUFs with guards.
class Cast {
public:
  Cast(BufferSourceKind kind, std::int64_t elements, std::uint64_t seed)
      : plan_(cast_plan(elements)),
        values_(oracle::random_tensor({elements}, kernels::DType::Float32, seed)),
        source_(allocate(kind, kOffset + static_cast<std::uint64_t>(elements) * 4)),
        destination_(allocate(kind, kOffset + static_cast<std::uint64_t>(elements) * 2)) {
    access(source_, CpuAccessMode::Write, [&](std::byte* data, std::uint64_t) {
      for (std::size_t i = 0; i < values_.bits.size(); ++i)
        std::memcpy(data + kOffset + 4 * i, &values_.bits[i], 4);
    });
    fill(destination_, std::byte{0x5a});
  }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// `lacking` bytes are missing at the end.
  [[nodiscard]] Binding source(std::uint64_t lacking = 0) const {
    return {source_.fd(),
            source_.length_bytes() - values_.bits.size() * 4 + lacking,
            values_.bits.size() * 4,
            {}};
  }
  [[nodiscard]] Binding source_at_offset() const {
    return {source_.fd(), kOffset, values_.bits.size() * 4, {}};
  }
  [[nodiscard]] Binding destination() const {
    return {destination_.fd(), kOffset, values_.bits.size() * 2, {}};
  }
  [[nodiscard]] Binding short_destination() const {
    return {destination_.fd(),
            destination_.length_bytes() - values_.bits.size() * 2 + 2,
            values_.bits.size() * 2,
            {}};
  }
  void expect(bool converted) const {
    access(destination_, CpuAccessMode::Read, [&](const std::byte* data, std::uint64_t bytes) {
      for (std::uint64_t at = 0; at < bytes; ++at) {
        std::uint8_t expected = 0x5a;
        if (converted && at >= kOffset && at < kOffset + values_.bits.size() * 2) {
          const std::uint16_t bits = oracle::float32_to_bfloat16(values_.bits[(at - kOffset) / 2]);
          expected = static_cast<std::uint8_t>((at - kOffset) % 2 == 0 ? bits : bits >> 8);
        }
        ASSERT_EQ(data[at], std::byte{expected}) << "byte " << at;
      }
    });
  }

private:
  static constexpr std::uint64_t kOffset = 4096 + 64;
  Plan plan_;
  oracle::Tensor values_;
  DmaBuf source_;
  DmaBuf destination_;
};

/// `device_process` opens the brackets; 0: does not matter.
inline void expect_job(const Device& device, BufferSourceKind kind, pid_t device_process) {
  const Cast cast(kind, 3000, 11);
  simaai::test::forget_brackets();
  const Status status =
      device.run(cast.plan(), cast.source_at_offset(), cast.destination(), kDeadline);
  ASSERT_TRUE(status.ok()) << status.message();
  // Nobody but the device touched the memory.
  if (device_process != 0) {
    EXPECT_EQ(simaai::test::brackets(device_process),
              (std::map<std::string, int>{{"read", 1}, {"both", 1}}));
  }
  if (device_process != ::getpid()) {
    EXPECT_EQ(simaai::test::brackets(::getpid()), (std::map<std::string, int>{}));
  }
  cast.expect(true);
}

inline void expect_refusals(const Device& device, BufferSourceKind kind) {
  const Cast cast(kind, 3000, 12);
  EXPECT_EQ(code_of(device.make_job(cast.plan(), cast.source(4), cast.destination())),
            ErrorCode::BufferTooSmall);
  EXPECT_EQ(
      code_of(device.make_job(cast.plan(), cast.source_at_offset(), cast.short_destination())),
      ErrorCode::BufferTooSmall);
  const Error error = std::get<Error>(
      device.make_job(cast.plan(), cast.source_at_offset(), cast.short_destination()));
  EXPECT_EQ(error.port, Port::Destination);
  EXPECT_EQ(error.expected, 6000);
  EXPECT_EQ(error.found, 5998);
  cast.expect(false);
  // The last byte fits.
  const Status status = device.run(cast.plan(), cast.source(0), cast.destination(), kDeadline);
  EXPECT_TRUE(status.ok()) << status.message();
}

} // namespace simaai::runtime::test
