// SPDX-License-Identifier: LGPL-2.1-or-later
// The address of an element: two coordinates, row first. Nothing here knows where bytes sit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <simaai/kernels/language.h>

namespace simaai::kernels::matrix {

/// Number of values a coordinate can take: 19 x 21 x 28. Both dimensions of a matrix are between 1
/// and this.
inline constexpr std::size_t kCoordSpace = 11172;

/// One coordinate, 0 to kCoordSpace - 1. A value outside cannot be constructed.
class Coord {
public:
  constexpr Coord() noexcept = default;
  /// The coordinate of `index`, or empty where the space has none.
  [[nodiscard]] static constexpr std::optional<Coord> from_index(std::size_t index) noexcept {
    if (index >= kCoordSpace)
      return std::nullopt;
    return Coord(static_cast<std::uint16_t>(index));
  }
  [[nodiscard]] constexpr std::uint16_t index() const noexcept { return index_; }
  friend constexpr bool operator==(const Coord&, const Coord&) noexcept = default;
  friend constexpr auto operator<=>(const Coord&, const Coord&) noexcept = default;

private:
  constexpr explicit Coord(std::uint16_t index) noexcept : index_(index) {}
  std::uint16_t index_ = 0;
};

/// The address of a matrix element.
struct CoordPath2 {
  Coord row;
  Coord col;
  friend constexpr bool operator==(const CoordPath2&, const CoordPath2&) noexcept = default;
};

/// True where a run-time dimension is one that a matrix may have.
[[nodiscard]] constexpr bool dimension_in_space(std::size_t extent) noexcept {
  return extent >= 1 && extent <= kCoordSpace;
}

namespace detail {

/// Instantiating this is a compile-time error where a dimension leaves the coordinate space.
template <std::size_t R, std::size_t C> struct CheckedDimensions {
  static_assert(R >= 1, "simaai matrix: a matrix has at least one row");
  static_assert(C >= 1, "simaai matrix: a matrix has at least one column");
  static_assert(R <= kCoordSpace, "simaai matrix: at most 11172 rows can be addressed");
  static_assert(C <= kCoordSpace, "simaai matrix: at most 11172 columns can be addressed");
  /// Number of elements; 1 where an assertion above failed, to keep the diagnostics short.
  static constexpr std::size_t kCount =
      dimension_in_space(R) && dimension_in_space(C) ? R * C : std::size_t{1};
};

} // namespace detail
} // namespace simaai::kernels::matrix
