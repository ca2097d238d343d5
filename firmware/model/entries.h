// SPDX-License-Identifier: LGPL-2.1-or-later
// The native entries that this build of the model carries.
#pragma once

#include <cstddef>
#include <span>

#include "firmware/common/services.h"
#include "firmware/model/device_model.h"

namespace simaai::model {

struct Entry {
  Ev74Entry function;
  EntryCapability capability;
};

std::span<const Entry> entries() noexcept;

/// The entry that a packet names; where it names none, one that will refuse it.
Ev74Entry entry_of(std::span<const std::byte> packet) noexcept;

} // namespace simaai::model
