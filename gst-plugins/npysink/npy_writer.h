// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes tensors of one spec as .npy files, each of them complete or not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::gst {

/// Linear tensors are written in logical row-major order with their own dtype and shape; tiled ones as the
/// one-dimensional |u1 array of their physical bytes. Thread-bound.
class NpyWriter {
public:
  /// Null where the storage of `spec` cannot be derived; the text says why.
  [[nodiscard]] static std::variant<NpyWriter, std::string> make(const kernels::TensorSpec& spec);

  /// Physical bytes that write() needs.
  [[nodiscard]] std::uint64_t needed_bytes() const noexcept { return needed_bytes_; }

  /// Of a file.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept {
    return header_.size() + (gathers() ? gathered_.size() : needed_bytes_);
  }
  /// Whether elements are put in order before they are written.
  [[nodiscard]] bool gathers() const noexcept { return !gathered_.empty(); }

  /// Writes `tensor` (at least needed_bytes()) to PATH.part and renames that to PATH; of a link, the target is replaced. On
  /// failure PATH is what it was before, and the text names the file and the reason.
  [[nodiscard]] std::optional<std::string> write(const std::string& path,
                                                 std::span<const std::byte> tensor);

private:
  kernels::TensorSpec spec_;
  std::string header_;
  std::uint64_t needed_bytes_ = 0;
  std::vector<std::byte> gathered_; ///< only where elements must be put in order
};

} // namespace simaai::gst
