// SPDX-License-Identifier: LGPL-2.1-or-later
// Detess for the reader suite.
#include "firmware/detess/reader_under_test.h"
#include "firmware/model/entry_symbols.h"

namespace simaai::test {

using kernels::DType;

const TileReader& reader_under_test() {
  static const TileReader kReader{&encode_detess,
                                  &simaai_kernels_ev74_detess_v1,
                                  {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}}};
  return kReader;
}

} // namespace simaai::test
