// SPDX-License-Identifier: LGPL-2.1-or-later
// A tensor as the oracle sees it: logical elements in row-major order, each as raw bits.
#pragma once

#include <cstdint>
#include <vector>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::oracle {

using Bytes = std::vector<std::uint8_t>;

/// Logical values without any storage: bits[i] holds the scalar's bit pattern in its low bits.
struct Tensor {
  kernels::Shape shape;
  kernels::DType dtype = kernels::DType::Float32;
  std::vector<std::uint32_t> bits;
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// Number of logical elements; 1 at rank zero. Throws std::invalid_argument for a rank above six, a
/// negative extent or more than 2^40 elements.
std::uint64_t element_count(const kernels::Shape& shape);

/// Steps through every coordinate of a shape, last axis fastest.
class Odometer {
public:
  explicit Odometer(std::vector<std::int64_t> extents);
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] const std::vector<std::int64_t>& coordinate() const { return coordinate_; }
  void advance();

private:
  std::vector<std::int64_t> extents_;
  std::vector<std::int64_t> coordinate_;
  bool done_ = false;
};

} // namespace simaai::oracle
