// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties that both video elements have: mean, scale, quantisation, axis order, zero copy.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <gst/gst.h>

#include "common/output_pool.h"
#include "picture_format.h"
#include "pixel_codec.h"

namespace simaai::gst {

enum BridgePropertyId : guint {
  PropBridgeMean = 1,
  PropBridgeScale,
  PropBridgeQuantScale,
  PropBridgeQuantZeroPoint,
  PropBridgeAxisOrder,
  PropBridgeRequireZeroCopy,
  PropBridgeStats,
  PropBridgeMinBuffers,
  PropBridgeMaxBuffers,
};

/// Values of the properties; protected by the object lock of the element.
struct BridgeSettings {
  std::vector<double> mean{0.0};
  std::vector<double> scale{1.0};
  double quant_scale = 1.0;
  int quant_zero_point = -128;
  std::optional<AxisOrder> axis_order;
  bool require_zero_copy = false;
  PoolLimits pool;

  /// Whether every element is the sample itself, apart from its type.
  [[nodiscard]] bool identity() const noexcept;
  /// The orders that are allowed, the preferred one first.
  [[nodiscard]] std::span<const AxisOrder> orders(AxisOrder natural) const noexcept;
  /// Parameters for this many channels, each value rounded to binary32 once; or why there are none.
  /// An `invertible` scale is not zero.
  [[nodiscard]] std::variant<PixelParams, std::string> params(std::size_t channels,
                                                              bool invertible) const;
};

/// Texts that differ between the directions.
struct BridgePropertyTexts {
  const char* mean;
  const char* scale;
  const char* quant_scale;
  const char* quant_zero_point;
  const char* axis_order;
  const char* require_zero_copy;
};

void install_bridge_properties(GObjectClass* klass, const BridgePropertyTexts& texts);

/// Both return false for an unknown property; stats is the element's. The caller holds the object lock.
[[nodiscard]] bool set_bridge_property(BridgeSettings& settings, guint id, const GValue* value);
[[nodiscard]] bool get_bridge_property(const BridgeSettings& settings, guint id, GValue* value);

} // namespace simaai::gst
