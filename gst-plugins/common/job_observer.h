// SPDX-License-Identifier: LGPL-2.1-or-later
// Tells a tracer in another plug-in, which links nothing of ours, when jobs ran: by a pointer that the whole process shares.
#pragma once

#include <cstddef>
#include <cstdint>

#include <gst/gst.h>

#include <simaai/runtime/device.h>

namespace simaai::gst {

/// One job, when it has ended.
struct JobNotice {
  const char* device =
      nullptr; ///< interned: URI of a device, or name of the backend that ran on the host
  runtime::JobTimes
      times; ///< CLOCK_MONOTONIC; a device that does not say when it worked leaves started_ns at zero
  std::uint64_t held_ns =
      0; ///< that the buffer's thread waited because no more jobs may be on their way
};
static_assert(sizeof(JobNotice) == 48 || sizeof(void*) != 8, "device, four times, held");

/// What a tracer leaves behind for the op elements. It lives until the process ends.
struct JobObserver {
  std::uint64_t bytes = sizeof(JobObserver); ///< observers of another size are not called
  void* data = nullptr;
  /// The thread that is about to push `output` from `element` calls it once for each job that wrote to it. It neither keeps
  /// anything nor waits.
  void (*observe)(void* data, GstElement* element, GstBuffer* output,
                  const JobNotice* notice) noexcept = nullptr;
};
static_assert(sizeof(JobObserver) == 24 || sizeof(void*) != 8, "bytes, data, observe");

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
