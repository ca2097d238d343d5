// SPDX-License-Identifier: LGPL-2.1-or-later
// Which metas stay valid when a picture becomes a tensor, or a tensor a picture.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

namespace simaai::gst {

/// All but those that describe memory or the layout of the picture in it. Regions of interest and the like pass.
[[nodiscard]] inline bool meta_survives(const GstMetaInfo* info) noexcept {
  return info->api != GST_VIDEO_META_API_TYPE && info->api != GST_VIDEO_CROP_META_API_TYPE &&
         info->api != GST_PARENT_BUFFER_META_API_TYPE &&
         gst_meta_api_type_has_tag(info->api, g_quark_from_static_string("memory")) == FALSE;
}

} // namespace simaai::gst
