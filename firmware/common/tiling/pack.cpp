// SPDX-License-Identifier: LGPL-2.1-or-later
// Byte planes by integer operations; one loop a source type, so that no type is tested inside.
#include "firmware/common/tiling/pack.h"

#include "core/numerics.h"
#include "firmware/common/local_access.h"

namespace simaai::firmware::tiling {
namespace {

using kernels::core::bf16_from_f16_bits;
using kernels::core::bf16_from_f32_bits;

struct FromInt8 {
  static constexpr std::uint32_t kPlanes = 1;
  static std::uint32_t bits(const std::byte* at) noexcept {
    return std::to_integer<std::uint32_t>(*at);
  }
};
struct FromBFloat16 {
  static constexpr std::uint32_t kPlanes = 2;
  static std::uint32_t bits(const std::byte* at) noexcept { return load_local<std::uint16_t>(at); }
};
struct FromFloat16 {
  static constexpr std::uint32_t kPlanes = 2;
  static std::uint32_t bits(const std::byte* at) noexcept {
    return bf16_from_f16_bits(load_local<std::uint16_t>(at));
  }
};
struct FromFloat32 {
  static constexpr std::uint32_t kPlanes = 2;
  static std::uint32_t bits(const std::byte* at) noexcept {
    return bf16_from_f32_bits(load_local<std::uint32_t>(at));
  }
};

template <class From>
void pack_pixels(const Fragment& f, std::byte fill, const std::byte* staged,
                 const StagedSteps& steps, std::byte* out) noexcept {
  for (std::uint32_t pixel = 0; pixel < f.pixels; ++pixel) {
    const std::byte* value = staged + std::size_t{pixel} * steps.pixel;
    for (std::uint32_t c = 0; c < f.channels; ++c, value += steps.channel) {
      const std::uint32_t bits = From::bits(value);
      out[c] = static_cast<std::byte>(bits & 0xffU);
      if constexpr (From::kPlanes == 2)
        out[f.stored + c] = static_cast<std::byte>(bits >> 8);
    }
    for (std::uint32_t plane = 0; plane < From::kPlanes; ++plane) {
      fill_local(out + f.channels, fill, f.stored - f.channels);
      out += f.stored;
    }
  }
}

/// Part of one plane of one pixel.
template <class From>
void pack_piece(const Fragment& f, std::byte fill, const std::byte* staged,
                const StagedSteps& steps, std::byte* out) noexcept {
  for (std::uint32_t c = 0; c < f.channels; ++c)
    out[c] = static_cast<std::byte>(
        From::bits(staged + std::size_t{c} * steps.channel) >> (8 * f.plane) & 0xffU);
  fill_local(out + f.channels, fill, f.stored - f.channels);
}

template <class From>
void pack(const Fragment& f, std::byte fill, const std::byte* staged, const StagedSteps& steps,
          std::byte* out) noexcept {
  if (f.piece)
    pack_piece<From>(f, fill, staged, steps, out);
  else
    pack_pixels<From>(f, fill, staged, steps, out);
  fill_local(out + f.stream_bytes - f.gap_bytes, std::byte{0}, f.gap_bytes);
}

} // namespace

void pack_fragment(const Fragment& fragment, const Plan& plan, const std::byte* staged,
                   const StagedSteps& steps, std::byte* out) noexcept {
  switch (plan.kind) {
  case SourceKind::Int8:
    return pack<FromInt8>(fragment, plan.fill, staged, steps, out);
  case SourceKind::BFloat16:
    return pack<FromBFloat16>(fragment, std::byte{0}, staged, steps, out);
  case SourceKind::Float16:
    return pack<FromFloat16>(fragment, std::byte{0}, staged, steps, out);
  case SourceKind::Float32:
    return pack<FromFloat32>(fragment, std::byte{0}, staged, steps, out);
  }
}

} // namespace simaai::firmware::tiling
