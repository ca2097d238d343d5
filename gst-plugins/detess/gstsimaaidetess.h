// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaidetess: int8 or bfloat16 accelerator tiles -> linear tensors.
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_DETESS (gst_simaai_detess_get_type())
GType gst_simaai_detess_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(simaaidetess)
G_END_DECLS
