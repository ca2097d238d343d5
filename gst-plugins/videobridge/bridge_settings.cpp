// SPDX-License-Identifier: LGPL-2.1-or-later
// Storage, checks and installation of the properties of the video elements.
#include "bridge_settings.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "common/element_stats.h"

namespace simaai::gst {
namespace {

constexpr std::array kHwcFirst{AxisOrder::Hwc, AxisOrder::Chw};
constexpr std::array kChwFirst{AxisOrder::Chw, AxisOrder::Hwc};

constexpr GEnumValue kOrderValues[] = {
    {0, "As the picture lies in memory, or as the caps say", "auto"},
    {1, "Height, width, channels", "hwc"},
    {2, "Channels, height, width", "chw"},
    {0, nullptr, nullptr},
};

GType order_enum_type() {
  static const GType type = g_enum_register_static("GstSimaaiAxisOrder", kOrderValues);
  return type;
}

/// A number of whatever type the caller's language made of it; NaN where it is none.
double number_of(const GValue* item) {
  GValue converted = G_VALUE_INIT;
  g_value_init(&converted, G_TYPE_DOUBLE);
  if (g_value_transform(item, &converted) == FALSE)
    return std::numeric_limits<double>::quiet_NaN();
  return g_value_get_double(&converted);
}

std::vector<double> numbers_of(const GValue* array) {
  std::vector<double> numbers(gst_value_array_get_size(array));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = number_of(gst_value_array_get_value(array, static_cast<guint>(i)));
  return numbers;
}

void append_numbers(GValue* array, const std::vector<double>& numbers) {
  for (const double number : numbers) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_DOUBLE);
    g_value_set_double(&item, number);
    gst_value_array_append_and_take_value(array, &item);
  }
}

std::optional<std::string> spread(const std::vector<double>& values, const char* name,
                                  std::size_t channels, bool nonzero,
                                  std::array<float, kMaxChannels>& into) {
  if (values.size() != 1 && values.size() != channels)
    return std::string("property ") + name + ": expected 1 value or " + std::to_string(channels) +
           ", one a channel, found " + std::to_string(values.size());
  for (std::size_t c = 0; c < channels; ++c) {
    into[c] = static_cast<float>(values[values.size() == 1 ? 0 : c]);
    if (!std::isfinite(into[c]) || (nonzero && into[c] == 0.0F))
      return std::string("property ") + name + ": expected a " + (nonzero ? "nonzero " : "") +
             "number within binary32 for channel " + std::to_string(c);
  }
  return std::nullopt;
}

bool all_equal(const std::vector<double>& values, double wanted) {
  return std::all_of(values.begin(), values.end(), [wanted](double v) { return v == wanted; });
}

} // namespace

bool BridgeSettings::identity() const noexcept {
  return all_equal(mean, 0.0) && all_equal(scale, 1.0);
}

std::span<const AxisOrder> BridgeSettings::orders(AxisOrder natural) const noexcept {
  const bool hwc = axis_order.value_or(natural) == AxisOrder::Hwc;
  const std::span<const AxisOrder> both = hwc ? kHwcFirst : kChwFirst;
  return axis_order ? both.first(1) : both;
}

std::variant<PixelParams, std::string> BridgeSettings::params(std::size_t channels,
                                                              bool invertible) const {
  PixelParams params;
  if (auto refused = spread(mean, "mean", channels, false, params.mean))
    return *refused;
  if (auto refused = spread(scale, "scale", channels, invertible, params.scale))
    return *refused;
  params.quant_scale = static_cast<float>(quant_scale);
  params.quant_zero_point = quant_zero_point;
  return params;
}

