// SPDX-License-Identifier: LGPL-2.1-or-later
// The operation that an executable of the reader suite tests.
#pragma once

#include "firmware/detess/reader_cases.h"

namespace simaai::test {

const TileReader& reader_under_test();

} // namespace simaai::test
