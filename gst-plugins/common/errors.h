// SPDX-License-Identifier: LGPL-2.1-or-later
// Bus messages of our elements: errors that name operands on both sides, warnings, notices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <gst/gst.h>

#include "export.h"

namespace simaai::gst {

/// Which GError domain and code a message carries.
enum class ErrorKind {
  Negotiation, ///< GST_STREAM_ERROR_FORMAT: caps that the element cannot work with
  Data,        ///< GST_STREAM_ERROR_FAILED: a buffer that contradicts its caps, or a failed op
  Settings,    ///< GST_LIBRARY_ERROR_SETTINGS: a property value that cannot work
  Resource,    ///< GST_RESOURCE_ERROR_FAILED: memory or backend not available
  NotFound,    ///< GST_RESOURCE_ERROR_NOT_FOUND: a file that does not exist
  OpenRead,    ///< GST_RESOURCE_ERROR_OPEN_READ
  OpenWrite,   ///< GST_RESOURCE_ERROR_OPEN_WRITE
  Read,        ///< GST_RESOURCE_ERROR_READ
  Write,       ///< GST_RESOURCE_ERROR_WRITE
};

/// What an error or a warning says. Unset members are left out of the text.
struct Report {
  std::string reason; ///< sentence: operand, expected, found
  const GstCaps* sink_caps = nullptr;
  const GstCaps* src_caps = nullptr;
  std::optional<std::uint64_t> needed_bytes;
  std::optional<std::uint64_t> found_bytes;
  const char* backend = nullptr;
};

/// Text of a message: element name, reason, then a line each for bytes, backend and caps.
[[nodiscard]] SIMAAI_GST_API std::string report_text(GstElement* element, const Report& report);

/// Posts an ERROR. Its details structure `simaai-error` has reason, sink-caps, src-caps,
/// needed-bytes (uint64), found-bytes (uint64) and backend, as far as they are known.
SIMAAI_GST_API void post_error(GstElement* element, ErrorKind kind, const Report& report);

/// Posts a WARNING whose details structure is `details` (transfer full, may be null).
SIMAAI_GST_API void post_warning(GstElement* element, ErrorKind kind, const Report& report,
                                 GstStructure* details);

/// Posts an ELEMENT message with this structure (transfer full).
SIMAAI_GST_API void post_notice(GstElement* element, GstStructure* structure);

} // namespace simaai::gst
