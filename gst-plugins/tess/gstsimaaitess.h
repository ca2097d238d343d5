// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaitess: linear int8 or bfloat16 tensors -> accelerator tiles.
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_TESS (gst_simaai_tess_get_type())
GType gst_simaai_tess_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(simaaitess)
G_END_DECLS
