// SPDX-License-Identifier: LGPL-2.1-or-later
// CastTess for the tile suite.
#include "firmware/model/entry_symbols.h"
#include "firmware/tiles/operation_under_test.h"

namespace simaai::test {

using kernels::DType;

const TileWriter& writer_under_test() {
  static const TileWriter kWriter{&encode_casttess,
                                  {{DType::Float32, DType::BFloat16},
                                   {DType::Float16, DType::BFloat16},
                                   {DType::BFloat16, DType::BFloat16}}};
  return kWriter;
}

Ev74Entry entry_under_test() { return &simaai_kernels_ev74_casttess_v1; }

std::uint32_t local_bytes_under_test() { return 2 * 16384 + 2 * (8192 + 64); }

} // namespace simaai::test
