// SPDX-License-Identifier: LGPL-2.1-or-later
// Generated pairs of tensor specs that an operation admits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <simaai/kernels/tensor_spec.h>

#include "oracle/random_tensor.h"

namespace simaai::test {

/// What the generator may use.
struct CaseRules {
  std::span<const std::pair<kernels::DType, kernels::DType>> dtypes;
  bool tiled_source = false;
  bool tiled_destination = false;
  bool blocked = false;  ///< the tiled port may be MlaCBlocked
  bool has_fill = false; ///< int8 PadTo16 comes with a channel padding byte
  std::size_t least_rank = 1;
};

/// One admitted request.
struct GeneratedCase {
  kernels::TensorSpec source;
  kernels::TensorSpec destination;
  std::optional<std::int8_t> padding;
};

/// Case number `index` of a series: ranks, dtypes and layout kinds take turns, the rest is random.
GeneratedCase generate_case(const CaseRules& rules, std::size_t index, oracle::Random& random);

} // namespace simaai::test
