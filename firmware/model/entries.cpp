// SPDX-License-Identifier: LGPL-2.1-or-later
// Table of native entries.
#include "firmware/model/entries.h"

#include "firmware/common/entry.h"
#include "firmware/model/entry_symbols.h"
#include "wire/bytes.h"
#include "wire/rules.h"

namespace simaai::model {
namespace {

/// For packets that name no operation of this build: what is wrong with the packet, or that nobody
/// here runs it.
std::uint32_t refuse(const void* packet, std::uint32_t bytes, const Ev74Services* services) {
  kernels::wire::Descriptor descriptor;
  const auto status =
      firmware::admit(packet, bytes, services, kernels::wire::Operation::Cast, 0, descriptor);
  return static_cast<std::uint32_t>(
      status == firmware::EntryStatus::Completed ? firmware::EntryStatus::WrongOperation : status);
}

using kernels::wire::OperationRules;

constexpr Entry entry(const OperationRules& rules, Ev74Entry function) noexcept {
  return {function,
          {rules.operation, kernels::wire::kVersion, rules.allowed_flags, rules.source_dtypes(),
           rules.destination_dtypes()}};
}

constexpr Entry kEntries[] = {
    entry(kernels::wire::kCastRules, simaai_kernels_ev74_cast_v1),
    entry(kernels::wire::kTessRules, simaai_kernels_ev74_tess_v1),
    entry(kernels::wire::kCastTessRules, simaai_kernels_ev74_casttess_v1),
    entry(kernels::wire::kDetessRules, simaai_kernels_ev74_detess_v1),
    entry(kernels::wire::kDetessCastRules, simaai_kernels_ev74_detesscast_v1),
};

} // namespace

std::span<const Entry> entries() noexcept { return kEntries; }

Ev74Entry entry_of(std::span<const std::byte> packet) noexcept {
  if (packet.size() >= kernels::wire::kHeadBytes) {
    const auto number =
        kernels::wire::load_le<std::uint16_t>(packet.data() + kernels::wire::kOperationOffset);
    for (const Entry& candidate : kEntries)
      if (static_cast<std::uint16_t>(candidate.capability.operation) == number)
        return candidate.function;
  }
  return &refuse;
}

} // namespace simaai::model
