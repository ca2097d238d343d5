// SPDX-License-Identifier: LGPL-2.1-or-later
// The rescale from an int32 accumulator to an int8 element, stated as one result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <simaai/kernels/matrix/backend.h>
#include <simaai/kernels/matrix/violation.h>

namespace simaai::kernels::matrix {

/// A fixed-point scale: result = clamp((acc * multiplier + half) >> shift, -128, 127) with
/// half = 1 << (shift - 1), or 0 for shift 0, in 64 bits, the shift flooring. A half therefore moves
/// toward positive infinity: with multiplier 1 and shift 1, -1 becomes 0.
class Requant {
public:
  /// Above this the rounding constant would leave the 64-bit intermediate.
  static constexpr unsigned kMaxShift = 62;

  /// A shift above 62 is a compile-time error in a constant expression; elsewhere it stops the
  /// program (violation.h).
  constexpr Requant(std::int32_t multiplier, unsigned shift) noexcept
      : multiplier_(multiplier), shift_(static_cast<std::uint8_t>(shift)) {
    if (shift > kMaxShift)
      detail::stop({ViolationKind::ShiftOutOfRange, "Requant", {shift, 0}, {kMaxShift, 0}});
  }

  /// The scale of two constants, checked by the compiler wherever it is written.
  template <std::int32_t Multiplier, unsigned Shift>
  [[nodiscard]] static consteval Requant fixed() noexcept {
    static_assert(Shift <= kMaxShift, "simaai matrix: a rescale shift is at most 62");
    return Requant(Multiplier, Shift);
  }

  [[nodiscard]] constexpr std::int32_t multiplier() const noexcept { return multiplier_; }
  [[nodiscard]] constexpr unsigned shift() const noexcept { return shift_; }

  /// Element that an accumulator becomes. Total, reentrant.
  [[nodiscard]] constexpr std::int8_t requantize(std::int32_t accumulator) const noexcept {
    // |product| <= 2^62 and half <= 2^61: the sum stays inside 64 bits.
    const std::int64_t product = std::int64_t{accumulator} * multiplier_;
    const std::int64_t half = shift_ == 0 ? 0 : std::int64_t{1} << (shift_ - 1);
    const std::int64_t scaled = (product + half) >> shift_;
    return static_cast<std::int8_t>(scaled < -128 ? -128 : scaled > 127 ? 127 : scaled);
  }
  friend constexpr bool operator==(const Requant&, const Requant&) noexcept = default;

private:
  std::int32_t multiplier_;
  std::uint8_t shift_;
};

namespace detail {

constexpr void requantize_run(std::span<const std::int32_t> src, const Requant& requant,
                              std::span<std::int8_t> dst) noexcept {
  if (src.size() != dst.size())
    stop({ViolationKind::SizeMismatch, "requantize_into", {dst.size(), 0}, {src.size(), 0}});
  if (!std::is_constant_evaluated()) {
    refuse_overlap("requantize_into", dst.data(), dst.size_bytes(), src.data(), src.size_bytes());
#if SIMAAI_MATRIX_USE_LIBRARY
    library::requantize(src.data(), src.size(), requant, dst.data());
    return;
#endif
  }
  for (std::size_t n = 0; n < src.size(); ++n)
    dst[n] = requant.requantize(src[n]);
}

} // namespace detail

/// Rescales a run of accumulators: `src` views int32, `dst` int8 (arrays, spans, vectors). Runs of
/// fixed extent that differ are a compile-time error; a run-time difference and a `dst` that shares
/// bytes with `src` stop the program. Reentrant.
template <class Src, class Dst>
constexpr void requantize_into(const Src& src, const Requant& requant, Dst&& dst) noexcept {
  const std::span from(src);
  const std::span to(dst);
  constexpr std::size_t kFrom = decltype(from)::extent;
  constexpr std::size_t kTo = decltype(to)::extent;
  static_assert(kFrom == kTo || kFrom == std::dynamic_extent || kTo == std::dynamic_extent,
                "simaai matrix: rescale runs differ in length");
  detail::requantize_run(std::span<const std::int32_t>(from), requant, std::span<std::int8_t>(to));
}

} // namespace simaai::kernels::matrix
