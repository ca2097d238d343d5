// SPDX-License-Identifier: LGPL-2.1-or-later
// English text of refusals: operand, what was expected, what was found, with units.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>

#include "ops/common/spec_geometry.h"

namespace simaai::kernels {
namespace {

constexpr std::array<std::string_view, 6> kDTypeNames{"int8",    "uint8",    "int32",
                                                      "float16", "bfloat16", "float32"};
constexpr std::array<std::string_view, ops::detail::kLayoutCount> kLayoutNames{
    "contiguous", "strided", "mla-tiled", "mla-cblocked"};
constexpr std::array<std::string_view, 4> kTileAxisNames{"D", "H", "W", "C"};
constexpr std::int16_t kChannelPosition = 3; // of C in D, H, W, C, which cannot be absent

std::string number(std::int64_t value) { return std::to_string(value); }

template <std::size_t N>
std::string name_of(const std::array<std::string_view, N>& names, std::int64_t value) {
  if (value < 0 || value >= static_cast<std::int64_t>(N))
    return number(value);
  return std::string(names[static_cast<std::size_t>(value)]);
}

/// "a", "a or b", "a, b or c" for the set bits of `mask`.
template <std::size_t N>
std::string names_of(const std::array<std::string_view, N>& names, std::int64_t mask) {
  std::string text;
  for (std::size_t bit = 0; bit < N; ++bit) {
    if ((mask >> bit & 1) == 0)
      continue;
    const bool last = mask >> (bit + 1) == 0;
    if (!text.empty())
      text += last ? " or " : ", ";
    text += names[bit];
  }
  return text;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return number(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string bytes(std::int64_t count) { return counted(count, "byte"); }

std::string elements(std::int64_t count) { return counted(count, "element"); }

std::string operand_name(const Error& error) {
  switch (error.operand) {
  case Operand::Request:
    return "request";
  case Operand::Input:
    return "input " + number(error.index);
  case Operand::Output:
    return "output " + number(error.index);
  case Operand::Params:
    return "parameters";
  case Operand::Packet:
    return "packet";
  }
  return "operand " + number(static_cast<std::int64_t>(error.operand));
}

std::string axis_name(const Error& error) { return "axis " + number(error.axis); }

std::string tile_axis_name(const Error& error) { return name_of(kTileAxisNames, error.axis); }

std::string expected_found(const std::string& expected, const std::string& found) {
  return "expected " + expected + ", found " + found;
}

std::string of_axis_if_any(const Error& error) {
  return error.axis < 0 ? std::string() : " at " + axis_name(error);
}

/// Values whose unit the code itself does not say.
std::string fields(const Error& error) {
  return expected_found(number(error.expected), number(error.found));
}

/// The part after "operand: ".
std::string reason(const Error& error) {
  const std::int64_t expected = error.expected;
  const std::int64_t found = error.found;
  switch (error.code) {
  case ErrorCode::WrongInputCount:
    return expected_found(counted(expected, "input"), counted(found, "input"));
  case ErrorCode::WrongOutputCount:
    return expected_found(counted(expected, "output"), counted(found, "output"));
  case ErrorCode::UnknownDType:
    return "dtype value " + number(found) + " is not a known dtype; expected " +
           names_of(kDTypeNames, (1 << kDTypeNames.size()) - 1);
  case ErrorCode::UnsupportedDType:
    return expected_found("dtype " + names_of(kDTypeNames, expected), name_of(kDTypeNames, found));
  case ErrorCode::DTypeMismatch:
    return expected_found("the input's dtype " + name_of(kDTypeNames, expected),
                          name_of(kDTypeNames, found));
  case ErrorCode::UnsupportedLayout:
    return expected_found("layout " + names_of(kLayoutNames, expected),
                          name_of(kLayoutNames, found));
  case ErrorCode::RankTooLarge:
    return expected_found("rank " + number(expected) + " or less", "rank " + number(found));
  case ErrorCode::RankTooSmall:
    return expected_found("rank " + number(expected) + " or more", "rank " + number(found));
  case ErrorCode::RankMismatch:
    return expected_found("the input's rank " + number(expected), "rank " + number(found));
  case ErrorCode::ShapeMismatch:
    return axis_name(error) + ": " +
           expected_found("the input's extent of " + elements(expected), elements(found));
  case ErrorCode::NegativeExtent:
    return axis_name(error) + ": " +
           expected_found("an extent of 0 or more elements", number(found));
  case ErrorCode::MissingChannelAxis:
    return "tile axis C: " + expected_found("a logical axis", number(found) + " (absent)");
  case ErrorCode::AxisOutOfRange:
    return "tile axis " + tile_axis_name(error) + ": " +
           expected_found((error.axis == kChannelPosition ? std::string() : "-1 or ") +
                              "a logical axis below the rank " + number(expected),
                          number(found));
  case ErrorCode::AxisRepeated:
    return "tile axis " + tile_axis_name(error) + ": " +
           expected_found("a logical axis of its own",
                          "axis " + number(found) + ", which tile axis " +
                              name_of(kTileAxisNames, expected) + " has");
  case ErrorCode::NonPositiveTile:
    return "tile extent " + tile_axis_name(error) + ": " +
           expected_found("1 element or more", number(found));
  case ErrorCode::AbsentAxisTile:
    return "tile extent " + tile_axis_name(error) +
           " of an absent axis: " + expected_found(elements(expected), elements(found));
  case ErrorCode::BlockedTileDepth:
    return "tile extent D of layout mla-cblocked: " +
           expected_found(elements(expected), elements(found));
  case ErrorCode::UnknownChannelStorage:
    return "channel storage: " + expected_found("compact or pad16", "value " + number(found));
  case ErrorCode::NegativeStride:
    return "stride of " + axis_name(error) + ": " + expected_found("0 bytes or more", bytes(found));
  case ErrorCode::MisalignedStride:
    return "stride of " + axis_name(error) + ": " +
           expected_found("a multiple of the scalar width of " + bytes(expected), bytes(found));
  case ErrorCode::ZeroStride:
    return "stride of " + axis_name(error) + ": " +
           expected_found("more than 0 bytes for an extent of " + elements(expected), bytes(found));
  case ErrorCode::StrideOverlap:
    return "stride of " + axis_name(error) + ": " +
           expected_found("at least " + bytes(expected) +
                              ", past all bytes that axes with smaller strides address",
                          bytes(found));
  case ErrorCode::SizeOverflow:
    return "size" + of_axis_if_any(error) + ": " +
           expected_found("at most 9223372036854775807 bytes", "a larger product or sum");
  case ErrorCode::ChannelPaddingRequired:
    return "int8_channel_padding: " +
           expected_found("a fill value for int8 with channel storage pad16", "none");
  case ErrorCode::ChannelPaddingForbidden:
    return "int8_channel_padding: " + expected_found("no fill value for bfloat16", number(found));
  case ErrorCode::NullBuffer:
    return "buffer: " + expected_found(bytes(expected), "a null pointer");
  case ErrorCode::BufferTooSmall:
    return "buffer capacity: " + expected_found("at least " + bytes(expected), bytes(found));
  case ErrorCode::BufferMisaligned:
    return "buffer address: " +
           expected_found("a multiple of " + bytes(expected), "a remainder of " + bytes(found));
  case ErrorCode::AddressOverflow:
    return "buffer address: " + expected_found(bytes(expected) + " below the end of the address "
                                                                 "space",
                                               "a range that wraps around");
  case ErrorCode::BuffersOverlap:
    return "buffer: " + expected_found("no byte in common with the accessed input range",
                                       bytes(found) + " in common");
  case ErrorCode::NoWork:
    return expected_found("at least one element to process", "an empty tensor");
  case ErrorCode::ExtentTooLarge:
    return axis_name(error) + ": " +
           expected_found("an extent of at most " + elements(expected), elements(found));
  case ErrorCode::TileTooLarge:
    return "tile extent " + tile_axis_name(error) + ": " +
           expected_found("at most " + elements(expected), elements(found));
  case ErrorCode::SpanTooLarge:
    return "span: " + expected_found("at most the " + bytes(expected) + " of the device aperture",
                                     bytes(found));
  case ErrorCode::ZeroDeviceAddress:
    return "device address: " + expected_found("a nonzero address", "0");
  case ErrorCode::ApertureExceeded:
    return "device region: " + expected_found("an end of at most " + number(expected) + " bytes",
                                              "an end at " + bytes(found));
  case ErrorCode::WrongRelocation:
    return "relocation: " + fields(error);
  case ErrorCode::PacketTooSmall:
    return "storage: " + expected_found("at least " + bytes(expected), bytes(found));
  case ErrorCode::PacketMalformed:
    return "field at byte " + number(error.axis) + ": " + fields(error);
  }
  return "error " + number(static_cast<std::int64_t>(error.code)) + ": " + fields(error);
}

} // namespace

std::string Error::message() const { return operand_name(*this) + ": " + reason(*this); }

} // namespace simaai::kernels
