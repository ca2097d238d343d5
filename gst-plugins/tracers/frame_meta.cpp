// SPDX-License-Identifier: LGPL-2.1-or-later
// Type of the meta: copied with whole buffers, not with parts of one.
#include "frame_meta.h"

#include <algorithm>
#include <atomic>

#include "session.h"
#include "type_name.h"

namespace simaai::latency {

namespace {

/// Written once, before the buffer is handed on. Atomic, because only GStreamer orders the threads
/// that see a buffer one after the other.
struct FrameMeta {
  GstMeta meta;
  std::atomic<Session*> session; // one reference, null while the meta is new
  Word id;
  Word origin_ns;
  Word origin; // pad shifted by one, and whether the frame is measured

  [[nodiscard]] FrameTag tag() const noexcept {
    const std::uint64_t packed = get(origin);
    return {get(id), get(origin_ns), static_cast<std::uint32_t>(packed >> 1), packed % 2 == 1};
  }
};

const GstMetaInfo* meta_info() noexcept;

gboolean on_init(GstMeta* meta, gpointer /*params*/, GstBuffer* /*buffer*/) noexcept {
  auto* frame = reinterpret_cast<FrameMeta*>(meta);
  frame->session.store(nullptr, std::memory_order_relaxed);
  return TRUE;
}

void on_free(GstMeta* meta, GstBuffer* /*buffer*/) noexcept {
  Session* session = reinterpret_cast<FrameMeta*>(meta)->session.load(std::memory_order_acquire);
  if (session == nullptr)
    return;
  session->recorder().frame_released(get(reinterpret_cast<FrameMeta*>(meta)->id));
  session->unref();
}

gboolean on_transform(GstBuffer* target, GstMeta* meta, GstBuffer* /*source*/, GQuark type,
                      gpointer data) noexcept {
  const auto* frame = reinterpret_cast<FrameMeta*>(meta);
  Session* session = frame->session.load(std::memory_order_acquire);
  if (!GST_META_TRANSFORM_IS_COPY(type) || session == nullptr)
    return FALSE;
  // Part of a buffer is another frame: two of them may not share an identity.
  if (static_cast<const GstMetaTransformCopy*>(data)->region != FALSE)
    return FALSE;
  write_tag(target, *session, frame->tag());
  return TRUE;
}

GType meta_api() noexcept {
  static const GType type_id = [] {
    // No tags: elements that copy metas at all copy this one.
    static const gchar* tags[] = {nullptr};
    return gst_meta_api_type_register(free_type_name("SimaaiLatencyFrameMetaAPI").c_str(), tags);
  }();
  return type_id;
}

const GstMetaInfo* meta_info() noexcept {
  static const GstMetaInfo* const info =
      gst_meta_register(meta_api(), free_type_name("SimaaiLatencyFrameMeta").c_str(),
                        sizeof(FrameMeta), on_init, on_free, on_transform);
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
    if (frame->session.load(std::memory_order_acquire) != &session)
      continue;
    const FrameTag found = frame->tag();
    const std::uint64_t older = std::min(found.id, tag.id);
    if (found.id > tag.id)
      tag = found;
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
  put(frame->id, tag.id);
  put(frame->origin_ns, tag.origin_ns);
  put(frame->origin, std::uint64_t{tag.origin_pad} << 1 | (tag.measured ? 1U : 0U));
  frame->session.store(&session, std::memory_order_release);
  session.recorder().frame_carried(tag.id);
}

} // namespace simaai::latency
