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
  DetessPlanar = 0x0401,       ///< spans of channels, plane by plane
  DetessGather = 0x0402,       ///< any order of axes
  DetessRawRow = 0x0403,       ///< whole pixels, all planes at once
  DetessBlocked = 0x0406,      ///< fragments of channel blocks
  DetessStrided = 0x0407,      ///< destination with gaps or steps
  DetessStridedInner = 0x0408, ///< the same in physical order, channels innermost
  DetessCastPlanar = 0x0501,   ///< as with Detess
  DetessCastGather = 0x0502,
  DetessCastRawRow = 0x0503,
  DetessCastFullPixel = 0x0504,   ///< raw rows of 16 or 32 channels to Float32
  DetessCastChannelBand = 0x0505, ///< pixel rows across three or four channel tiles
  DetessCastBlocked = 0x0506,
  DetessCastStrided = 0x0507,
  DetessCastStridedInner = 0x0508,
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
  case Route::DetessGather:
  case Route::DetessCastGather:
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
  case Route::DetessPlanar:
  case Route::DetessCastPlanar:
    return "planar";
  case Route::DetessRawRow:
  case Route::DetessCastRawRow:
    return "raw-row";
  case Route::DetessCastFullPixel:
    return "full-pixel";
  case Route::DetessCastChannelBand:
    return "channel-band";
  case Route::DetessBlocked:
  case Route::DetessCastBlocked:
    return "blocked";
  case Route::DetessStrided:
  case Route::DetessCastStrided:
    return "strided";
  case Route::DetessStridedInner:
  case Route::DetessCastStridedInner:
    return "strided-inner";
  }
  return "unknown";
}

} // namespace simaai::firmware
