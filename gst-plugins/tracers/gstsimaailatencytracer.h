// SPDX-License-Identifier: LGPL-2.1-or-later
// Tracer simaailatency: watches every pipeline of the process and reports each one when it stops.
#pragma once

#include <functional>
#include <memory>

// Tracers are declared unstable in GStreamer 1.22.
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <gst/gst.h>

#include "output.h"
#include "report.h"

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_LATENCY_TRACER (gst_simaai_latency_tracer_get_type())
GType gst_simaai_latency_tracer_get_type(void);
G_END_DECLS

namespace simaai::latency {

class Tracing;

/// Watches this process without GST_TRACERS. The tracer lives until gst_deinit(). Call it after
/// gst_init() and before the first pipeline is made; begin_names() of names.h makes the reports of later ones alike.
Tracing& start_tracing(const Settings& settings);

/// The recorder of the pipeline that is running, for progress and live figures; null before its
/// first buffer. It is valid until the pipeline stops.
[[nodiscard]] Recorder* running(Tracing& tracing, GstElement* pipeline);

/// Settings of the pipelines that start from now on, and who gets their reports (on the thread that
/// stops them). Without a receiver the outputs that the parameters name are written.
void configure(Tracing& tracing, const Settings& settings,
               std::function<void(const Report&)> receiver);

} // namespace simaai::latency
