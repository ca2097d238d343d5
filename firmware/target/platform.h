// SPDX-License-Identifier: LGPL-2.1-or-later
// What the firmware of a real EV74 must provide below the native entries: worker start, local
// memory and the DMA queue, written with that platform's toolchain. Freestanding C++17.
#pragma once

#include <cstdint>

extern "C" {

/// One transfer in the form of the hardware's queue.
typedef struct Ev74PlatformTransfer {
  std::uint32_t device;
  std::uint32_t local; ///< address as the DMA engine sees local memory
  std::uint32_t row_bytes;
  std::uint16_t rows;
  std::uint16_t device_pitch;
  std::uint16_t local_pitch;
  std::uint16_t to_device; ///< 1: local to device
} Ev74PlatformTransfer;

std::uint32_t ev74_platform_workers(void);
std::uint32_t ev74_platform_local_bytes(void);
void* ev74_platform_local(std::uint32_t worker);
void ev74_platform_run(std::uint32_t workers, void (*body)(void*, std::uint32_t), void* argument);

/// Queues a transfer behind `after` (0: nothing); 0 where the queue refuses it.
std::uint32_t ev74_platform_submit(std::uint32_t worker, const Ev74PlatformTransfer* transfer,
                                   std::uint32_t after);
void ev74_platform_wait(std::uint32_t worker, std::uint32_t ticket);

} // extern "C"
