// SPDX-License-Identifier: LGPL-2.1-or-later
// Writing a run of output: whole granules by DMA, what is left at its ends by exact scalar stores.
// Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/common/dma.h"

namespace simaai::firmware {

/// Bytes from `device` to the next granule boundary.
constexpr std::uint32_t bytes_to_granule(std::uint32_t device) noexcept {
  return (kGranuleBytes - device % kGranuleBytes) % kGranuleBytes;
}

/// How a run divides: scalars before the first whole granule, granules, scalars after the last.
struct RunParts {
  std::uint32_t head_bytes;
  std::uint32_t middle_bytes;
  std::uint32_t tail_bytes;
};
constexpr RunParts split_run(std::uint32_t device, std::uint32_t bytes) noexcept {
  const std::uint32_t to_granule = bytes_to_granule(device);
  const std::uint32_t head = bytes < to_granule ? bytes : to_granule;
  const std::uint32_t middle = (bytes - head) / kGranuleBytes * kGranuleBytes;
  return {head, middle, bytes - head - middle};
}

/// Stores the scalars at both ends of a run whose middle is transferred.
inline void publish_ends(Worker& worker, const RunParts& parts, std::uint32_t device,
                         const std::byte* local, std::uint32_t width) noexcept {
  if (parts.head_bytes != 0)
    worker.store(device, width, local, parts.head_bytes / width, width);
  const std::uint32_t before = parts.head_bytes + parts.middle_bytes;
  if (parts.tail_bytes != 0)
    worker.store(device + before, width, local + before, parts.tail_bytes / width, width);
}

/// Publishes `bytes` (a multiple of `width`) at `device`, which is aligned to `width`. Granules of
/// the middle are wholly the run's own, so they may be in flight while scalars beside them are
/// stored.
inline void publish_run(Worker& worker, Chain& chain, std::uint32_t device, std::byte* local,
                        std::uint32_t bytes, std::uint32_t width) noexcept {
  const RunParts parts = split_run(device, bytes);
  if (parts.middle_bytes != 0)
    worker.write(chain, {device + parts.head_bytes, local + parts.head_bytes, parts.middle_bytes});
  publish_ends(worker, parts, device, local, width);
}

/// Publishes `runs` runs of `bytes` each that follow each other in `local` and begin `pitch` bytes apart. A pitch of whole
/// granules, at most kMaxPitchBytes: so all of them divide alike, and their middles are one transfer.
inline void publish_runs(Worker& worker, Chain& chain, std::uint32_t device, std::uint32_t pitch,
                         std::uint32_t runs, std::byte* local, std::uint32_t bytes,
                         std::uint32_t width) noexcept {
  const RunParts parts = split_run(device, bytes);
  if (parts.middle_bytes != 0)
    worker.write(chain, {device + parts.head_bytes, local + parts.head_bytes, parts.middle_bytes,
                         runs, pitch, bytes});
  for (std::uint32_t run = 0; run < runs; ++run)
    publish_ends(worker, parts, device + run * pitch, local + std::size_t{run} * bytes, width);
}

} // namespace simaai::firmware
