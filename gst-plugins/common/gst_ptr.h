// SPDX-License-Identifier: LGPL-2.1-or-later
// RAII for GStreamer references, mapped memories and the object lock.
#pragma once

#include <cstddef>
#include <memory>

#include <gst/gst.h>

namespace simaai::gst {

/// Releases one reference of T. Specialised for each type that elements hold.
template <class T> struct GstRelease;

template <> struct GstRelease<GstCaps> {
  void operator()(GstCaps* caps) const noexcept { gst_caps_unref(caps); }
};
template <> struct GstRelease<GstBuffer> {
  void operator()(GstBuffer* buffer) const noexcept { gst_buffer_unref(buffer); }
};
template <> struct GstRelease<GstMemory> {
  void operator()(GstMemory* memory) const noexcept { gst_memory_unref(memory); }
};
template <> struct GstRelease<GstQuery> {
  void operator()(GstQuery* query) const noexcept { gst_query_unref(query); }
};
template <> struct GstRelease<GstEvent> {
  void operator()(GstEvent* event) const noexcept { gst_event_unref(event); }
};
template <> struct GstRelease<GstMessage> {
  void operator()(GstMessage* message) const noexcept { gst_message_unref(message); }
};
template <> struct GstRelease<GstSample> {
  void operator()(GstSample* sample) const noexcept { gst_sample_unref(sample); }
};
template <> struct GstRelease<GstStructure> {
  void operator()(GstStructure* structure) const noexcept { gst_structure_free(structure); }
};
template <> struct GstRelease<GstBufferPool> {
  void operator()(GstBufferPool* pool) const noexcept { gst_object_unref(pool); }
};
template <> struct GstRelease<GstAllocator> {
  void operator()(GstAllocator* allocator) const noexcept { gst_object_unref(allocator); }
};
template <> struct GstRelease<GstObject> {
  void operator()(GstObject* object) const noexcept { gst_object_unref(object); }
};
template <> struct GstRelease<GstElement> {
  void operator()(GstElement* element) const noexcept { gst_object_unref(element); }
};
template <> struct GstRelease<GstPad> {
  void operator()(GstPad* pad) const noexcept { gst_object_unref(pad); }
};
template <> struct GstRelease<GstBus> {
  void operator()(GstBus* bus) const noexcept { gst_object_unref(bus); }
};
template <> struct GstRelease<gchar> {
  void operator()(gchar* text) const noexcept { g_free(text); }
};
template <> struct GstRelease<GError> {
  void operator()(GError* error) const noexcept { g_error_free(error); }
};

/// Owns one reference.
template <class T> using GstPtr = std::unique_ptr<T, GstRelease<T>>;
/// Owns a string of GLib.
using GTextPtr = GstPtr<gchar>;

/// Maps one memory for the life of the guard. False in a condition where mapping failed.
class MapGuard {
public:
  MapGuard() noexcept = default;
  MapGuard(GstMemory* memory, GstMapFlags flags) noexcept
      : memory_(gst_memory_map(memory, &info_, flags) != FALSE ? memory : nullptr) {}
  ~MapGuard() {
    if (memory_ != nullptr)
      gst_memory_unmap(memory_, &info_);
  }
  MapGuard(const MapGuard&) = delete;
  MapGuard& operator=(const MapGuard&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return memory_ != nullptr; }
  [[nodiscard]] guint8* data() const noexcept { return info_.data; }
  [[nodiscard]] std::size_t size() const noexcept { return info_.size; }

private:
  GstMapInfo info_{};
  GstMemory* memory_ = nullptr;
};

/// Maps a whole buffer for the life of the guard; several memories are merged. False in a condition
/// where mapping failed.
class BufferMap {
public:
  BufferMap(GstBuffer* buffer, GstMapFlags flags) noexcept
      : buffer_(gst_buffer_map(buffer, &info_, flags) != FALSE ? buffer : nullptr) {}
  ~BufferMap() {
    if (buffer_ != nullptr)
      gst_buffer_unmap(buffer_, &info_);
  }
  BufferMap(const BufferMap&) = delete;
  BufferMap& operator=(const BufferMap&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return buffer_ != nullptr; }
  [[nodiscard]] std::byte* data() const noexcept {
    return reinterpret_cast<std::byte*>(info_.data);
  }

private:
  GstMapInfo info_{};
  GstBuffer* buffer_ = nullptr;
};

/// Holds the object lock of a GstObject. Never held across a push, a query or a bus message.
class ObjectLock {
public:
  explicit ObjectLock(gpointer object) noexcept : object_(GST_OBJECT_CAST(object)) {
    GST_OBJECT_LOCK(object_);
  }
  ~ObjectLock() { GST_OBJECT_UNLOCK(object_); }
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

private:
  GstObject* object_;
};

} // namespace simaai::gst
