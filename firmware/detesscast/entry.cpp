// SPDX-License-Identifier: LGPL-2.1-or-later
// Native entry of DetessCast, version 1.
#include "firmware/detess/run.h"
#include "firmware/detesscast/channel_band.h"
#include "firmware/detesscast/full_pixel.h"

namespace simaai::firmware::detesscast {
namespace {

using detess::BFloat16;
using detess::Body;
using detess::Float32;
using detess::Reader;
using kernels::wire::Descriptor;

constexpr std::uint32_t kFragmentBytes = detess::FragmentSlots<Float32>::Table::kTotalBytes;

Body full_pixel_body(const Descriptor& packet) noexcept {
  const bool narrow = detess::stored_pixel_bytes(packet) == 2 * FullPixels<1>::kChannels;
  return {narrow ? &detess::run_raw_rows<Float32, FullPixels<1>>
                 : &detess::run_raw_rows<Float32, FullPixels<2>>,
          kFragmentBytes};
}

EntryStatus run_channel_bands(const Descriptor& packet, const Ev74Services& services) noexcept {
  const BandJob job = make_band_job(packet, offered_workers(services));
  report(services, detess::route_of(packet, Reader::ChannelBand));
  return launch(services, job.workers, kFragmentBytes, &run_bands, job);
}

/// One of the internal implementations, selected once.
EntryStatus run(const Descriptor& packet, const Ev74Services& services) noexcept {
  const Reader reader = detess::select_reader(packet);
  if (reader == Reader::ChannelBand)
    return run_channel_bands(packet, services);
  Body body = full_pixel_body(packet);
  if (reader != Reader::FullPixel)
    body = packet.destination_dtype == kernels::wire::DTypeTag::Float32
               ? detess::general_body<Float32>(reader)
               : detess::general_body<BFloat16>(reader);
  return detess::run_reader(packet, services, reader, body);
}

} // namespace
} // namespace simaai::firmware::detesscast

extern "C" std::uint32_t simaai_kernels_ev74_detesscast_v1(const void* packet, std::uint32_t bytes,
                                                           const Ev74Services* services);

extern "C" std::uint32_t simaai_kernels_ev74_detesscast_v1(const void* packet, std::uint32_t bytes,
                                                           const Ev74Services* services) {
  namespace firmware = simaai::firmware;
  namespace detess = firmware::detess;
  namespace wire = simaai::kernels::wire;
  wire::Descriptor descriptor;
  wire::EntryStatus status =
      firmware::admit(packet, bytes, services, wire::Operation::DetessCast,
                      detess::GeneralSlots<detess::Float32>::Table::kTotalBytes, descriptor);
  if (status == wire::EntryStatus::Completed)
    status = firmware::detesscast::run(descriptor, *services);
  return static_cast<std::uint32_t>(status);
}
