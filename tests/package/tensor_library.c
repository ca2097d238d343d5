// SPDX-License-Identifier: LGPL-2.1-or-later
// The headers of libgstsimaaitensor-1.0 are C: what a tensor of tiles needs.
#include <stdio.h>

#include <gst/simaai/tensor.h>

int main(void) {
  const gint shape[] = {1, 640, 640, 3};
  const gint axes[] = {-1, 1, 2, 3};
  const gint tile[] = {1, 16, 16, 3};
  guint64 bytes = 0;
  GError* error = NULL;
  g_autoptr(GstSimaaiTensorInfo) info =
      gst_simaai_tensor_info_new(GST_SIMAAI_DTYPE_BFLOAT16, shape, G_N_ELEMENTS(shape));
  gst_simaai_tensor_info_set_mla_tiled(info, axes, tile, GST_SIMAAI_CHANNEL_STORAGE_PAD16);
  if (!gst_simaai_tensor_info_get_size(info, &bytes, &error)) {
    fprintf(stderr, "%s\n", error->message);
    g_error_free(error);
    return 1;
  }
  printf("%s <%d,%d,%d,%d>: %" G_GUINT64_FORMAT " bytes at %u\n",
         gst_simaai_dtype_get_name(gst_simaai_tensor_info_get_dtype(info)), shape[0], shape[1],
         shape[2], shape[3], bytes, gst_simaai_tensor_info_get_alignment(info));
  return 0;
}
