// SPDX-License-Identifier: LGPL-2.1-or-later
// Interface of a kernel driver of the EV74, version 1: what the transport dev: asks of a character device. C and C++.
//
// A client opens the node, asks for INFO and submits jobs. Each job ends in one completion, which read() gives; until then the driver
// holds both objects. poll() tells POLLIN while a completion waits, and POLLHUP once the device is gone: jobs that have no completion
// get none any more, and nothing touches their memory. read() then returns what is left, and 0 after it.
#pragma once

#include <linux/ioctl.h>
#include <linux/types.h>

#define SIMAAI_EV74_UAPI_VERSION 1
#define SIMAAI_EV74_CAPABILITIES 32
#define SIMAAI_EV74_PACKET_BYTES 216

/// One native entry; masks as in simaai/runtime/capability.h.
struct SimaaiEv74Capability {
  __u16 operation;
  __u16 version;
  __u32 flags;
  __u32 source_dtypes;
  __u32 destination_dtypes;
};

struct SimaaiEv74Info {
  __u32 uapi_version;
  __u32 queue_limit; ///< jobs of one client that may be in flight
  __u32 capability_count;
  __u32 reserved;
  struct SimaaiEv74Capability capabilities[SIMAAI_EV74_CAPABILITIES];
};

/// The driver writes the device address of (fd, offset) at packet_offset.
struct SimaaiEv74Relocation {
  __u32 packet_offset; ///< 24, then 32, bytes
  __s32 fd;            ///< a DMA-BUF
  __u64 offset_bytes;
  __u64 length_bytes;
  __u32 writes; ///< 0: read, 1: written
  __u32 reserved;
};

struct SimaaiEv74Submit {
  __u64 job; ///< the client's number, repeated in the completion
  __u32 packet_bytes;
  __u32 reserved;
  struct SimaaiEv74Relocation relocations[2]; ///< source, destination
  __u8 packet[SIMAAI_EV74_PACKET_BYTES];      ///< with zero address slots
};

/// Fields as in simaai/runtime/transport.h.
struct SimaaiEv74Completion {
  __u64 job;
  __u32 outcome;
  __u32 entry_status;
  __u32 detail;
  __u32 reserved;
  __u64 dma_calls_in;
  __u64 dma_calls_out;
  __u64 dma_bytes_in;
  __u64 dma_bytes_out;
  __u64 typed_load_bytes;
  __u64 typed_store_bytes;
  __u64 cycles;
  __u64 started_ns; ///< CLOCK_MONOTONIC
  __u64 done_ns;
  __u32 workers;
  __u32 route;
};

#define SIMAAI_EV74_IOCTL_INFO _IOR('E', 0x40, struct SimaaiEv74Info)
/// EAGAIN: queue_limit jobs are in flight. EBADF: a descriptor is no DMA-BUF. EACCES: it is read-only and written to. EINVAL:
/// a range outside of its object, or a malformed call. ENODEV: the device is gone.
#define SIMAAI_EV74_IOCTL_SUBMIT _IOW('E', 0x41, struct SimaaiEv74Submit)
