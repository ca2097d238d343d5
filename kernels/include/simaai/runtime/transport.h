// SPDX-License-Identifier: LGPL-2.1-or-later
// What a way to a device implements. Applications use device.h; this is for those who add a transport.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>

#include <simaai/kernels/ev74/packet.h>
#include <simaai/runtime/capability.h>
#include <simaai/runtime/dma_buf.h>
#include <simaai/runtime/error.h>
#include <simaai/runtime/export.h>

namespace simaai::runtime {

using JobId = std::uint64_t;

/// Counters of a device for one job. Devices without counters leave them zero.
struct Counters {
  std::uint64_t dma_calls_in = 0;
  std::uint64_t dma_calls_out = 0;
  std::uint64_t dma_bytes_in = 0;      ///< payload
  std::uint64_t dma_bytes_out = 0;     ///< payload
  std::uint64_t typed_load_bytes = 0;  ///< input bytes read without DMA
  std::uint64_t typed_store_bytes = 0; ///< output bytes written without DMA
  std::uint64_t cycles = 0;            ///< estimate of a device model
  std::uint32_t workers = 0;
  std::uint32_t route = 0; ///< path that the firmware took (docs/firmware.md)
};

/// How a job ended on the device's side.
enum class JobOutcome : std::uint32_t {
  Done = 0,     ///< the entry completed
  Entry = 1,    ///< the entry refused the packet: Completion::entry_status
  Fault = 2,    ///< the device stopped the job: Completion::detail
  Refused = 3,  ///< nothing was run: Completion::detail
  Overfull = 4, ///< nothing was run: more jobs in flight than the device takes
};

/// What retires a job: after it the device touches neither packet nor buffers of that job.
struct Completion {
  JobId job = 0;
  JobOutcome outcome = JobOutcome::Done;
  std::uint32_t entry_status = 0; ///< what the native entry returned
  std::uint32_t detail = 0;
  Counters counters;
  std::uint64_t started_ns = 0; ///< when the entry was called, CLOCK_MONOTONIC; 0: not told
  std::uint64_t done_ns = 0;    ///< when it had returned; 0: not told
};

/// A relocation of a packet: where the driver writes the address of which range of which object.
struct BoundRelocation {
  std::uint32_t packet_offset = 0; ///< 24 or 32, bytes
  int fd = -1;                     ///< borrowed until the job is retired
  std::uint64_t offset_bytes = 0;  ///< into the object
  std::uint64_t length_bytes = 0;  ///< that the packet's port may access
  kernels::ev74::RegionAccess access = kernels::ev74::RegionAccess::Read;
  MemoryInfo object; ///< what the kernel says is behind the descriptor
};

/// What whoever submits a job does next.
enum class AfterSubmit : std::uint8_t {
  Anything,
  Wait, ///< waits for it at once: a device that is a thread of this process need not be woken for it
};

/// A job on its way to a device: a packet with zero address slots, and its relocations, source first. Everything is
/// checked already.
struct Submission {
  JobId job = 0;
  AfterSubmit next = AfterSubmit::Anything; ///< a hint
  std::span<const std::byte> packet;
  std::array<BoundRelocation, 2> relocations;
};

/// Receives what a transport learns, from pump() only. Thread-safe.
class CompletionSink {
public:
  CompletionSink() = default;
  virtual ~CompletionSink() = default;
  CompletionSink(const CompletionSink&) = delete;
  CompletionSink& operator=(const CompletionSink&) = delete;
  /// A job is retired. Unknown and repeated numbers are ignored.
  virtual void retired(const Completion& completion) noexcept = 0;
  /// No job will complete any more, but the device may still touch memory.
  virtual void lost(const Error& why) noexcept = 0;
  /// The device is gone for good (its process ended, or its driver acknowledged a reset): nothing touches memory any
  /// more. Follows lost().
  virtual void stopped() noexcept = 0;
};

/// What pump() did.
enum class PumpResult : std::uint8_t {
  Delivered, ///< the sink was called, or interrupt() was
  TimedOut,
  Exhausted, ///< after lost(): nothing will ever come
};

/// A connection to one device.
class Transport {
public:
  Transport() = default;
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Fixed after the transport was opened. Thread-safe.
  [[nodiscard]] virtual const CapabilityTable& capabilities() const noexcept = 0;
  /// Hands a job over and returns without waiting for the device. A refusal (QueueFull, DeviceLost, and what the
  /// transport itself cannot do) means that nothing was handed over. Copies what it needs but the objects behind the
  /// descriptors. Thread-safe.
  virtual Status submit(const Submission& submission) noexcept = 0;
  /// Waits up to `timeout` for news and passes all there are to the sink. One caller at a time.
  virtual PumpResult pump(CompletionSink& sink, std::chrono::nanoseconds timeout) noexcept = 0;
  /// Makes a pump() that is running, or else the next one, return. Thread-safe.
  virtual void interrupt() noexcept = 0;
};

using TransportResult = std::variant<std::unique_ptr<Transport>, Error>;
/// Opens a device. `rest` is the URI after the colon.
using TransportFactory = TransportResult (*)(std::string_view rest);

/// Makes URIs that begin with `scheme` and a colon known to Device::open(). Registering a scheme again replaces it.
/// `unix` and `dev` are always there. `scheme` has static storage. Thread-safe.
SIMAAI_RUNTIME_API void register_transport(std::string_view scheme,
                                           TransportFactory factory) noexcept;

} // namespace simaai::runtime
