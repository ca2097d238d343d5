// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaicast: float32 <-> bfloat16 of linear tensors.
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_CAST (gst_simaai_cast_get_type())
GType gst_simaai_cast_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(simaaicast)
G_END_DECLS
