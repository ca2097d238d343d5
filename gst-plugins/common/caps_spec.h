// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensor caps <-> TensorSpec. The only code that spells the fields of application/vnd.simaai.tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <gst/gst.h>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::gst {

inline constexpr const char* kTensorCapsName = "application/vnd.simaai.tensor";

/// What one fixed tensor caps structure says. The optional fields pass through every op element unchanged.
struct TensorInfo {
  kernels::TensorSpec spec;
  std::optional<double> quant_scale;
  std::optional<int> quant_zero_point;
  std::optional<std::string> tensor_id;
  std::optional<std::pair<int, int>> framerate; ///< numerator, denominator
  /// Written by simaaivideototensor so that simaaitensortovideo can restore the picture.
  std::optional<std::string> video_format;
  std::optional<std::pair<int, int>> pixel_aspect_ratio;
  std::optional<std::string> colorimetry;
};

/// Why caps could not be read: a sentence that names the field, what was expected and what was found.
struct CapsError {
  std::string reason;
};

/// Reads a fixed structure. Every field is checked by name: missing, wrong type, wrong count, unknown word, extents
/// above 2^31 - 1, numbers that caps parsing turned into doubles. Says nothing about whether an op admits the tensor.
[[nodiscard]] std::variant<TensorInfo, CapsError> parse_tensor(const GstStructure& structure);
/// The same for the first structure of fixed caps.
[[nodiscard]] std::variant<TensorInfo, CapsError> parse_tensor(const GstCaps& caps);

/// A fixed structure; strides of singleton axes are written in canonical (row-major) form. Transfer full.
[[nodiscard]] GstStructure* to_structure(const TensorInfo& info);
/// Caps of that one structure. Transfer full.
[[nodiscard]] GstCaps* to_caps(const TensorInfo& info);

[[nodiscard]] const char* dtype_name(kernels::DType dtype) noexcept;
[[nodiscard]] std::optional<kernels::DType> dtype_from_name(const char* name) noexcept;
/// Caps word of the layout: contiguous, strided, mla-tiled, mla-cblocked.
[[nodiscard]] const char* layout_name(const kernels::Layout& layout) noexcept;

} // namespace simaai::gst
