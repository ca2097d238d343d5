// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaicasttess: linear float tensors -> bfloat16 accelerator tiles in one pass.
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_CASTTESS (gst_simaai_casttess_get_type())
GType gst_simaai_casttess_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(simaaicasttess)
G_END_DECLS
