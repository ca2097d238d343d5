// SPDX-License-Identifier: LGPL-2.1-or-later
// Element counting and coordinate stepping.
#include "tensor.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace simaai::oracle {

std::uint64_t element_count(const kernels::Shape& shape) {
  if (shape.rank() > kernels::kMaxRank)
    throw std::invalid_argument("rank is above six");
  for (const std::int64_t extent : shape.extents()) {
    if (extent < 0)
      throw std::invalid_argument("an extent is negative");
    if (extent == 0)
      return 0;
  }
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 40;
  std::uint64_t count = 1;
  for (const std::int64_t extent : shape.extents()) {
    if (static_cast<std::uint64_t>(extent) > kLimit / count)
      throw std::invalid_argument("the tensor has more than 2^40 elements");
    count *= static_cast<std::uint64_t>(extent);
  }
  return count;
}

Odometer::Odometer(std::vector<std::int64_t> extents)
    : extents_(std::move(extents)), coordinate_(extents_.size(), 0),
      done_(std::any_of(extents_.begin(), extents_.end(), [](std::int64_t e) { return e <= 0; })) {}

void Odometer::advance() {
  for (std::size_t axis = extents_.size(); axis-- > 0;) {
    if (++coordinate_[axis] < extents_[axis])
      return;
    coordinate_[axis] = 0;
  }
  done_ = true;
}

} // namespace simaai::oracle
