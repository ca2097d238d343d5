// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaitensorbridge.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_TENSOR_BRIDGE (gst_simaai_tensor_bridge_get_type())
G_DECLARE_FINAL_TYPE(GstSimaaiTensorBridge, gst_simaai_tensor_bridge, GST, SIMAAI_TENSOR_BRIDGE,
                     GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE(simaaitensorbridge)
G_END_DECLS
