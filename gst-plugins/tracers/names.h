// SPDX-License-Identifier: LGPL-2.1-or-later
// What reports call elements: names that GStreamer makes up go on counting from run to run, those of reports do not.
#pragma once

#include <string>

#include <gst/gst.h>

namespace simaai::latency {

/// Numbers of names that are made up begin anew: a run begins, of a pipeline that the text describes. Names that it gives stay.
void begin_names(const std::string& text);
/// An element was made and has the name that GStreamer made up.
void note_new_element(GstElement* element);

/// The name of its own, or the made-up one as the first run of a process would have it.
[[nodiscard]] const char* reported_name(GstObject* object) noexcept;
/// The same after the names of the bins in the pipeline that it is in, "outer/inner/name".
[[nodiscard]] std::string path_of(GstElement* element);

} // namespace simaai::latency
