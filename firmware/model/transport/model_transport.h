// SPDX-License-Identifier: LGPL-2.1-or-later
// Transport model: the device model inside this process.
#pragma once

namespace simaai::model {

/// Makes `model:OPTIONS` known to runtime::Device::open() (options: model_options.h). Whoever wants the device links this
/// library and calls this once; further calls change nothing. Thread-safe.
void register_model_transport() noexcept;

} // namespace simaai::model
