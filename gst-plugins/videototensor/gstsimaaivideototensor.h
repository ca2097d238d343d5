// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaivideototensor: raw video to tensors.
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_VIDEO_TO_TENSOR (gst_simaai_video_to_tensor_get_type())
GType gst_simaai_video_to_tensor_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(simaaivideototensor)
G_END_DECLS
