// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensortovideo: tensors to raw video.
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_TENSOR_TO_VIDEO (gst_simaai_tensor_to_video_get_type())
GType gst_simaai_tensor_to_video_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(simaaitensortovideo)
G_END_DECLS
