// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells the thread sanitizer of order that only GLib keeps: GLib is not instrumented.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace simaai::latency {

/// The object is given to GLib, which another thread will get it from.
inline void hand_over([[maybe_unused]] void* object) noexcept {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(object);
#endif
}
/// The object was got from GLib.
inline void take_over([[maybe_unused]] void* object) noexcept {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(object);
#endif
}

} // namespace simaai::latency
