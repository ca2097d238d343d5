// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensor metadata: dtype, shape and physical layout. Plain data; questions about it live elsewhere.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <variant>

#include <simaai/kernels/language.h>

namespace simaai::kernels {

/// Largest rank that any operation admits.
inline constexpr std::size_t kMaxRank = 6;

/// Scalar type of one logical element.
enum class DType : std::uint8_t { Int8, UInt8, Int32, Float16, BFloat16, Float32 };

/// Width of one scalar in bytes; 0 for a value that is no enumerator.
[[nodiscard]] constexpr std::uint32_t scalar_bytes(DType dtype) noexcept {
  switch (dtype) {
  case DType::Int8:
  case DType::UInt8:
    return 1;
  case DType::Float16:
  case DType::BFloat16:
    return 2;
  case DType::Int32:
  case DType::Float32:
    return 4;
  }
  return 0;
}

/// Logical extents in elements, outermost axis first. Inline storage, never allocates.
///
/// A Shape may state more than kMaxRank axes: rank() then tells the stated number, extents() the
/// first kMaxRank of them, and every admission refuses it (ErrorCode::RankTooLarge).
class Shape {
public:
  constexpr Shape() noexcept = default;
  constexpr Shape(std::initializer_list<std::int64_t> extents) noexcept
      : Shape(std::span<const std::int64_t>(extents.begin(), extents.size())) {}
  constexpr explicit Shape(std::span<const std::int64_t> extents) noexcept : rank_(extents.size()) {
    const std::size_t stored = std::min(extents.size(), kMaxRank);
    for (std::size_t axis = 0; axis < stored; ++axis)
      extents_[axis] = extents[axis];
  }

  [[nodiscard]] constexpr std::size_t rank() const noexcept { return rank_; }
  /// Stored extents: rank() of them, at most kMaxRank.
  [[nodiscard]] constexpr std::span<const std::int64_t> extents() const noexcept {
    return {extents_.data(), std::min(rank_, kMaxRank)};
  }
  /// Extent of `axis`, which is below kMaxRank; slots at or above the rank read 0.
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t axis) const noexcept {
    return extents_[axis];
  }
  friend constexpr bool operator==(const Shape&, const Shape&) noexcept = default;

private:
  std::array<std::int64_t, kMaxRank> extents_{};
  std::size_t rank_ = 0;
};

/// Row-major storage without gaps, last logical axis fastest.
struct Contiguous {
  friend constexpr bool operator==(const Contiguous&, const Contiguous&) noexcept = default;
};

/// Explicit byte strides, one a logical axis. Slots at or above the rank are ignored.
struct Strided {
  std::array<std::int64_t, kMaxRank> strides_bytes{};
  friend constexpr bool operator==(const Strided&, const Strided&) noexcept = default;
};

/// How many channels a tile stores: the actual count, or that count rounded up to a multiple of 16.
enum class ChannelStorage : std::uint8_t { Compact, PadTo16 };

/// Tiles with byte planes. Index order of both arrays is D, H, W, C.
///
/// Tiles of an outer slice run C -> D -> H -> W with W fastest, pixels of a tile D -> H -> W; a
/// pixel stores the low bytes of all its channels, then (two-byte dtypes) the high bytes. Every
/// tile's span is rounded up to 16 bytes. Unmapped axes are outer dimensions, last one fastest.
/// docs/wire-format.md has worked examples.
struct MlaTiled {
  /// Logical axis of D, H, W, C; -1 is an absent axis of extent one. C is mandatory.
  std::array<std::int32_t, 4> axes{-1, -1, -1, -1};
  /// Positive tile extents in elements; 1 for an absent axis.
  std::array<std::int64_t, 4> tile_shape{1, 1, 1, 1};
  ChannelStorage channels = ChannelStorage::Compact;
  friend constexpr bool operator==(const MlaTiled&, const MlaTiled&) noexcept = default;
};

/// Compiler channel-block tiles over trailing H, W, C (ranks 3 to 6), earlier axes outer. Within a
/// tile, blocks of 16 channels are outermost: block, h, w, plane, channel. Channels are always
/// stored in whole blocks.
struct MlaCBlocked {
  /// Positive tile extents in D, H, W, C order; D is 1.
  std::array<std::int64_t, 4> tile_shape{1, 1, 1, 1};
  friend constexpr bool operator==(const MlaCBlocked&, const MlaCBlocked&) noexcept = default;
};

using Layout = std::variant<Contiguous, Strided, MlaTiled, MlaCBlocked>;

/// One tensor port: logical shape, scalar type and physical layout.
struct TensorSpec {
  Shape shape;
  DType dtype = DType::Float32;
  Layout layout = Contiguous{};
  friend constexpr bool operator==(const TensorSpec&, const TensorSpec&) noexcept = default;
};

} // namespace simaai::kernels
