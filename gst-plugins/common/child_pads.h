// SPDX-License-Identifier: LGPL-2.1-or-later
// Pads as children of an element, so that properties of pads that do not exist yet can be written in a pipeline text:
// "simaaitensormux sink_0::tensor-id=boxes".
#pragma once

#include <optional>
#include <string_view>

#include <gst/gst.h>

namespace simaai::gst {

/// The number behind the prefix in the name of a pad, which may be null.
[[nodiscard]] inline std::optional<guint> pad_number(const gchar* name,
                                                     std::string_view prefix) noexcept {
  if (name == nullptr || std::string_view(name).rfind(prefix, 0) != 0)
    return std::nullopt;
  guint64 number = 0;
  if (g_ascii_string_to_unsigned(name + prefix.size(), 10, 0, G_MAXUINT, &number, nullptr) == FALSE)
    return std::nullopt;
  return static_cast<guint>(number);
}

/// Interface GstChildProxy of an element whose children are its pads of this direction: for G_IMPLEMENT_INTERFACE.
template <GstPadDirection Direction>
void init_child_pads(gpointer interface, gpointer /*data*/) noexcept {
  auto* proxy = static_cast<GstChildProxyInterface*>(interface);
  proxy->get_child_by_index = [](GstChildProxy* parent, guint index) noexcept -> GObject* {
    GST_OBJECT_LOCK(parent);
    GList* const pads = Direction == GST_PAD_SINK ? GST_ELEMENT_CAST(parent)->sinkpads
                                                  : GST_ELEMENT_CAST(parent)->srcpads;
    gpointer child = g_list_nth_data(pads, index);
    if (child != nullptr)
      gst_object_ref(child);
    GST_OBJECT_UNLOCK(parent);
    return static_cast<GObject*>(child);
  };
  proxy->get_children_count = [](GstChildProxy* parent) noexcept -> guint {
    GST_OBJECT_LOCK(parent);
    const guint count = Direction == GST_PAD_SINK ? GST_ELEMENT_CAST(parent)->numsinkpads
                                                  : GST_ELEMENT_CAST(parent)->numsrcpads;
    GST_OBJECT_UNLOCK(parent);
    return count;
  };
}

} // namespace simaai::gst
