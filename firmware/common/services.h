// SPDX-License-Identifier: LGPL-2.1-or-later
// What a native entry asks of the platform: workers, local memory, DMA and scalar access to system
// memory. Plain C layout, so that firmware in any language can offer it. Freestanding C++17.
#pragma once

#include <cstdint>

extern "C" {

/// A transfer in flight, as the worker that submitted it knows it. 0 is no transfer.
typedef std::uint32_t Ev74Ticket;

/// `rows` pieces of `row_bytes` between system memory and the worker's local memory. Rows start
/// `device_pitch` and `local_pitch` bytes apart; both pitches and the number of rows are 16-bit
/// fields of the hardware and must be at most 65,535. Pitches of a single row are ignored. Reads
/// have any alignment; each row written to system memory is whole, aligned 16-byte granules.
typedef struct Ev74Transfer {
  std::uint32_t device; ///< address of the first row
  std::uint32_t rows;
  std::uint32_t row_bytes;
  std::uint32_t device_pitch;
  std::uint32_t local_pitch;
  void* local;
} Ev74Transfer;

/// Handed to every entry; lives until the entry returns. Functions take `context` first and are
/// called from the worker that they name. Pointers marked optional may be null on hardware.
typedef struct Ev74Services {
  void* context;
  std::uint32_t workers;     ///< that may be launched, at least 1
  std::uint32_t local_bytes; ///< that each worker can acquire

  /// Runs body(argument, 0..workers-1), each on its own worker, and returns when all have.
  void (*launch)(void* context, std::uint32_t workers,
                 void (*body)(void* argument, std::uint32_t worker), void* argument);

  /// Local memory of a worker, 64-byte aligned, once a job; null where it has less.
  void* (*acquire_local)(void* context, std::uint32_t worker, std::uint32_t bytes);

  /// Submit a transfer that starts when `after` (0: nothing) is complete. 0 where it is refused.
  Ev74Ticket (*dma_read)(void* context, std::uint32_t worker, const Ev74Transfer* transfer,
                         Ev74Ticket after);
  Ev74Ticket (*dma_write)(void* context, std::uint32_t worker, const Ev74Transfer* transfer,
                          Ev74Ticket after);

  /// Returns when the transfer and everything it depends on is complete.
  void (*wait)(void* context, std::uint32_t worker, Ev74Ticket ticket);

  /// Scalar accesses of exactly `width` bytes (1, 2 or 4) at aligned addresses `stride` bytes
  /// apart, in order; values are packed on the other side. Stores never read.
  void (*load)(void* context, std::uint32_t worker, std::uint32_t device, std::uint32_t stride,
               void* values, std::uint32_t count, std::uint32_t width);
  void (*store)(void* context, std::uint32_t worker, std::uint32_t device, std::uint32_t stride,
                const void* values, std::uint32_t count, std::uint32_t width);

  /// Tells which path the entry took (a Route).
  void (*report_route)(void* context, std::uint32_t route); // optional

  /// Declares where the worker writes from now on: [begin, end).
  void (*own)(void* context, std::uint32_t worker, std::uint64_t begin,
              std::uint64_t end); // optional

  /// Declares that code is about to read (0) or write (1) local bytes.
  void (*touch)(void* context, std::uint32_t worker, const void* local, std::uint32_t bytes,
                std::uint32_t writes); // optional
} Ev74Services;

/// A native entry: a packet of docs/wire-format.md in, the number of a wire::EntryStatus out.
typedef std::uint32_t (*Ev74Entry)(const void* packet, std::uint32_t bytes,
                                   const Ev74Services* services);

} // extern "C"
