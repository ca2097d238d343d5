// SPDX-License-Identifier: LGPL-2.1-or-later
// For programs with the thread sanitizer: the order that locks and queues of GLib keep. GLib is not instrumented and its mutexes are
// system calls of their own, so that the sanitizer sees neither; these functions stand in front of GLib's and tell it. What two threads
// share without any of them is still found: only what a lock or a queue really orders is told.
#if defined(__SANITIZE_THREAD__)

#include <dlfcn.h>

#include <glib.h>
#include <gst/gst.h>

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}

namespace {

/// GLib's own function behind the one of this name.
template <class F> F* behind(const char* name) noexcept {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

} // namespace

#define SIMAAI_BEHIND(name)                                                                        \
  static auto* const real = behind<decltype(name)>(#name);                                         \
  static_assert(true)

extern "C" {

__attribute__((visibility("default"))) void g_mutex_lock(GMutex* mutex) {
  SIMAAI_BEHIND(g_mutex_lock);
  real(mutex);
  __tsan_acquire(mutex);
}
__attribute__((visibility("default"))) gboolean g_mutex_trylock(GMutex* mutex) {
  SIMAAI_BEHIND(g_mutex_trylock);
  const gboolean locked = real(mutex);
  if (locked != FALSE)
    __tsan_acquire(mutex);
  return locked;
}
__attribute__((visibility("default"))) void g_mutex_unlock(GMutex* mutex) {
  SIMAAI_BEHIND(g_mutex_unlock);
  __tsan_release(mutex);
  real(mutex);
}
__attribute__((visibility("default"))) void g_cond_wait(GCond* cond, GMutex* mutex) {
  SIMAAI_BEHIND(g_cond_wait);
  __tsan_release(mutex);
  real(cond, mutex);
  __tsan_acquire(mutex);
}
__attribute__((visibility("default"))) gboolean g_cond_wait_until(GCond* cond, GMutex* mutex,
                                                                  gint64 end) {
  SIMAAI_BEHIND(g_cond_wait_until);
  __tsan_release(mutex);
  const gboolean signalled = real(cond, mutex, end);
  __tsan_acquire(mutex);
  return signalled;
}

__attribute__((visibility("default"))) void g_async_queue_push(GAsyncQueue* queue, gpointer data) {
  SIMAAI_BEHIND(g_async_queue_push);
  __tsan_release(queue);
  real(queue, data);
}
__attribute__((visibility("default"))) gpointer g_async_queue_pop(GAsyncQueue* queue) {
  SIMAAI_BEHIND(g_async_queue_pop);
  gpointer data = real(queue);
  __tsan_acquire(queue);
  return data;
}
__attribute__((visibility("default"))) gpointer g_async_queue_try_pop(GAsyncQueue* queue) {
  SIMAAI_BEHIND(g_async_queue_try_pop);
  gpointer data = real(queue);
  __tsan_acquire(queue);
  return data;
}
__attribute__((visibility("default"))) gpointer g_async_queue_timeout_pop(GAsyncQueue* queue,
                                                                          guint64 timeout) {
  SIMAAI_BEHIND(g_async_queue_timeout_pop);
  gpointer data = real(queue, timeout);
  __tsan_acquire(queue);
  return data;
}

/// The last reference is dropped after all others.
__attribute__((visibility("default"))) void gst_mini_object_unref(GstMiniObject* object) {
  SIMAAI_BEHIND(gst_mini_object_unref);
  __tsan_release(object);
  real(object);
}
__attribute__((visibility("default"))) void gst_atomic_queue_push(GstAtomicQueue* queue,
                                                                  gpointer data) {
  SIMAAI_BEHIND(gst_atomic_queue_push);
  __tsan_release(queue);
  real(queue, data);
}
__attribute__((visibility("default"))) gpointer gst_atomic_queue_pop(GstAtomicQueue* queue) {
  SIMAAI_BEHIND(gst_atomic_queue_pop);
  gpointer data = real(queue);
  __tsan_acquire(queue);
  return data;
}

} // extern "C"

#endif
