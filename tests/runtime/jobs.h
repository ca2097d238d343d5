// SPDX-License-Identifier: LGPL-2.1-or-later
// What tests of jobs need: plans, memory, and a count of what a device still holds.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <variant>

#include <gtest/gtest.h>

#include <simaai/runtime/device.h>
#include <simaai/runtime/dma_buf.h>
#include <simaai/runtime/prepare.h>

#include "../support/eventually.h"

namespace simaai::runtime::test {

/// Ends tests that would hang; no test asserts how long something took.
inline constexpr std::chrono::seconds kDeadline{60};

template <class T> T take(std::variant<T, Error>&& result) {
  if (const auto* error = std::get_if<Error>(&result)) {
    ADD_FAILURE() << error->message();
    std::abort();
  }
  return std::move(std::get<T>(result));
}

template <class T> ErrorCode code_of(const std::variant<T, Error>& result) {
  const auto* error = std::get_if<Error>(&result);
  return error != nullptr ? error->code : ErrorCode{0xffff};
}

inline ErrorCode code_of(const Status& status) {
  return status.ok() ? ErrorCode{0xffff} : status.error().code;
}

/// float32 -> bfloat16, contiguous.
inline Plan cast_plan(std::int64_t elements, Backend backend = Backend::Ev74) {
  const kernels::TensorSpec input{{elements}, kernels::DType::Float32};
  const kernels::TensorSpec output{{elements}, kernels::DType::BFloat16};
  return take(prepare(kernels::ops::cast::Request{{&input, 1}, {&output, 1}}, backend));
}

/// A sealed memfd.
inline DmaBuf memory(std::uint64_t bytes) {
  return take(take(BufferSource::open(BufferSourceKind::Memfd)).allocate(bytes));
}

inline Binding bind(const DmaBuf& buffer) {
  return {buffer.fd(), buffer.offset_bytes(), buffer.length_bytes(), {}};
}

/// Counts Keeps that a device holds.
class Holding {
public:
  Keep keep() {
    ++held_;
    return {&held_, [](void* held) noexcept { --*static_cast<std::atomic<int>*>(held); }};
  }
  [[nodiscard]] int held() const { return held_; }
  [[nodiscard]] Binding bind(const DmaBuf& buffer) {
    return {buffer.fd(), buffer.offset_bytes(), buffer.length_bytes(), keep()};
  }

private:
  std::atomic<int> held_{0};
};

using simaai::test::eventually;

} // namespace simaai::runtime::test
