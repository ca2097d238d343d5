// SPDX-License-Identifier: LGPL-2.1-or-later
// Cases that write tiles, for the device model.
#pragma once

#include "firmware/device_case.h"

namespace simaai::test {

/// An operation that writes tiles, and its dtypes.
struct TileWriter {
  Encoder encode;
  std::vector<DTypePair> dtypes;
};

/// Case `number` of 300: any rank and axis map, then tiles and pixels larger than a panel.
DeviceCase generated_tiles(const TileWriter& writer, std::uint64_t number);

/// A case of rank four with H, W, C mapped.
Case image_case(DTypePair dtypes, std::initializer_list<std::int64_t> shape,
                std::initializer_list<std::int64_t> tile, kernels::ChannelStorage storage);

} // namespace simaai::test
