// SPDX-License-Identifier: LGPL-2.1-or-later
// Cases of the operations that read tiles, for the device model.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "a65/operation.h"
#include "firmware/device_case.h"
#include "oracle/random_tensor.h"

namespace simaai::test {

/// An operation with a tiled source.
struct TileReader {
  Encoder encode;
  Ev74Entry entry;
  std::vector<DTypePair> dtypes;
};

/// Case `number` of 300: tiles and channel blocks of every rank, gapless and strided output, small
/// tensors and such that fill many panels, addresses at every phase.
DeviceCase generated_case(const TileReader& reader, std::uint64_t number);

/// A tiled case with gapless output.
Case tiled_case(DTypePair dtypes, std::initializer_list<std::int64_t> shape,
                std::initializer_list<std::int32_t> axes, std::initializer_list<std::int64_t> tile,
                kernels::ChannelStorage storage = kernels::ChannelStorage::PadTo16,
                std::uint64_t seed = 1);

/// The same with output strides in bytes.
Case strided_case(Case c, std::initializer_list<std::int64_t> strides);

/// A channel-blocked case with gapless output.
Case blocked_case(DTypePair dtypes, std::initializer_list<std::int64_t> shape,
                  std::initializer_list<std::int64_t> tile, std::uint64_t seed = 1);

} // namespace simaai::test
