// SPDX-License-Identifier: LGPL-2.1-or-later
// Type of the meta: copied with whole buffers, not with parts of one.
#include "frame_meta.h"

#include "session.h"

namespace simaai::latency {

namespace {

struct FrameMeta {
  GstMeta meta;
  Session* session; // one reference, null while the meta is new
  FrameTag tag;
};

const GstMetaInfo* meta_info() noexcept;

gboolean on_init(GstMeta* meta, gpointer /*params*/, GstBuffer* /*buffer*/) noexcept {
  auto* frame = reinterpret_cast<FrameMeta*>(meta);
  frame->session = nullptr;
  frame->tag = {};
  return TRUE;
}

void on_free(GstMeta* meta, GstBuffer* /*buffer*/) noexcept {
  auto* frame = reinterpret_cast<FrameMeta*>(meta);
  if (frame->session == nullptr)
    return;
  frame->session->recorder().frame_released(frame->tag.id);
  frame->session->unref();
}

gboolean on_transform(GstBuffer* target, GstMeta* meta, GstBuffer* /*source*/, GQuark type,
                      gpointer data) noexcept {
  const auto* frame = reinterpret_cast<FrameMeta*>(meta);
  if (!GST_META_TRANSFORM_IS_COPY(type) || frame->session == nullptr)
    return FALSE;
  // Part of a buffer is another frame: two of them may not share an identity.
  if (static_cast<const GstMetaTransformCopy*>(data)->region != FALSE)
    return FALSE;
  write_tag(target, *frame->session, frame->tag);
  return TRUE;
}

GType meta_api() noexcept {
  static const GType type_id = [] {
    // No tags: elements that copy metas at all copy this one.
    static const gchar* tags[] = {nullptr};
    return gst_meta_api_type_register("SimaaiLatencyFrameMetaAPI", tags);
  }();
  return type_id;
}

const GstMetaInfo* meta_info() noexcept {
  static const GstMetaInfo* const info = gst_meta_register(
      meta_api(), "SimaaiLatencyFrameMeta", sizeof(FrameMeta), on_init, on_free, on_transform);
  return info;
}

} // namespace

FrameTag read_tag(GstBuffer* buffer, const Session& session,
                  void (*others)(void* data, std::uint64_t id), void* data) noexcept {
  FrameTag tag;
  gpointer state = nullptr;
  const GType api = meta_api();
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, api)) {
    const auto* frame = reinterpret_cast<FrameMeta*>(meta);
    if (frame->session != &session)
      continue;
    const std::uint64_t older = frame->tag.id < tag.id ? frame->tag.id : tag.id;
    if (frame->tag.id > tag.id)
      tag = frame->tag;
    if (older != 0 && older != tag.id && others != nullptr)
      others(data, older);
  }
  return tag;
}

void write_tag(GstBuffer* buffer, Session& session, const FrameTag& tag) noexcept {
  auto* frame = reinterpret_cast<FrameMeta*>(gst_buffer_add_meta(buffer, meta_info(), nullptr));
  if (frame == nullptr)
    return;
  session.ref();
  frame->session = &session;
  frame->tag = tag;
  session.recorder().frame_carried(tag.id);
}

} // namespace simaai::latency
