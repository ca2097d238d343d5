// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensors of any layout as row-major memory without gaps, and back. Matrix elements compute there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <simaai/kernels/a65/detess.h>
#include <simaai/kernels/a65/tess.h>
#include <simaai/kernels/tensor_spec.h>

namespace simaai::gst {

/// Why a port cannot be used, or a buffer not be read: operand, expected, found.
struct PortError {
  std::string reason;
};

/// Reads int8 tensors: contiguous, strided (strides may overlap), mla-tiled, mla-cblocked.
class DenseSource {
public:
  [[nodiscard]] static std::variant<DenseSource, PortError> create(const kernels::TensorSpec& spec);

  /// Bytes that a buffer must hold.
  [[nodiscard]] std::uint64_t needed_bytes() const noexcept { return needed_bytes_; }
  /// Whether elements are brought into another layout to be read.
  [[nodiscard]] bool converts() const noexcept { return !dense_; }
  /// Whether memory at this address is copied before it can be read.
  [[nodiscard]] bool copies(const std::byte* src) const noexcept;
  /// The elements in row-major order: in `src` itself where they are dense there, else gathered.
  /// `src` holds needed_bytes(). Null with `reason` set where that failed.
  [[nodiscard]] const std::int8_t* read(const std::byte* src, std::string& reason);

private:
  explicit DenseSource(const kernels::TensorSpec& spec) : spec_(spec) {}

  kernels::TensorSpec spec_;
  std::uint64_t needed_bytes_ = 0;
  std::size_t elements_ = 0;
  bool dense_ = false;
  std::optional<kernels::a65::detess::Plan> detess_;
  std::vector<std::int8_t> gathered_;
  std::vector<std::byte> aligned_;
};

/// Writes int8 or int32 tensors: contiguous, strided (elements apart), and for int8 mla-tiled.
class DenseTarget {
public:
  /// `fill` is what int8 channel padding holds; required for channel-storage pad16.
  [[nodiscard]] static std::variant<DenseTarget, PortError> create(const kernels::TensorSpec& spec,
                                                                   std::optional<std::int8_t> fill);

  [[nodiscard]] std::uint64_t needed_bytes() const noexcept { return needed_bytes_; }
  /// As in DenseSource.
  [[nodiscard]] bool converts() const noexcept { return !dense_; }
  [[nodiscard]] bool copies(const std::byte* dst) const noexcept;
  /// Where to put the elements in row-major order before write(): `dst` itself where it is dense
  /// and aligned, else memory of this object.
  [[nodiscard]] std::byte* stage(std::byte* dst);
  /// Brings what was staged to `dst`. Gaps keep their bytes. False with `reason` set where that
  /// failed.
  [[nodiscard]] bool write(std::byte* dst, std::string& reason);

private:
  explicit DenseTarget(const kernels::TensorSpec& spec) : spec_(spec) {}

  kernels::TensorSpec spec_;
  std::uint64_t needed_bytes_ = 0;
  std::size_t bytes_ = 0; ///< of the elements alone
  bool dense_ = false;
  std::optional<kernels::a65::tess::Plan> tess_;
  std::vector<std::byte> staged_;
  std::vector<std::byte> aligned_;
};

} // namespace simaai::gst
