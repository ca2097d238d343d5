// SPDX-License-Identifier: LGPL-2.1-or-later
// The meta that carries a frame's tag on its buffers, and whose end shows where a frame ended.
#pragma once

#include <cstdint>
#include <vector>

#include <gst/gst.h>

#include "identity.h"
#include "recorder.h"

namespace simaai::latency {

class Session;

/// Tag of the frame of this session that the buffer carries; empty where it carries none. Where
/// the buffer was made of several frames, it is the one that began last and `others` is called with
/// the ids of the rest.
[[nodiscard]] FrameTag read_tag(GstBuffer* buffer, const Session& session,
                                void (*others)(void* data, std::uint64_t id), void* data) noexcept;

/// Attaches the tag for the life of the buffer. Only where the buffer is writable.
void write_tag(GstBuffer* buffer, Session& session, const FrameTag& tag) noexcept;

} // namespace simaai::latency
