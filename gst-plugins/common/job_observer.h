// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells a tracer in another plug-in, which links nothing of ours, when jobs ran: by a pointer that the whole process shares.
#pragma once

#include <cstddef>
#include <cstdint>

#include <gst/gst.h>

#include <simaai/runtime/device.h>

namespace simaai::gst {

/// What a tracer leaves behind for the op elements. It lives until the process ends.
struct JobObserver {
  std::uint64_t bytes = sizeof(JobObserver); ///< observers of another size are not called
  void* data = nullptr;
  /// The thread that is about to push `output` from `element` calls it once for each job that wrote to it. `device` is interned:
  /// the URI of a device, or the name of the backend that ran on the host. Times are of CLOCK_MONOTONIC; a device that does not
  /// say when it worked leaves started_ns at zero. Neither keeps anything nor waits.
  void (*observe)(void* data, GstElement* element, GstBuffer* output, const char* device,
                  const runtime::JobTimes* times) noexcept = nullptr;
};
static_assert(sizeof(JobObserver) == 24 || sizeof(void*) != 8, "bytes, data, observe");
static_assert(sizeof(runtime::JobTimes) == 32, "four times of 8 bytes");

inline GQuark job_observer_quark() noexcept {
  return g_quark_from_static_string("simaai-job-observer");
}

/// Null where nobody wants to know. Any thread; not for each buffer.
[[nodiscard]] inline const JobObserver* job_observer() noexcept {
  const auto* observer =
      static_cast<const JobObserver*>(g_type_get_qdata(GST_TYPE_ELEMENT, job_observer_quark()));
  return observer != nullptr && observer->bytes == sizeof(JobObserver) ? observer : nullptr;
}

/// The latest one counts; elements ask when they start.
inline void set_job_observer(const JobObserver* observer) noexcept {
  g_type_set_qdata(GST_TYPE_ELEMENT, job_observer_quark(), const_cast<JobObserver*>(observer));
}

} // namespace simaai::gst
