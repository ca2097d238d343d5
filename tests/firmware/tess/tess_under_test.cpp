// SPDX-License-Identifier: LGPL-2.1-or-later
// Tess for the tile suite.
#include "firmware/model/entry_symbols.h"
#include "firmware/tiles/operation_under_test.h"

namespace simaai::test {

using kernels::DType;

const TileWriter& writer_under_test() {
  static const TileWriter kWriter{&encode_tess,
                                  {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}}};
  return kWriter;
}

Ev74Entry entry_under_test() { return &simaai_kernels_ev74_tess_v1; }

std::uint32_t local_bytes_under_test() { return 2 * 8192 + 2 * (8192 + 64); }

} // namespace simaai::test
