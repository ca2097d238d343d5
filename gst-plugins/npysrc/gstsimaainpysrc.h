// SPDX-License-Identifier: LGPL-2.1-or-later
// simaainpysrc: pushes the tensors of .npy files.
#pragma once

#include <gst/base/gstpushsrc.h>
#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_SIMAAI_NPY_SRC (gst_simaai_npy_src_get_type())
G_DECLARE_FINAL_TYPE(GstSimaaiNpySrc, gst_simaai_npy_src, GST, SIMAAI_NPY_SRC, GstPushSrc)

GST_ELEMENT_REGISTER_DECLARE(simaainpysrc)

G_END_DECLS
