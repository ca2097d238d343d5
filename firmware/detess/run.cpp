// SPDX-License-Identifier: LGPL-2.1-or-later
// Jobs of the readers.
#include "firmware/detess/run.h"

namespace simaai::firmware::detess {

Job make_job(const kernels::wire::Descriptor& packet, Reader reader,
             std::uint32_t offered_workers) noexcept {
  const bool physical = reader == Reader::StridedInner;
  Job job{};
  job.view = make_view(packet, physical ? AxisOrder::Physical : AxisOrder::Logical);
  // Strides without overlap do not prove that workers would write different granules.
  job.workers = packet.strided() ? 1 : useful_workers(job.view.count, offered_workers);
  job.rank_one = packet.rank == 1;
  const bool fragments = reader == Reader::RawRow || reader == Reader::FullPixel;
  plan_panels(job, fragments ? kRawBytes / stored_pixel_bytes(packet) : 0);
  if (fragments && job.workers * job.cut > job.view.count) // a cut pixel is read by both
    job.workers = job.view.count > job.cut ? job.view.count / job.cut : 1;
  return job;
}

EntryStatus run_reader(const kernels::wire::Descriptor& packet, const Ev74Services& services,
                       Reader reader, const Body& body) noexcept {
  const Job job = make_job(packet, reader, offered_workers(services));
  report(services, route_of(packet, reader));
  return launch(services, job.workers, body.local_bytes, body.run, job);
}

} // namespace simaai::firmware::detess
