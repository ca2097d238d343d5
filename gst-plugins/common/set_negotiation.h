// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of the op elements where a buffer holds a set: each tensor negotiated for itself.
#pragma once

#include <string>

#include <gst/gst.h>

#include "gst_ptr.h"
#include "negotiation.h"
#include "op_adapter.h"

namespace simaai::gst {

/// What the element asks of its output.
struct SetRequest {
  TileSettings tile;
  bool single_memory = false; ///< all tensors in one memory, unless downstream says otherwise
  bool makes_dma_bufs = false;
};

/// Fixed source caps for a fixed set on the sink pad: the first set of `theirs` (may be ANY) whose tensors the op admits,
/// one by one; else the first that fits at all, else what the op prefers, so that a refusal can be explained.
[[nodiscard]] GstPtr<GstCaps> fixate_set(const OpTraits& traits, const SetRequest& request,
                                         const GstCaps* sink_caps, const GstCaps* theirs,
                                         const Admits& admits);

/// The first tensor of a set on the sink pad that the op does not take, whatever comes out, and why. Empty where it takes
/// all of them, and for a plain tensor.
[[nodiscard]] std::string unsuitable_tensor(const OpTraits& traits, const GstCaps* sink_caps);

/// Which tensor keeps the sets of `theirs` from those that the op makes of the set on the sink pad, and why. Empty where
/// none does.
[[nodiscard]] std::string explain_set(const OpTraits& traits, const GstCaps* sink_caps,
                                      const GstCaps* theirs);

/// The same for a set that is fixed already.
[[nodiscard]] SIMAAI_GST_API std::string explain_fixed_set(const GstCaps* set,
                                                           const GstCaps* theirs);

} // namespace simaai::gst
