// SPDX-License-Identifier: LGPL-2.1-or-later
// NEON: the wire form, sixteen records at a time.
#include <arm_neon.h>

#include "matrix/backends.h"

#define SIMAAI_VECTOR
#include "matrix/simd/transpose.h"

namespace simaai::kernels::matrix::detail {
namespace {

using Block = uint8x16_t;
inline constexpr std::size_t kLaneBytes = 16;

inline Block shuffle(Block bytes, Block indices) noexcept { return vqtbl1q_u8(bytes, indices); }

inline Block source(const std::int8_t* elements, std::size_t /*n*/) noexcept {
  return vreinterpretq_u8_s8(vld1q_s8(elements));
}

inline Block place(Block keys, Block bytes, Block indices) noexcept {
  return keys | shuffle(bytes, indices);
}

inline Block merge(const Block (&taken)[5]) noexcept {
  return taken[0] | taken[1] | taken[2] | taken[3] | taken[4];
}

} // namespace
} // namespace simaai::kernels::matrix::detail

#include "matrix/simd/wire_blocks.h"

namespace simaai::kernels::matrix::detail {

const WireForm neon_wire = {encode_records, check_all_records, decode_records};

} // namespace simaai::kernels::matrix::detail
