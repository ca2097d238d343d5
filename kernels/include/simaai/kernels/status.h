// SPDX-License-Identifier: LGPL-2.1-or-later
// Refusals: one code a distinct reason, operands in fixed storage, text on demand. Nothing here
// throws, and nothing but message() allocates.
#pragma once

#include <cstdint>
#include <string>

#include <simaai/kernels/export.h>

namespace simaai::kernels {

/// One code a distinct refusal. The comment names what `expected` and `found` of the Error hold.
enum class ErrorCode : std::uint16_t {
  // Request metadata.
  WrongInputCount,    ///< expected, found: ports
  WrongOutputCount,   ///< expected, found: ports
  UnknownDType,       ///< found: raw enumerator value
  UnsupportedDType,   ///< expected: bit mask of 1 << DType; found: DType
  DTypeMismatch,      ///< expected: DType of the input; found: DType of the output
  UnsupportedLayout,  ///< expected: bit mask of 1 << Layout index; found: Layout index
  RankTooLarge,       ///< expected: largest rank; found: rank
  RankTooSmall,       ///< expected: smallest rank; found: rank
  RankMismatch,       ///< expected: rank of the input; found: rank of the output
  ShapeMismatch,      ///< axis; expected: extent of the input; found: extent of the output
  NegativeExtent,     ///< axis; found: extent
  MissingChannelAxis, ///< found: axes[C]
  AxisOutOfRange,     ///< axis: position in D, H, W, C; expected: rank; found: logical axis
  AxisRepeated, ///< axis: position in D, H, W, C; expected: earlier position; found: logical axis
  NonPositiveTile,       ///< axis: position in D, H, W, C; found: tile extent
  AbsentAxisTile,        ///< axis: position in D, H, W, C; expected: 1; found: tile extent
  BlockedTileDepth,      ///< expected: 1; found: tile extent of D
  UnknownChannelStorage, ///< found: raw enumerator value
  NegativeStride,        ///< axis; found: bytes
  MisalignedStride,      ///< axis; expected: scalar bytes; found: bytes
  ZeroStride,            ///< axis; expected: extent of the axis; found: 0
  StrideOverlap, ///< axis; expected: least stride in bytes that the proof accepts; found: bytes
  SizeOverflow,  ///< axis, or -1: a product or sum leaves the signed 64-bit range
  ChannelPaddingRequired,  ///< INT8 PadTo16 without int8_channel_padding
  ChannelPaddingForbidden, ///< int8_channel_padding with BFloat16; found: the value
  // Buffers bound to an admitted plan.
  NullBuffer,       ///< expected: bytes needed
  BufferTooSmall,   ///< expected: bytes needed; found: capacity in bytes
  BufferMisaligned, ///< expected: alignment in bytes; found: address modulo alignment
  AddressOverflow,  ///< expected: bytes needed: address plus span wraps around
  BuffersOverlap,   ///< the input and output ranges that would be accessed intersect; found: bytes
                    ///< shared
  // EV74 representability and binding.
  NoWork,            ///< an empty plan has nothing to encode
  ExtentTooLarge,    ///< axis; expected: largest value; found: extent
  TileTooLarge,      ///< axis: position in D, H, W, C; expected: largest value; found: tile extent
  SpanTooLarge,      ///< expected: bytes in the aperture; found: bytes needed
  ZeroDeviceAddress, ///< a device address is 0
  ApertureExceeded,  ///< expected: end of the aperture; found: end of the region
  WrongRelocation,   ///< expected, found: relocation field
  PacketTooSmall,    ///< expected, found: bytes
  PacketMalformed,   ///< axis: byte offset of the field; expected, found: its value
};

/// What an Error is about.
enum class Operand : std::uint8_t { Request, Input, Output, Params, Packet };

/// A refusal. Trivially copyable; building or copying one does not allocate.
struct Error {
  ErrorCode code{};
  Operand operand = Operand::Request;
  std::uint8_t index = 0; ///< port number for Input and Output
  std::int16_t axis = -1; ///< logical axis, position in D, H, W, C, or byte offset; -1: none
  std::int64_t expected = 0;
  std::int64_t found = 0;

  /// English sentence that names the operand, what was expected and what was found, with units.
  /// Allocates. Reentrant.
  [[nodiscard]] SIMAAI_KERNELS_API std::string message() const;
  friend constexpr bool operator==(const Error&, const Error&) noexcept = default;
};

/// Outcome of a call: success, or an Error. Default-constructed as success.
class [[nodiscard]] Status {
public:
  constexpr Status() noexcept = default;
  constexpr Status(const Error& error) noexcept
      : error_(error), ok_(false) {} // implicit: `return error;`

  [[nodiscard]] constexpr bool ok() const noexcept { return ok_; }
  constexpr explicit operator bool() const noexcept { return ok_; }
  /// The refusal; only where !ok().
  [[nodiscard]] constexpr const Error& error() const noexcept { return error_; }
  /// "ok", or the refusal's message. Allocates.
  [[nodiscard]] std::string message() const { return ok_ ? std::string("ok") : error_.message(); }

private:
  Error error_{};
  bool ok_ = true;
};

} // namespace simaai::kernels
