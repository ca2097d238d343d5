// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion loops; integer arithmetic only.
#include "firmware/cast/convert.h"

#include "core/numerics.h"
#include "firmware/common/local_access.h"

namespace simaai::firmware::cast {
namespace {

using kernels::core::bf16_from_f32_bits;
using kernels::core::f32_bits_from_bf16;

void widen(const std::byte* src, std::uint32_t stride, std::byte* dst,
           std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i)
    store_local(dst + std::size_t{i} * 4,
                f32_bits_from_bf16(load_local<std::uint16_t>(src + std::size_t{i} * stride)));
}

void narrow(const std::byte* src, std::uint32_t stride, std::byte* dst,
            std::uint32_t count) noexcept {
  for (std::uint32_t i = 0; i < count; ++i)
    store_local(dst + std::size_t{i} * 2,
                bf16_from_f32_bits(load_local<std::uint32_t>(src + std::size_t{i} * stride)));
}

} // namespace

void convert_run(const std::byte* src, std::uint32_t src_stride, std::byte* dst,
                 std::uint32_t count, bool widens) noexcept {
  // A constant stride lets the compiler use vectors.
  if (widens && src_stride == 2)
    widen(src, 2, dst, count);
  else if (widens)
    widen(src, src_stride, dst, count);
  else if (src_stride == 4)
    narrow(src, 4, dst, count);
  else
    narrow(src, src_stride, dst, count);
}

} // namespace simaai::firmware::cast
