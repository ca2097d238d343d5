// SPDX-License-Identifier: LGPL-2.1-or-later
// Dense ports over Detess and Tess for tiles, and a walk over strides.
#include "dense_port.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "common/linear_size.h"

namespace simaai::gst {
namespace {

using kernels::TensorSpec;

constexpr std::uintptr_t kTileAlignment = 16;

bool aligned(const void* address, std::uintptr_t alignment) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

/// Start of `bytes` bytes aligned for tiles within a vector that is resized to hold them.
std::byte* aligned_block(std::vector<std::byte>& block, std::size_t bytes) {
  block.resize(bytes + kTileAlignment);
  const auto address = reinterpret_cast<std::uintptr_t>(block.data());
  return block.data() + (kTileAlignment - address % kTileAlignment) % kTileAlignment;
}

/// Number of elements; nothing where it leaves the range of an index, or an extent is negative.
std::optional<std::size_t> element_count(const TensorSpec& spec) {
  TensorSpec dense = spec;
  dense.layout = kernels::Contiguous{};
  const auto bytes = linear_span_bytes(dense);
  if (!bytes || *bytes > std::numeric_limits<std::uint32_t>::max())
    return std::nullopt;
  return static_cast<std::size_t>(*bytes / kernels::scalar_bytes(spec.dtype));
}

/// Calls `run(offset)` for each run along the last axis, in row-major order.
template <class Run> void for_each_run(const TensorSpec& spec, Run run) {
  const auto& strides = std::get<kernels::Strided>(spec.layout).strides_bytes;
  const std::size_t rank = spec.shape.rank();
  const std::size_t outer = rank == 0 ? 0 : rank - 1;
  std::array<std::int64_t, kernels::kMaxRank> index{};
  std::int64_t offset = 0;
  while (true) {
    run(offset);
    std::size_t axis = outer;
    for (; axis > 0; --axis) {
      offset += strides[axis - 1];
      if (++index[axis - 1] < spec.shape[axis - 1])
        break;
      offset -= strides[axis - 1] * spec.shape[axis - 1];
      index[axis - 1] = 0;
    }
    if (axis == 0)
      return;
  }
}

struct Run {
  std::size_t count;
  std::size_t width;
  std::size_t stride;
};

Run last_run(const TensorSpec& spec) {
  const std::size_t rank = spec.shape.rank();
  const std::size_t width = kernels::scalar_bytes(spec.dtype);
  if (rank == 0)
    return {1, width, width};
  const auto& strides = std::get<kernels::Strided>(spec.layout).strides_bytes;
  return {static_cast<std::size_t>(spec.shape[rank - 1]), width,
          static_cast<std::size_t>(strides[rank - 1])};
}

void gather_runs(const TensorSpec& spec, const std::byte* src, std::byte* dst) {
  const Run run = last_run(spec);
  for_each_run(spec, [&](std::int64_t offset) {
    const std::byte* from = src + offset;
    if (run.stride == run.width) {
      std::memcpy(dst, from, run.count * run.width);
      dst += run.count * run.width;
      return;
    }
    for (std::size_t n = 0; n < run.count; ++n, dst += run.width)
      std::memcpy(dst, from + n * run.stride, run.width);
  });
}

void scatter_runs(const TensorSpec& spec, const std::byte* src, std::byte* dst) {
  const Run run = last_run(spec);
  for_each_run(spec, [&](std::int64_t offset) {
    std::byte* to = dst + offset;
    if (run.stride == run.width) {
      std::memcpy(to, src, run.count * run.width);
      src += run.count * run.width;
      return;
    }
    for (std::size_t n = 0; n < run.count; ++n, src += run.width)
      std::memcpy(to + n * run.stride, src, run.width);
  });
}

std::string int64_text(std::int64_t value) { return std::to_string(value); }

/// Why elements of a strided output would share bytes: from the innermost stride outwards each must
/// reach beyond all elements inside.
std::string overlap_reason(const TensorSpec& spec) {
  const auto& strides = std::get<kernels::Strided>(spec.layout).strides_bytes;
  std::vector<std::pair<std::int64_t, std::int64_t>> axes; // stride, extent
  for (std::size_t axis = 0; axis < spec.shape.rank(); ++axis)
    if (spec.shape[axis] > 1)
      axes.emplace_back(strides[axis], spec.shape[axis]);
  std::sort(axes.begin(), axes.end());
  std::int64_t reach = kernels::scalar_bytes(spec.dtype);
  for (const auto& [stride, extent] : axes) {
    if (stride < reach)
      return "strides: elements of an output may not share bytes; expected a stride of at least " +
             int64_text(reach) + " bytes, found " + int64_text(stride);
    reach += stride * (extent - 1);
  }
  return {};
}

std::string alignment_reason(const TensorSpec& spec) {
  const auto& strides = std::get<kernels::Strided>(spec.layout).strides_bytes;
  const std::int64_t width = kernels::scalar_bytes(spec.dtype);
  for (std::size_t axis = 0; axis < spec.shape.rank(); ++axis)
    if (spec.shape[axis] > 1 && strides[axis] % width != 0)
      return "strides: expected multiples of " + int64_text(width) + " bytes, found " +
             int64_text(strides[axis]);
  return {};
}

/// The kernel's sentence without its name of the port, for which elements have their own; with that of the property where one
/// decides.
PortError port_error(const kernels::Error& error) {
  std::string text = error.message();
  if (error.operand == kernels::Operand::Input || error.operand == kernels::Operand::Output)
    text.erase(0, text.find(": ") + 2);
  if (error.code == kernels::ErrorCode::ChannelPaddingRequired ||
      error.code == kernels::ErrorCode::ChannelPaddingForbidden)
    text += " (property int8-channel-padding)";
  return {std::move(text)};
}

/// Bytes of a linear port, or why there is no such port.
std::variant<std::uint64_t, PortError> linear_bytes(const TensorSpec& spec) {
  const auto bytes = linear_span_bytes(spec);
  if (!bytes)
    return PortError{"the strides or extents are negative or reach beyond the address range"};
  if (*bytes > std::numeric_limits<std::uint32_t>::max())
    return PortError{"a tensor of " + std::to_string(*bytes) + " bytes is too large for a buffer"};
  return *bytes;
}

} // namespace

std::variant<DenseSource, PortError> DenseSource::create(const TensorSpec& spec) {
  DenseSource source(spec);
  const auto elements = element_count(spec);
  if (!elements)
    return PortError{"the extents are negative or their product is too large for a buffer"};
  source.elements_ = *elements;
  if (std::holds_alternative<kernels::Contiguous>(spec.layout) ||
      std::holds_alternative<kernels::Strided>(spec.layout)) {
    const auto bytes = linear_bytes(spec);
    if (const auto* refused = std::get_if<PortError>(&bytes))
      return *refused;
    source.needed_bytes_ = std::get<std::uint64_t>(bytes);
    source.dense_ = is_dense(spec);
    return source;
  }
  const std::array inputs{spec};
  const std::array outputs{TensorSpec{spec.shape, spec.dtype, kernels::Contiguous{}}};
  const auto plan = kernels::a65::detess::check_inference({inputs, outputs, {}});
  if (const auto* refused = std::get_if<kernels::Error>(&plan))
    return port_error(*refused);
  source.detess_ = std::get<kernels::a65::detess::Plan>(plan);
  source.needed_bytes_ = source.detess_->input_requirement().bytes;
  return source;
}

bool DenseSource::copies(const std::byte* src) const noexcept {
  return detess_ && !aligned(src, kTileAlignment);
}

const std::int8_t* DenseSource::read(const std::byte* src, std::string& reason) {
  if (dense_)
    return reinterpret_cast<const std::int8_t*>(src);
  gathered_.resize(elements_ + 1); // never empty, so that an empty tensor has an address too
  if (!detess_) {
    if (elements_ > 0)
      gather_runs(spec_, src, reinterpret_cast<std::byte*>(gathered_.data()));
    return gathered_.data();
  }
  if (copies(src)) {
    std::byte* block = aligned_block(aligned_, needed_bytes_);
    std::memcpy(block, src, needed_bytes_);
    src = block;
  }
  const std::array inputs{kernels::ConstHostBuffer{src, needed_bytes_}};
  const std::array outputs{kernels::HostBuffer{gathered_.data(), elements_}};
  const auto status = kernels::a65::detess::execute(*detess_, inputs, outputs);
  if (status.ok())
    return gathered_.data();
  reason = status.message();
  return nullptr;
}

std::variant<DenseTarget, PortError> DenseTarget::create(const TensorSpec& spec,
                                                         std::optional<std::int8_t> fill) {
  DenseTarget target(spec);
  const auto elements = element_count(spec);
  if (!elements)
    return PortError{"the extents are negative or their product is too large for a buffer"};
  target.bytes_ = *elements * kernels::scalar_bytes(spec.dtype);
  if (std::holds_alternative<kernels::MlaTiled>(spec.layout) ||
      std::holds_alternative<kernels::MlaCBlocked>(spec.layout)) {
    const std::array inputs{TensorSpec{spec.shape, spec.dtype, kernels::Contiguous{}}};
    const std::array outputs{spec};
    const auto plan = kernels::a65::tess::check_inference({inputs, outputs, {fill}});
    if (const auto* refused = std::get_if<kernels::Error>(&plan))
      return port_error(*refused);
    target.tess_ = std::get<kernels::a65::tess::Plan>(plan);
    target.needed_bytes_ = target.tess_->output_requirement().bytes;
    return target;
  }
  const auto bytes = linear_bytes(spec);
  if (const auto* refused = std::get_if<PortError>(&bytes))
    return *refused;
  target.needed_bytes_ = std::get<std::uint64_t>(bytes);
  target.dense_ = is_dense(spec);
  if (!std::holds_alternative<kernels::Strided>(spec.layout))
    return target;
  std::string reason = alignment_reason(spec);
  if (reason.empty())
    reason = overlap_reason(spec);
  if (!reason.empty())
    return PortError{std::move(reason)};
  return target;
}

bool DenseTarget::copies(const std::byte* dst) const noexcept {
  if (tess_)
    return !aligned(dst, kTileAlignment);
  return dense_ && !aligned(dst, kernels::scalar_bytes(spec_.dtype));
}

std::byte* DenseTarget::stage(std::byte* dst) {
  if (dense_ && !copies(dst))
    return dst;
  staged_.resize(bytes_ + 1);
  return staged_.data();
}

bool DenseTarget::write(std::byte* dst, std::string& reason) {
  if (dense_) {
    if (copies(dst))
      std::memcpy(dst, staged_.data(), bytes_);
    return true;
  }
  if (!tess_) {
    if (bytes_ > 0)
      scatter_runs(spec_, staged_.data(), dst);
    return true;
  }
  const bool direct = !copies(dst);
  std::byte* to = direct ? dst : aligned_block(aligned_, needed_bytes_);
  const std::array inputs{kernels::ConstHostBuffer{staged_.data(), bytes_}};
  const std::array outputs{kernels::HostBuffer{to, needed_bytes_}};
  const auto status = kernels::a65::tess::execute(*tess_, inputs, outputs);
  if (!status.ok()) {
    reason = status.message();
    return false;
  }
  if (!direct)
    std::memcpy(dst, to, needed_bytes_);
  return true;
}

} // namespace simaai::gst
