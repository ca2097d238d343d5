// SPDX-License-Identifier: LGPL-2.1-or-later
// Cast cases for the device model.
#pragma once

#include <map>

#include "firmware/device_case.h"

namespace simaai::test {

/// Case `number` of 300.
DeviceCase generated_cast(std::uint64_t number);

/// A case of the given shape; contiguous where a stride list is empty.
Case cast_case(std::initializer_list<std::int64_t> shape, kernels::DType from,
               std::initializer_list<std::int64_t> source_strides = {},
               std::initializer_list<std::int64_t> destination_strides = {});

} // namespace simaai::test
