// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaitensormux.
#pragma once

#include <gst/base/gstaggregator.h>
#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_TENSOR_MUX (gst_simaai_tensor_mux_get_type())
G_DECLARE_FINAL_TYPE(GstSimaaiTensorMux, gst_simaai_tensor_mux, GST, SIMAAI_TENSOR_MUX,
                     GstAggregator)
GST_ELEMENT_REGISTER_DECLARE(simaaitensormux)
G_END_DECLS
