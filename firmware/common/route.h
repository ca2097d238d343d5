// SPDX-License-Identifier: LGPL-2.1-or-later
// Which internal path an entry took, so that tests can assert the selection. Freestanding C++17.
#pragma once

#include <cstdint>

namespace simaai::firmware {

/// The operation's wire number in the upper byte, the path in the lower one. Values are part of the
/// completion record: never renumbered.
enum class Route : std::uint16_t {
  None = 0, ///< refused before a path was chosen
  CastDense = 0x0101,
  CastSuffix = 0x0102,    ///< rows that are contiguous on both ports
  CastMatrix = 0x0103,    ///< rows of the source are columns of the destination
  CastGather = 0x0104,    ///< contiguous destination runs, source values apart
  CastScattered = 0x0105, ///< destination values apart
  TessTiles = 0x0201,     ///< a tile fits a panel
  TessPixels = 0x0202,    ///< tiles exceed a panel: runs of their pixels
  TessPieces = 0x0203,    ///< pixels exceed a panel: channels of one plane
  CastTessTiles = 0x0301,
  CastTessPixels = 0x0302,
  CastTessPieces = 0x0303,
};

/// A short lower-case name for tables and messages.
constexpr const char* route_name(Route route) noexcept {
  switch (route) {
  case Route::None:
    return "none";
  case Route::CastDense:
    return "dense";
  case Route::CastSuffix:
    return "suffix";
  case Route::CastMatrix:
    return "matrix";
  case Route::CastGather:
    return "gather";
  case Route::CastScattered:
    return "scattered";
  case Route::TessTiles:
  case Route::CastTessTiles:
    return "tiles";
  case Route::TessPixels:
  case Route::CastTessPixels:
    return "pixels";
  case Route::TessPieces:
  case Route::CastTessPieces:
    return "pieces";
  }
  return "unknown";
}

} // namespace simaai::firmware
