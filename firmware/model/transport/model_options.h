// SPDX-License-Identifier: LGPL-2.1-or-later
// Text of the options of a modelled device, as in model:workers=4,dma=deferred,seed=7,latency-us=500.
#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "firmware/model/device_model.h"

namespace simaai::model {

/// Where an option cannot be read.
struct BadOption {
  std::size_t position = 0; ///< characters from the start of the text
};

/// Reads comma-separated options; an empty text gives the defaults. Without an option: four workers, immediate DMA, no
/// latency, and only accesses outside mapped memory are checked (checking=full asks for all that the model can detect).
///
///   workers=1..4  dma=immediate|deferred  seed=N  latency-us=N  checking=bounds|full  flags=N
///
/// `flags` limits the packet flags that the device knows, as an older firmware would. Repeated and unknown options are
/// refused. Reentrant.
[[nodiscard]] std::variant<ModelConfig, BadOption> parse_options(std::string_view text) noexcept;

} // namespace simaai::model
