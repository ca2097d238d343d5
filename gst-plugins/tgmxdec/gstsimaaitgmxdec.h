// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitgmxdec: TGMX stream -> rank-2 int8 tensor.
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_SIMAAI_TGMX_DEC (gst_simaai_tgmx_dec_get_type())
G_DECLARE_FINAL_TYPE(GstSimaaiTgmxDec, gst_simaai_tgmx_dec, GST, SIMAAI_TGMX_DEC, GstElement)

GST_ELEMENT_REGISTER_DECLARE(simaaitgmxdec)

G_END_DECLS
