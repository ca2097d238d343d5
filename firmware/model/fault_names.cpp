// SPDX-License-Identifier: LGPL-2.1-or-later
// Names of faults for messages.
#include "firmware/model/device_model.h"

namespace simaai::model {

const char* fault_name(FaultKind kind) noexcept {
  switch (kind) {
  case FaultKind::Unmapped:
    return "unmapped address";
  case FaultKind::AccessDenied:
    return "access denied by the region";
  case FaultKind::BadTransfer:
    return "malformed transfer";
  case FaultKind::PitchTooLarge:
    return "pitch above 65,535 bytes";
  case FaultKind::LocalOverrun:
    return "outside acquired local memory";
  case FaultKind::LocalMemory:
    return "local memory exceeded";
  case FaultKind::OutsideSource:
    return "read outside the source";
  case FaultKind::OutputRead:
    return "read of the output";
  case FaultKind::OutsideOwned:
    return "write outside the owned interval";
  case FaultKind::HoleWrite:
    return "write to a hole";
  case FaultKind::MisalignedWrite:
    return "DMA write of partial granules";
  case FaultKind::OwnerOverlap:
    return "granule of two owners";
  case FaultKind::GranuleInFlight:
    return "write to a granule in flight";
  case FaultKind::Rewritten:
    return "output byte written twice";
  case FaultKind::MissingOutput:
    return "output not written";
  case FaultKind::MissingWait:
    return "local bytes used before their transfer completed";
  case FaultKind::EarlyReuse:
    return "local bytes reused before their transfer completed";
  case FaultKind::NeverWritten:
    return "local bytes used that were never written";
  case FaultKind::UnretiredTransfer:
    return "transfer in flight at return";
  case FaultKind::UnknownTicket:
    return "unknown ticket";
  }
  return "unknown fault";
}

} // namespace simaai::model
