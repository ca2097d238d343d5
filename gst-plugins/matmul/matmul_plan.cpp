// SPDX-License-Identifier: LGPL-2.1-or-later
// Admission of simaaimatmul and its products, in chunks that a matrix can address.
#include "matmul_plan.h"

#include <algorithm>
#include <span>

#include "common/caps_spec.h"

namespace simaai::gst {
namespace {

using kernels::DType;
using kernels::TensorSpec;
namespace matrix = kernels::matrix;

/// Vectors that are multiplied at once: few enough for a matrix, and for the caches.
constexpr std::size_t kChunk = 4096;

std::string shape_text(const kernels::Shape& shape) {
  std::string text = "<";
  for (const std::int64_t extent : shape.extents())
    text += (text.size() > 1 ? "," : "") + std::to_string(extent);
  return text + ">";
}

std::string dtype_reason(const TensorSpec& input, const TensorSpec& output, bool rescaled) {
  if (input.dtype != DType::Int8)
    return std::string("the input must be int8, found ") + dtype_name(input.dtype);
  const DType wanted = rescaled ? DType::Int8 : DType::Int32;
  if (output.dtype == wanted)
    return {};
  return std::string("the output must be ") + dtype_name(wanted) +
         " where property multiplier is " + (rescaled ? "set" : "not set") + ", found " +
         dtype_name(output.dtype);
}

std::string shape_reason(const TensorSpec& input, const TensorSpec& output,
                         const matrix::DynMatrix& weights) {
  const std::size_t rank = input.shape.rank();
  if (rank == 0 || rank > kernels::kMaxRank)
    return "the input must have 1 to 6 axes, found " + std::to_string(rank);
  const std::size_t last = rank - 1;
  if (input.shape[last] != static_cast<std::int64_t>(weights.cols()))
    return "the last axis of the input is " + std::to_string(input.shape[last]) +
           ", the weights are " + std::to_string(weights.rows()) + " x " +
           std::to_string(weights.cols()) + " and take " + std::to_string(weights.cols());
  std::array<std::int64_t, kernels::kMaxRank> expected{};
  std::copy_n(input.shape.extents().begin(), rank, expected.begin());
  expected[last] = static_cast<std::int64_t>(weights.rows());
  const kernels::Shape shape(std::span<const std::int64_t>(expected.data(), rank));
  if (output.shape == shape)
    return {};
  return "the output must have the shape " + shape_text(shape) + ", found " +
         shape_text(output.shape);
}

std::size_t vector_count(const kernels::Shape& shape) noexcept {
  std::size_t count = 1;
  for (std::size_t axis = 0; axis + 1 < shape.rank(); ++axis)
    count *= static_cast<std::size_t>(shape[axis]);
  return count;
}

} // namespace

std::variant<MatmulPlan, PortError> MatmulPlan::create(const TensorSpec& input,
                                                       const TensorSpec& output,
                                                       const matrix::DynMatrix& weights,
                                                       const Settings& settings) {
  std::string reason = dtype_reason(input, output, settings.requant.has_value());
  if (reason.empty())
    reason = shape_reason(input, output, weights);
  if (!reason.empty())
    return PortError{std::move(reason)};
  auto source = DenseSource::create(input);
  if (const auto* refused = std::get_if<PortError>(&source))
    return PortError{"input: " + refused->reason};
  auto target = DenseTarget::create(output, settings.fill);
  if (const auto* refused = std::get_if<PortError>(&target))
    return PortError{"output: " + refused->reason};
  MatmulPlan plan(std::get<DenseSource>(std::move(source)),
                  std::get<DenseTarget>(std::move(target)), weights, settings);
  plan.vectors_ = vector_count(input.shape);
  return plan;
}

std::string MatmulPlan::execute(const std::byte* src, std::byte* dst) {
  std::string reason;
  const std::int8_t* x = source_.read(src, reason);
  if (x == nullptr)
    return reason;
  std::byte* y = target_.stage(dst);
  const std::size_t inner = weights_->cols();
  const std::size_t outer = weights_->rows();
  // R x C by rows is C x R by columns: the vectors of x times the transposed weights.
  const auto turned =
      *matrix::DynMatrixRef::create(weights_->storage(), inner, outer, matrix::DynOrder::ColMajor);
  for (std::size_t first = 0; first < vectors_; first += kChunk) {
    const std::size_t count = std::min(kChunk, vectors_ - first);
    const auto vectors = *matrix::DynMatrixRef::create({x + first * inner, count * inner}, count,
                                                       inner, matrix::DynOrder::RowMajor);
    if (settings_.requant)
      matrix::matmul_requantized(vectors, turned, *settings_.requant,
                                 {reinterpret_cast<std::int8_t*>(y) + first * outer, count * outer},
                                 matrix::DynOrder::RowMajor);
    else
      matrix::matmul(vectors, turned,
                     {reinterpret_cast<std::int32_t*>(y) + first * outer, count * outer},
                     matrix::DynOrder::RowMajor);
  }
  (void)target_.write(dst, reason);
  return reason;
}

} // namespace simaai::gst
