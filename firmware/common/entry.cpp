// SPDX-License-Identifier: LGPL-2.1-or-later
// Admission of a packet on the device.
#include "firmware/common/entry.h"

#include <cstddef>

#include "wire/check.h"
#include "wire/packet.h"

namespace simaai::firmware {

using kernels::wire::Finding;

EntryStatus admit(const void* packet, std::uint32_t bytes, const Ev74Services* services,
                  kernels::wire::Operation operation, std::uint32_t local_bytes,
                  kernels::wire::Descriptor& out) noexcept {
  if (packet == nullptr || services == nullptr)
    return EntryStatus::NullArgument;
  if (reinterpret_cast<std::uintptr_t>(packet) % kernels::wire::kPacketAlignment != 0)
    return EntryStatus::MisalignedPacket;
  if (const Finding f = kernels::wire::read(static_cast<const std::byte*>(packet), bytes, out);
      !f.ok())
    return f.status;
  if (out.operation != operation)
    return EntryStatus::WrongOperation;
  if (const Finding f = kernels::wire::check_geometry(out); !f.ok())
    return f.status;
  if (const Finding f = kernels::wire::check_addresses(out); !f.ok())
    return f.status;
  if (services->workers == 0)
    return EntryStatus::NoWorker;
  if (services->local_bytes < local_bytes)
    return EntryStatus::LocalMemory;
  return EntryStatus::Completed;
}

} // namespace simaai::firmware
