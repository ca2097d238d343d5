// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitgmxenc: rank-2 int8 tensor -> TGMX stream.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_SIMAAI_TGMX_ENC (gst_simaai_tgmx_enc_get_type())
G_DECLARE_FINAL_TYPE(GstSimaaiTgmxEnc, gst_simaai_tgmx_enc, GST, SIMAAI_TGMX_ENC, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE(simaaitgmxenc)

G_END_DECLS