void install_bridge_properties(GObjectClass* klass, const BridgePropertyTexts& texts) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  // No element specification: it would replace integers of other languages by its default.
  g_object_class_install_property(klass, PropBridgeMean,
                                  gst_param_spec_array("mean", "Mean", texts.mean, nullptr, flags));
  g_object_class_install_property(
      klass, PropBridgeScale, gst_param_spec_array("scale", "Scale", texts.scale, nullptr, flags));
  g_object_class_install_property(klass, PropBridgeQuantScale,
                                  g_param_spec_double("quant-scale", "Quantisation scale",
                                                      texts.quant_scale, FLT_MIN, FLT_MAX, 1.0,
                                                      flags));
  g_object_class_install_property(klass, PropBridgeQuantZeroPoint,
                                  g_param_spec_int("quant-zero-point", "Quantisation zero point",
                                                   texts.quant_zero_point, -128, 127, -128, flags));
  g_object_class_install_property(
      klass, PropBridgeAxisOrder,
      g_param_spec_enum("axis-order", "Axis order", texts.axis_order, order_enum_type(), 0, flags));
  g_object_class_install_property(klass, PropBridgeRequireZeroCopy,
                                  g_param_spec_boolean("require-zero-copy", "Require zero copy",
                                                       texts.require_zero_copy, FALSE, flags));
  install_stats_property(
      klass, PropBridgeStats,
      "Counters since the element was started: frames, bytes-in, bytes-out, copies (uint8 pictures "
      "that had to be copied), conversions, allocations, p50-ns, p95-ns, p99-ns and max-ns of the "
      "processing time (all uint64); memory and memory-source (strings) of new outputs");
  install_pool_limits(klass, PropBridgeMinBuffers, PropBridgeMaxBuffers);
  gst_type_mark_as_plugin_api(order_enum_type(), static_cast<GstPluginAPIFlags>(0));
}

bool set_bridge_property(BridgeSettings& settings, guint id, const GValue* value) {
  switch (id) {
  case PropBridgeMean:
    settings.mean = numbers_of(value);
    return true;
  case PropBridgeScale:
    settings.scale = numbers_of(value);
    return true;
  case PropBridgeQuantScale:
    settings.quant_scale = g_value_get_double(value);
    return true;
  case PropBridgeQuantZeroPoint:
    settings.quant_zero_point = g_value_get_int(value);
    return true;
  case PropBridgeAxisOrder:
    settings.axis_order.reset();
    if (g_value_get_enum(value) != 0)
      settings.axis_order = g_value_get_enum(value) == 1 ? AxisOrder::Hwc : AxisOrder::Chw;
    return true;
  case PropBridgeRequireZeroCopy:
    settings.require_zero_copy = g_value_get_boolean(value) != FALSE;
    return true;
  case PropBridgeMinBuffers:
    settings.pool.min_buffers = g_value_get_uint(value);
    return true;
  case PropBridgeMaxBuffers:
    settings.pool.max_buffers = g_value_get_uint(value);
    return true;
  default:
    return false;
  }
}

bool get_bridge_property(const BridgeSettings& settings, guint id, GValue* value) {
  switch (id) {
  case PropBridgeMean:
    append_numbers(value, settings.mean);
    return true;
  case PropBridgeScale:
    append_numbers(value, settings.scale);
    return true;
  case PropBridgeQuantScale:
    g_value_set_double(value, settings.quant_scale);
    return true;
  case PropBridgeQuantZeroPoint:
    g_value_set_int(value, settings.quant_zero_point);
    return true;
  case PropBridgeAxisOrder:
    g_value_set_enum(value, !settings.axis_order                     ? 0
                            : *settings.axis_order == AxisOrder::Hwc ? 1
                                                                     : 2);
    return true;
  case PropBridgeRequireZeroCopy:
    g_value_set_boolean(value, settings.require_zero_copy);
    return true;
  case PropBridgeMinBuffers:
    g_value_set_uint(value, settings.pool.min_buffers);
    return true;
  case PropBridgeMaxBuffers:
    g_value_set_uint(value, settings.pool.max_buffers);
    return true;
  default:
    return false;
  }
}

} // namespace simaai::gst
