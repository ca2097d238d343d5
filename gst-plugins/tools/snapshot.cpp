// SPDX-License-Identifier: LGPL-2.1-or-later
// One frame of a pad as PNG.
#include "snapshot.h"

#include <gst/video/video.h>

namespace simaai::demo {

void Snapshot::attach(GstPad* pad) {
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, &Snapshot::on_buffer, this, nullptr);
}

GstPadProbeReturn Snapshot::on_buffer(GstPad* pad, GstPadProbeInfo* info, gpointer self) noexcept {
  auto* snapshot = static_cast<Snapshot*>(self);
  const std::lock_guard lock(snapshot->mutex_);
  const unsigned number = snapshot->seen_++;
  if (number == 0 || number == kFrame) {
    // A deep copy: a reference would keep a buffer of the element's pool until the end.
    const gst::GstPtr<GstBuffer> copy(gst_buffer_copy_deep(GST_PAD_PROBE_INFO_BUFFER(info)));
    const gst::GstPtr<GstCaps> caps(gst_pad_get_current_caps(pad));
    snapshot->sample_.reset(gst_sample_new(copy.get(), caps.get(), nullptr, nullptr));
  }
  return GST_PAD_PROBE_OK;
}

std::string Snapshot::save(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  if (!sample_)
    return "no frame arrived";
  const gst::GstPtr<GstCaps> png(gst_caps_new_empty_simple("image/png"));
  GError* raw_error = nullptr;
  const gst::GstPtr<GstSample> converted(
      gst_video_convert_sample(sample_.get(), png.get(), 10 * GST_SECOND, &raw_error));
  const gst::GstPtr<GError> conversion_error(raw_error);
  if (!converted)
    return conversion_error ? conversion_error->message : "conversion to PNG failed";
  const gst::MapGuard map(gst_buffer_peek_memory(gst_sample_get_buffer(converted.get()), 0),
                          GST_MAP_READ);
  raw_error = nullptr;
  const bool written =
      map && g_file_set_contents(path.c_str(), reinterpret_cast<const gchar*>(map.data()),
                                 static_cast<gssize>(map.size()), &raw_error) != FALSE;
  const gst::GstPtr<GError> write_error(raw_error);
  if (!written)
    return write_error ? write_error->message : "the PNG cannot be read";
  return {};
}

} // namespace simaai::demo
