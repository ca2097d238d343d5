// SPDX-License-Identifier: LGPL-2.1-or-later
// Tensor caps <-> TensorSpec. The only code that spells the fields of application/vnd.simaai.tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gst/gst.h>

#include <simaai/kernels/tensor_spec.h>

#include "export.h"

namespace simaai::gst {

inline constexpr const char* kTensorCapsName = "application/vnd.simaai.tensor";
inline constexpr const char* kTensorSetCapsName = "application/vnd.simaai.tensor-set";

/// Most tensors a buffer can hold: GstBuffer merges memories beyond that number.
inline constexpr std::size_t kMaxTensors = 16;

/// Why caps of a plain tensor with an offset are refused.
inline constexpr const char* kOffsetOutsideSet =
    "caps field 'offset' belongs to tensors of a set; expected none here";

/// Names of the caps fields.
namespace field {
inline constexpr const char* kDtype = "dtype";
inline constexpr const char* kShape = "shape";
inline constexpr const char* kLayout = "layout";
inline constexpr const char* kStrides = "strides";
inline constexpr const char* kTileAxes = "tile-axes";
inline constexpr const char* kTileShape = "tile-shape";
inline constexpr const char* kChannelStorage = "channel-storage";
inline constexpr const char* kQuantScale = "quant-scale";
inline constexpr const char* kQuantZeroPoint = "quant-zero-point";
inline constexpr const char* kTensorId = "tensor-id";
inline constexpr const char* kFramerate = "framerate";
inline constexpr const char* kVideoFormat = "video-format";
inline constexpr const char* kPixelAspectRatio = "pixel-aspect-ratio";
inline constexpr const char* kColorimetry = "colorimetry";
inline constexpr const char* kTensors = "tensors";
inline constexpr const char* kOffset = "offset";
} // namespace field

/// Words of the layout field.
namespace word {
inline constexpr const char* kContiguous = "contiguous";
inline constexpr const char* kStrided = "strided";
inline constexpr const char* kMlaTiled = "mla-tiled";
inline constexpr const char* kMlaCBlocked = "mla-cblocked";
inline constexpr const char* kCompact = "compact";
inline constexpr const char* kPad16 = "pad16";
} // namespace word

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
  /// In a set whose tensors share a memory: bytes from the start of the buffer.
  std::optional<std::int64_t> offset_bytes;
};

/// The tensors of one buffer: a plain tensor, or a set of them.
struct TensorSet {
  bool is_set = false;
  std::vector<TensorInfo> tensors; ///< 1 to kMaxTensors
};

/// A value for messages: text that code made of nothing, and values that have no text, included.
[[nodiscard]] SIMAAI_GST_API std::string value_text(const GValue* value);

/// Why caps could not be read: a sentence that names the field, what was expected and what was found.
struct CapsError {
  std::string reason;
};

/// What is wrong with the fields that say nothing of storage: quantization, name, framerate, offset. Nothing where they can be.
[[nodiscard]] SIMAAI_GST_API std::optional<CapsError> field_problem(const TensorInfo& info);
/// What is wrong with a framerate.
[[nodiscard]] SIMAAI_GST_API std::optional<CapsError>
framerate_problem(const std::optional<std::pair<int, int>>& framerate);

/// Reads a fixed structure. Every field is checked by name: missing, wrong type, wrong count, unknown word, extents
/// above 2^31 - 1, numbers that caps parsing turned into doubles, what field_problem() says. Says nothing about whether an op
/// admits the tensor.
[[nodiscard]] SIMAAI_GST_API std::variant<TensorInfo, CapsError>
parse_tensor(const GstStructure& structure);
/// The same for the first structure of fixed caps.
[[nodiscard]] SIMAAI_GST_API std::variant<TensorInfo, CapsError> parse_tensor(const GstCaps& caps);

/// True for caps of a set, by the name of the first structure.
[[nodiscard]] SIMAAI_GST_API bool is_tensor_set(const GstCaps& caps) noexcept;
/// The array `tensors` of a structure, or null with a reason: it has 1 to kMaxTensors structures.
[[nodiscard]] SIMAAI_GST_API std::variant<const GValue*, CapsError>
tensor_array(const GstStructure& structure);
/// The framerate of a structure, of a set too.
[[nodiscard]] SIMAAI_GST_API std::variant<std::optional<std::pair<int, int>>, CapsError>
parse_framerate(const GstStructure& structure);
/// Why tensors are no set: some of them have an offset, and others none. Nothing where they are one.
[[nodiscard]] SIMAAI_GST_API std::optional<CapsError> set_problem(const TensorSet& set);
/// Reads fixed caps of either media type. On top of what parse_tensor() checks: the count and framerate of a set, and set_problem().
/// Reasons name the tensor.
[[nodiscard]] SIMAAI_GST_API std::variant<TensorSet, CapsError> parse_tensors(const GstCaps& caps);
/// How messages call a tensor: nothing for a plain one, else "tensor 2 (scores): ".
[[nodiscard]] SIMAAI_GST_API std::string tensor_prefix(const TensorSet& set, std::size_t index);

/// Sets the array `tensors` of a structure.
SIMAAI_GST_API void set_tensor_array(GstStructure* structure,
                                     const std::vector<GstStructure*>& tensors);

/// A fixed structure; strides of singleton axes are written in canonical (row-major) form. Transfer full.
[[nodiscard]] SIMAAI_GST_API GstStructure* to_structure(const TensorInfo& info);
/// Caps of that one structure. Transfer full.
[[nodiscard]] SIMAAI_GST_API GstCaps* to_caps(const TensorInfo& info);

[[nodiscard]] SIMAAI_GST_API const char* dtype_name(kernels::DType dtype) noexcept;
[[nodiscard]] SIMAAI_GST_API std::optional<kernels::DType>
dtype_from_name(const char* name) noexcept;
/// Caps word of the layout: contiguous, strided, mla-tiled, mla-cblocked.
[[nodiscard]] SIMAAI_GST_API const char* layout_name(const kernels::Layout& layout) noexcept;
/// Caps word of the channel storage: compact, pad16.
[[nodiscard]] SIMAAI_GST_API const char*
channel_storage_name(kernels::ChannelStorage storage) noexcept;
[[nodiscard]] SIMAAI_GST_API std::optional<kernels::ChannelStorage>
channel_storage_from_name(const char* name) noexcept;

} // namespace simaai::gst
