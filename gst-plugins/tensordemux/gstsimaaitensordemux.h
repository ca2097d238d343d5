// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaitensordemux.
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_TENSOR_DEMUX (gst_simaai_tensor_demux_get_type())
G_DECLARE_FINAL_TYPE(GstSimaaiTensorDemux, gst_simaai_tensor_demux, GST, SIMAAI_TENSOR_DEMUX,
                     GstElement)
GST_ELEMENT_REGISTER_DECLARE(simaaitensordemux)
G_END_DECLS
