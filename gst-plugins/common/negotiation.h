// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of the op elements: templates, what one pad's caps imply for the other, fixation, diagnosis.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include <gst/gst.h>

#include <simaai/kernels/tensor_spec.h>

#include "export.h"
#include "gst_ptr.h"
#include "op_adapter.h"

namespace simaai::gst {

/// Tile fields that the element's properties ask for.
struct TileSettings {
  std::optional<std::array<int, 4>> axes;
  std::optional<std::array<int, 4>> shape;
  std::optional<kernels::ChannelStorage> storage;
  bool has_fill = false; ///< int8-channel-padding is set
};

/// Caps feature of DMA-BUFs.
inline constexpr const char* kDmaBufFeature = "memory:DMABuf";

/// True where the first structure of fixed caps promises DMA-BUFs.
[[nodiscard]] SIMAAI_GST_API bool has_dma_bufs(const GstCaps* caps) noexcept;

/// Appends the structure, which it takes, in system memory and, where wanted, in DMA-BUFs.
SIMAAI_GST_API void append_in_memories(GstCaps* caps, GstStructure* structure, bool dma_bufs);

/// Caps of a pad template: every dtype and layout of the op, no shape, and sets, in system memory and, where wanted,
/// in DMA-BUFs.
[[nodiscard]] GstPtr<GstCaps> template_caps(const OpTraits& traits, GstPadDirection direction,
                                            bool dma_bufs = true);

/// What `caps` on the pad of this direction allow on the other pad, best first, restricted to
/// `filter` (may be null) in the order of the filter. Fields that the op does not touch are copied; `tensors` of sets is left out. Sink pads take system
/// memory and DMA-BUFs, whatever comes out; source pads offer DMA-BUFs too where `makes_dma_bufs`.
[[nodiscard]] GstPtr<GstCaps> transform_caps(const OpTraits& traits, GstPadDirection direction,
                                             const GstCaps* caps, GstCaps* filter,
                                             bool makes_dma_bufs);

/// True where the op admits these two tensors.
using Admits =
    std::function<bool(const kernels::TensorSpec& input, const kernels::TensorSpec& output)>;

/// Fixed source caps for fixed sink caps: the first offered structure that, completed from
/// properties and defaults, the op admits; if none is admitted the first, so that set_caps can say
/// what is wrong with it.
[[nodiscard]] GstPtr<GstCaps> fixate_src_caps(const OpTraits& traits, const TileSettings& settings,
                                              const GstCaps* sink_caps, GstPtr<GstCaps> offered,
                                              const Admits& admits, bool makes_dma_bufs);

/// Why `ours` and `theirs` have nothing in common: names each conflicting field of the closest pair
/// of structures, what they have (introduced by `their_words`) and what we have (`our_words`).
[[nodiscard]] SIMAAI_GST_API std::string explain_mismatch(const GstCaps* ours,
                                                          const GstCaps* theirs,
                                                          const char* their_words,
                                                          const char* our_words);

} // namespace simaai::gst
