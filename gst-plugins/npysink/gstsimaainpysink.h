// SPDX-License-Identifier: LGPL-2.1-or-later
// simaainpysink: writes each tensor to a .npy file.
#pragma once

#include <gst/base/gstbasesink.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_SIMAAI_NPY_SINK (gst_simaai_npy_sink_get_type())
G_DECLARE_FINAL_TYPE(GstSimaaiNpySink, gst_simaai_npy_sink, GST, SIMAAI_NPY_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE(simaainpysink)

G_END_DECLS
