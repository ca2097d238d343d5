// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation that an executable of the tile suite tests.
#pragma once

#include "firmware/tiles/tile_cases.h"

namespace simaai::test {

/// Its last pair of dtypes stores two bytes a value.
const TileWriter& writer_under_test();

/// Its native entry.
Ev74Entry entry_under_test();

/// Slots that docs/firmware.md states.
std::uint32_t local_bytes_under_test();

} // namespace simaai::test
