// SPDX-License-Identifier: LGPL-2.1-or-later
// The .npy container: header text <-> dtype, shape and element order. Knows no GLib and opens no file.
//
// Read: format versions 1.0, 2.0 and 3.0. Written: 1.0. Scalars map to `descr` words as follows.
//
//   int8 |i1   uint8 |u1   int32 <i4   float16 <f2   float32 <f4   bfloat16 <V2 (|V2 is read too)
//
// numpy has no bfloat16 of its own; a two-byte void is what arrays of the ml_dtypes extension type
// are saved as. Words of big-endian files (>i4, >f2, >f4, >V2) are read, the caller swaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::gst {

/// Bytes of magic, version and the longest length field: enough for npy_prefix().
inline constexpr std::size_t kNpyPrefixBytes = 12;
/// Longest header that is believed; numpy's own limit is 10,000 characters.
inline constexpr std::uint64_t kNpyMaxHeaderBytes = 65536;

/// Where the header text of a file lies.
struct NpyPrefix {
  std::size_t text_offset_bytes = 0; ///< 10 (version 1) or 12
  std::uint64_t text_bytes = 0;
};

/// What the header text says.
struct NpyHeader {
  kernels::DType dtype = kernels::DType::UInt8;
  kernels::Shape shape;
  bool fortran_order = false;
  bool big_endian = false;
  std::uint64_t payload_bytes = 0; ///< product of the extents times the scalar width
};

/// A refusal: which part of the file, what was expected there and what was found.
struct NpyError {
  std::string what;
  std::string expected;
  std::string found;
};

/// Reads magic, version and header length from the first bytes of a file of `file_bytes`.
[[nodiscard]] std::variant<NpyPrefix, NpyError> npy_prefix(std::span<const std::byte> start,
                                                           std::uint64_t file_bytes);

/// Reads the header text. `reinterpret` names the scalar type that the elements stand for where
/// `descr` cannot say it (bfloat16 kept as <u2); its width must be that of `descr`.
[[nodiscard]] std::variant<NpyHeader, NpyError>
npy_parse_header(std::string_view text, std::optional<kernels::DType> reinterpret);

/// Layout of the payload: contiguous, or the strides of Fortran order where they differ.
[[nodiscard]] kernels::TensorSpec npy_tensor_spec(const NpyHeader& header);

/// Everything before the payload of a version 1.0 file in C order, padded to a multiple of 64 bytes.
[[nodiscard]] std::string npy_build_header(kernels::DType dtype,
                                           std::span<const std::int64_t> extents);

} // namespace simaai::gst
