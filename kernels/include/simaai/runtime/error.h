// SPDX-License-Identifier: LGPL-2.1-or-later
// Refusals and failures of the runtime: one code a reason, operands in fixed storage, text on demand.
#pragma once

#include <cstdint>
#include <string>

#include <simaai/kernels/status.h>
#include <simaai/runtime/export.h>

namespace simaai::runtime {

/// One code a distinct reason. The comment names what `expected`, `found` and `system_error` hold.
enum class ErrorCode : std::uint16_t {
  Kernel, ///< `kernel`: a refusal of admission, of the packet codec or of A65 execution
  // Opening a device.
  UnknownScheme,     ///< no transport is registered for the text before the colon
  BadDeviceOption,   ///< found: position of the option in the URI, characters
  DeviceUnavailable, ///< system_error: why it cannot be opened
  ProtocolMismatch,  ///< expected, found: protocol version, or 0 where the peer speaks another one
  JobsStillParked,   ///< found: jobs of an earlier session that are not retired
  // Capabilities of the device.
  OperationMissing,        ///< found: operation number of the packet
  VersionMissing,          ///< expected: packet version of the device; found: of the packet
  FlagMissing,             ///< expected: flag mask of the device; found: flags of the packet
  SourceDTypeMissing,      ///< expected: mask of 1 << tag; found: tag
  DestinationDTypeMissing, ///< expected: mask of 1 << tag; found: tag
  // Memory.
  BadDescriptor,     ///< found: file descriptor; system_error
  UnsupportedMemory, ///< found: file-system magic; neither a DMA-BUF nor a memfd
  NotSealed,         ///< a memfd without F_SEAL_SHRINK
  NotWritable,       ///< the destination's descriptor is read-only
  BufferTooSmall,    ///< expected: bytes needed from the offset on; found: bytes there
  BufferMisaligned,  ///< expected: alignment in bytes; found: offset modulo alignment
  BuffersOverlap,    ///< found: bytes that both ports share in one object
  SyncFailed,        ///< system_error of DMA_BUF_IOCTL_SYNC
  OutOfMemory,       ///< expected: bytes; system_error
  AddressSpaceFull,  ///< expected: bytes that no free range of the device's aperture holds
  // Jobs.
  WrongState,   ///< expected, found: JobState
  WrongBackend, ///< the plan was prepared for the other backend
  QueueFull,    ///< expected: jobs that may be in flight; try again after one retired
  TimedOut,     ///< expected: milliseconds waited; the job is parked
  Cancelled,    ///< whoever waited was told to stop; the job is parked
  DeviceLost,   ///< the device or its server is gone; system_error where known
  EntryRefused, ///< found: status that the native entry returned (docs/wire-format.md)
  DeviceFault,  ///< the device stopped the job: a broken access or ownership rule; found: its code
  JobRefused,   ///< the server did not run the job; found: its reason (docs/runtime.md)
};

/// Which port an error is about.
enum class Port : std::uint8_t { None, Source, Destination };

/// A refusal or failure. Trivially copyable; building or copying one does not allocate.
struct Error {
  ErrorCode code{};
  Port port = Port::None;
  int system_error = 0; ///< errno, or 0
  std::int64_t expected = 0;
  std::int64_t found = 0;
  kernels::Error kernel{}; ///< only for ErrorCode::Kernel

  /// English sentence that names operand, expected and found, with units. Allocates. Reentrant.
  [[nodiscard]] SIMAAI_RUNTIME_API std::string message() const;
};

[[nodiscard]] constexpr Error kernel_error(const kernels::Error& error) noexcept {
  Error wrapped;
  wrapped.code = ErrorCode::Kernel;
  wrapped.kernel = error;
  return wrapped;
}

/// Outcome of a call: success, or an Error. Default-constructed as success.
class [[nodiscard]] Status {
public:
  constexpr Status() noexcept = default;
  constexpr Status(const Error& error) noexcept : error_(error), ok_(false) {} // implicit

  [[nodiscard]] constexpr bool ok() const noexcept { return ok_; }
  constexpr explicit operator bool() const noexcept { return ok_; }
  /// Only where !ok().
  [[nodiscard]] constexpr const Error& error() const noexcept { return error_; }
  [[nodiscard]] std::string message() const { return ok_ ? std::string("ok") : error_.message(); }

private:
  Error error_{};
  bool ok_ = true;
};

} // namespace simaai::runtime
