// SPDX-License-Identifier: LGPL-2.1-or-later
// The answer of an element that allocates to an ALLOCATION query.
#pragma once

#include <cstdint>

#include <gst/gst.h>

namespace simaai::gst {

/// Leaves one configured pool and one set of allocation parameters in the query: the pool that
/// downstream proposes, or one of ours; buffers of at least `bytes`, aligned to 64. Nothing is
/// pooled where `bytes` is 0. False where a pool refuses its configuration.
[[nodiscard]] bool negotiate_pool(GstQuery* query, guint bytes);

} // namespace simaai::gst
