// SPDX-License-Identifier: LGPL-2.1-or-later
// Linear storage by coordinate walking.
#include "linear.h"

#include <algorithm>
#include <stdexcept>
#include <variant>

namespace simaai::oracle {

using kernels::DType;
using kernels::Layout;
using kernels::Shape;

namespace {

std::vector<std::int64_t> extents_of(const Shape& shape) {
  return {shape.extents().begin(), shape.extents().end()};
}

/// Calls `visit(element, byte offset)` for every element in row-major order.
template <class Visit>
void walk(const Shape& shape, DType dtype, const Layout& layout, const Visit& visit) {
  const auto* strided = std::get_if<kernels::Strided>(&layout);
  if (strided == nullptr && !std::holds_alternative<kernels::Contiguous>(layout))
    throw std::invalid_argument("not a linear layout");
  std::uint64_t element = 0;
  std::uint64_t dense_offset = 0;
  element_count(shape);
  for (Odometer at(extents_of(shape)); !at.done(); at.advance()) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; strided != nullptr && axis < shape.rank(); ++axis)
      offset += at.coordinate()[axis] * strided->strides_bytes[axis];
    visit(element, strided != nullptr ? static_cast<std::uint64_t>(offset) : dense_offset);
    ++element;
    dense_offset += kernels::scalar_bytes(dtype);
  }
}

} // namespace

std::uint64_t linear_span(const Shape& shape, DType dtype, const Layout& layout) {
  std::uint64_t end = 0;
  walk(shape, dtype, layout, [&](std::uint64_t, std::uint64_t offset) {
    end = std::max(end, offset + kernels::scalar_bytes(dtype));
  });
  return end;
}

Tensor gather(const std::uint8_t* storage, const Shape& shape, DType dtype, const Layout& layout) {
  Tensor tensor{shape, dtype, {}};
  tensor.bits.reserve(element_count(shape));
  walk(shape, dtype, layout, [&](std::uint64_t, std::uint64_t offset) {
    std::uint32_t bits = 0;
    for (std::uint32_t byte = 0; byte < kernels::scalar_bytes(dtype); ++byte)
      bits |= std::uint32_t{storage[offset + byte]} << (8 * byte);
    tensor.bits.push_back(bits);
  });
  return tensor;
}

void scatter(const Tensor& tensor, const Layout& layout, std::uint8_t* storage) {
  walk(tensor.shape, tensor.dtype, layout, [&](std::uint64_t element, std::uint64_t offset) {
    for (std::uint32_t byte = 0; byte < kernels::scalar_bytes(tensor.dtype); ++byte)
      storage[offset + byte] = static_cast<std::uint8_t>(tensor.bits[element] >> (8 * byte));
  });
}

} // namespace simaai::oracle
