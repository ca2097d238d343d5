// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaimatmul: multiplies the last axis of int8 tensors by the weights of a .tgmx file.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_SIMAAI_MATMUL (gst_simaai_matmul_get_type())
G_DECLARE_FINAL_TYPE(GstSimaaiMatmul, gst_simaai_matmul, GST, SIMAAI_MATMUL, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE(simaaimatmul)

G_END_DECLS
