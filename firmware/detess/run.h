// SPDX-License-Identifier: LGPL-2.1-or-later
// From an admitted packet to its workers, for the readers that all element types share.
// Freestanding C++17.
#pragma once

#include "firmware/common/entry.h"
#include "firmware/detess/dense.h"
#include "firmware/detess/gather.h"
#include "firmware/detess/raw_row.h"
#include "firmware/detess/select.h"
#include "firmware/detess/strided.h"

namespace simaai::firmware::detess {

using WorkerBody = void (*)(Worker& worker, std::byte* local, const Job& job);

/// What a reader runs on each worker, and the local memory that it takes.
struct Body {
  WorkerBody run;
  std::uint32_t local_bytes;
};

/// Bodies of the general readers. FullPixel and ChannelBand are not among them.
template <class Element> Body general_body(Reader reader) noexcept {
  constexpr std::uint32_t kGeneral = GeneralSlots<Element>::Table::kTotalBytes;
  switch (reader) {
  case Reader::Planar:
    return {&run_dense<Element, Planar>, kGeneral};
  case Reader::Gather:
  case Reader::Blocked:
    return {&run_dense<Element, Gather>, kGeneral};
  case Reader::RawRow:
    return {&run_raw_rows<Element, AnyPixels<Element>>, FragmentSlots<Element>::Table::kTotalBytes};
  case Reader::Strided:
  case Reader::StridedInner:
    return {&run_strided<Element>, kGeneral};
  case Reader::FullPixel:
  case Reader::ChannelBand:
    break;
  }
  return {nullptr, 0};
}

/// View, panels and workers of a packet for its reader.
Job make_job(const kernels::wire::Descriptor& packet, Reader reader,
             std::uint32_t offered_workers) noexcept;

/// Reports the route and runs it to its end.
EntryStatus run_reader(const kernels::wire::Descriptor& packet, const Ev74Services& services,
                       Reader reader, const Body& body) noexcept;

} // namespace simaai::firmware::detess
