// SPDX-License-Identifier: LGPL-2.1-or-later
// The rule by name, so that elements without pictures do not link the video library.
#include "meta_rule.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace simaai::gst {
namespace {

constexpr std::array<std::string_view, 4> kLayoutApis{"GstVideoMetaAPI", "GstVideoCropMetaAPI",
                                                      "GstParentBufferMetaAPI", "GstTensorMetaAPI"};
constexpr std::array<std::string_view, 2> kMemoryTags{"memory", "memory-reference"};

} // namespace

bool meta_survives(const GstMetaInfo* info) noexcept {
  const auto is_in = [](const auto& names, const gchar* name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (is_in(kLayoutApis, g_type_name(info->api)))
    return false;
  const gchar* const* tags = gst_meta_api_type_get_tags(info->api);
  for (; tags != nullptr && *tags != nullptr; ++tags)
    if (is_in(kMemoryTags, *tags))
      return false;
  return true;
}

} // namespace simaai::gst
