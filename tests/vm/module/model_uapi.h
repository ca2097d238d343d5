// SPDX-License-Identifier: LGPL-2.1-or-later
// Between the test driver and the process that is its device: jobs one way, completions the other. C and C++.
#pragma once

#include <simaai/runtime/ev74_uapi.h>

/// What read() gives: one job, whose descriptors are opened in the reading process.
struct SimaaiEv74ModelJob {
  __u64 serial;
  __u64 client;
  struct SimaaiEv74Submit submit;
};

/// What write() takes: the end of one job.
struct SimaaiEv74ModelDone {
  __u64 serial;
  struct SimaaiEv74Completion completion;
};

/// From then on clients may open the device.
#define SIMAAI_EV74_MODEL_IOCTL_ATTACH _IOW('E', 0x60, struct SimaaiEv74Info)
