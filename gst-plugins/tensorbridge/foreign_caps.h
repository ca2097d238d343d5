// SPDX-License-Identifier: LGPL-2.1-or-later
// Spellings of tensors by others: other/tensors of nnstreamer and the flat tensor/strided of newer GStreamer.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <gst/gst.h>

#include "common/caps_spec.h"
#include "common/gst_ptr.h"

namespace simaai::gst {

inline constexpr const char* kNnsCapsName = "other/tensors";
inline constexpr const char* kStridedCapsName = "tensor/strided";

/// Tensors of a buffer in any spelling, and how often they come.
struct AnyTensors {
  TensorSet set;
  std::optional<std::pair<int, int>> framerate;
};

/// True for a media type of ours.
[[nodiscard]] bool is_ours(const GstStructure& structure) noexcept;

/// Reads a structure of any of the four media types. A reason where a field is missing, not fixed or unknown.
[[nodiscard]] std::variant<AnyTensors, CapsError> read_tensors(const GstStructure& structure);

/// Each writes one spelling, or says why it has no words for these tensors: layouts with gaps or tiles, dtypes, counts.
/// Dimensions of other/tensors are a list: as many as the tensor has axes, and filled up with ones to 4, 8 and 16.
using Written = std::variant<GstPtr<GstStructure>, CapsError>;
[[nodiscard]] Written write_nns(const AnyTensors& tensors);
[[nodiscard]] Written write_strided(const AnyTensors& tensors);
[[nodiscard]] Written write_plain(const AnyTensors& tensors);
[[nodiscard]] Written write_set(const AnyTensors& tensors);

/// Everything that the element may get or give.
[[nodiscard]] GstPtr<GstCaps> our_caps(bool dma_bufs);
[[nodiscard]] GstPtr<GstCaps> their_caps();

} // namespace simaai::gst
