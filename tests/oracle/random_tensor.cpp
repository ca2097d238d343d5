// SPDX-License-Identifier: LGPL-2.1-or-later
// Seeded test data.
#include "random_tensor.h"

#include <span>

namespace simaai::oracle {

using kernels::DType;

namespace {

constexpr std::uint32_t kFloat32[] = {
    0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001,
    0xff80ffff, 0x7fffffff, 0xffffffff, 0x7fff8000, 0xffff7fff, 0x00000001, 0x807fffff,
    0x00800000, 0x00007fff, 0x00008000, 0x00008001, 0x3f808000, 0x3f818000, 0xbf807fff,
    0x3f808001, 0x7f7fffff, 0xff7f8000, 0x7f7f7fff, 0x3f800000, 0xc2f70a3d};
constexpr std::uint32_t kFloat16[] = {0x0000, 0x8000, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01,
                                      0xfdff, 0x7fff, 0xffff, 0x0001, 0x8001, 0x03ff, 0x0400,
                                      0x7bff, 0xfbff, 0x3c00, 0x3c04, 0x3c0c, 0x3c05, 0xbc03,
                                      0x3ffc, 0x0007, 0x00ff, 0x01ff, 0x83fe};
constexpr std::uint32_t kBFloat16[] = {0x0000, 0x8000, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81,
                                       0xff81, 0x7fff, 0xffff, 0x0001, 0x807f, 0x0080, 0x7f7f,
                                       0xff7f, 0x3f80, 0xbf81, 0x00ff, 0xff00};
constexpr std::uint32_t kByte[] = {0x00, 0x01, 0x7f, 0x80, 0x81, 0xff};
constexpr std::uint32_t kInt32[] = {0x00000000, 0x00000001, 0x7fffffff, 0x80000000, 0xffffffff};

std::span<const std::uint32_t> specials_of(DType dtype) {
  switch (dtype) {
  case DType::Int8:
  case DType::UInt8:
    return kByte;
  case DType::Int32:
    return kInt32;
  case DType::Float16:
    return kFloat16;
  case DType::BFloat16:
    return kBFloat16;
  case DType::Float32:
    return kFloat32;
  }
  return {};
}

} // namespace

Tensor random_tensor(const kernels::Shape& shape, DType dtype, std::uint64_t seed) {
  const std::uint64_t count = element_count(shape);
  const std::span<const std::uint32_t> specials = specials_of(dtype);
  const auto mask =
      static_cast<std::uint32_t>((std::uint64_t{1} << (8 * kernels::scalar_bytes(dtype))) - 1);
  Random random(seed);
  Tensor tensor{shape, dtype, {}};
  tensor.bits.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t draw = random.next();
    const bool special = draw >> 62 == 0;
    tensor.bits.push_back(special ? specials[draw % specials.size()]
                                  : static_cast<std::uint32_t>(draw) & mask);
  }
  return tensor;
}

} // namespace simaai::oracle
