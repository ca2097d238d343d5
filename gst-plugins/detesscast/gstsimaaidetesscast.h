// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaidetesscast: bfloat16 accelerator tiles -> linear float32 or bfloat16 in one pass.
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_DETESSCAST (gst_simaai_detesscast_get_type())
GType gst_simaai_detesscast_get_type(void);
GST_ELEMENT_REGISTER_DECLARE(simaaidetesscast)
G_END_DECLS
