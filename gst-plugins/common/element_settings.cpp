// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties of the op elements.
#include "element_settings.h"

#include <algorithm>
#include <limits>

#include "element_stats.h"

namespace simaai::gst {
namespace {

/// Value of int8-channel-padding that means "not set": one below the int8 range.
constexpr int kPaddingUnset = std::numeric_limits<std::int8_t>::min() - 1;
constexpr guint kMostJobTimeoutMs = 3'600'000;
constexpr guint kDefaultJobTimeoutMs = 1000;

GType register_backend() {
  static const GEnumValue values[] = {
      {static_cast<int>(BackendChoice::Auto), "Best backend that is available", "auto"},
      {static_cast<int>(BackendChoice::A65), "Host CPU (NEON, AVX2, AVX-512 or scalar)", "a65"},
      {static_cast<int>(BackendChoice::Ev74), "EV74 vision processor", "ev74"},
      {0, nullptr, nullptr},
  };
  return g_enum_register_static("GstSimaaiBackend", values);
}

GType register_channel_storage() {
  static const GEnumValue values[] = {
      {static_cast<int>(StorageChoice::Auto),
       "pad16, but compact for int8 without int8-channel-padding", "auto"},
      {static_cast<int>(StorageChoice::Compact), "Store the channels of the tile and no more",
       "compact"},
      {static_cast<int>(StorageChoice::PadTo16), "Store channels in multiples of 16", "pad16"},
      {0, nullptr, nullptr},
  };
  return g_enum_register_static("GstSimaaiChannelStorage", values);
}

constexpr auto kFlags =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
constexpr auto kReadFlags = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);

GParamSpec* four_ints(const char* name, const char* nick, const char* blurb, const char* item,
                      int lowest, int highest, int fallback) {
  return gst_param_spec_array(name, nick, blurb,
                              g_param_spec_int(item, item, item, lowest, highest, fallback, kFlags),
                              kFlags);
}

void read_list(IntList& list, const GValue* value) noexcept {
  list.count = gst_value_array_get_size(value);
  const std::size_t kept = std::min(list.count, list.values.size());
  for (std::size_t i = 0; i < kept; ++i)
    list.values[i] = g_value_get_int(gst_value_array_get_value(value, static_cast<guint>(i)));
}

void write_list(const IntList& list, GValue* value) noexcept {
  const std::size_t kept = std::min(list.count, list.values.size());
  for (std::size_t i = 0; i < kept; ++i) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_INT);
    g_value_set_int(&item, list.values[i]);
    gst_value_array_append_and_take_value(value, &item);
  }
}

std::string wrong_count(const char* name, const IntList& list) {
  if (list.count == 0 || list.count == 4)
    return {};
  return std::string("property ") + name + " has " + std::to_string(list.count) +
         " entries; expected 4 (D, H, W, C)";
}

} // namespace

std::optional<std::array<int, 4>> IntList::four() const noexcept {
  if (count != 4)
    return std::nullopt;
  return std::array<int, 4>{values[0], values[1], values[2], values[3]};
}

TileSettings ElementSettings::tile() const noexcept {
  TileSettings tile;
  tile.axes = tile_axes.four();
  tile.shape = tile_shape.four();
  switch (storage) {
  case StorageChoice::Auto:
    break;
  case StorageChoice::Compact:
    tile.storage = kernels::ChannelStorage::Compact;
    break;
  case StorageChoice::PadTo16:
    tile.storage = kernels::ChannelStorage::PadTo16;
    break;
  }
  tile.has_fill = channel_padding.has_value();
  return tile;
}

std::string ElementSettings::problem() const {
  std::string text = pool.problem();
  if (text.empty())
    text = wrong_count("tile-axes", tile_axes);
  return text.empty() ? wrong_count("tile-shape", tile_shape) : text;
}

void install_common_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kPropBackend,
      g_param_spec_enum("backend", "Backend", "Processor that runs the operation",
                        GST_TYPE_SIMAAI_BACKEND, static_cast<int>(BackendChoice::Auto), kFlags));
  g_object_class_install_property(
      klass, kPropDevice,
      g_param_spec_string("device", "Device",
                          "EV74 to use: unix:PATH of a device server, dev:PATH of a driver, or "
                          "model:OPTIONS for the model inside this process. Not set: backend ev74 "
                          "takes model:, backend auto takes a65. Backend auto never takes model:",
                          nullptr, kFlags));
  g_object_class_install_property(
      klass, kPropJobTimeout,
      g_param_spec_uint("job-timeout", "Job timeout",
                        "Milliseconds that a job may take on the device before the element stops "
                        "with an error. The buffers of such a job are kept until the device is "
                        "done with them",
                        1, kMostJobTimeoutMs, kDefaultJobTimeoutMs, kFlags));
  g_object_class_install_property(
      klass, kPropAsyncDepth,
      g_param_spec_uint("async-depth", "Asynchronous depth",
                        "Buffers that may be on their way through a device. 1: the streaming "
                        "thread waits for each job. More: a task on the source pad pushes each "
                        "output as soon as its job has ended, in order. Backend a65 works on the "
                        "streaming thread always",
                        1, kMostAsyncDepth, 1, kFlags));
  g_object_class_install_property(
      klass, kPropRequireZeroCopy,
      g_param_spec_boolean("require-zero-copy", "Require zero copy",
                           "Stop with an error where a buffer would have to be copied before or "
                           "after the operation (several memories, misaligned memory) instead of "
                           "copying it and counting the copy in stats",
                           FALSE, kFlags));
  g_object_class_install_property(
      klass, kPropSingleMemory,
      g_param_spec_boolean("single-memory", "Single memory",
                           "Put all tensors of a set into one memory, with an offset for each in "
                           "the caps, instead of a memory each. Downstream caps win",
                           FALSE, kFlags));
  install_pool_limits(klass, kPropMinBuffers, kPropMaxBuffers);
  g_object_class_install_property(
      klass, kPropActiveBackend,
      g_param_spec_string("active-backend", "Active backend",
                          "Backend in use: a65 or ev74; null before the element is started",
                          nullptr, kReadFlags));
  install_stats_property(
      klass, kPropStats,
      "Counters since the element was started: frames, bytes-in, bytes-out, copies, "
      "allocations (all uint64); memory and backend (strings); p50-ns, p95-ns, "
      "p99-ns and max-ns (uint64, processing time a buffer in nanoseconds, within 1 %); "
      "in-flight (uint64); queued-p50-ns, device-p50-ns and return-p50-ns (uint64, parts of a "
      "job); last-pts, last-submit-ns, last-start-ns, last-done-ns and last-retire-ns (uint64)");
}

void install_op_properties(GObjectClass* klass, const OpTraits& traits) {
  if (traits.output != PortKind::Tiled)
    return;
  g_object_class_install_property(
      klass, kPropTileAxes,
      four_ints("tile-axes", "Tile axes",
                "Logical axis of D, H, W and C, counted from the outermost, -1 for an absent axis, "
                "such as <-1,1,2,3>. Not set: the trailing axes are H, W, C. Downstream caps win",
                "axis", -1, 5, -1));
  g_object_class_install_property(
      klass, kPropTileShape,
      four_ints("tile-shape", "Tile shape",
                "Extents of a tile along D, H, W and C in elements, such as <1,16,16,16>. Not set: "
                "1 along D and up to 16 along the others. Downstream caps win",
                "extent", 1, G_MAXINT, 1));
  g_object_class_install_property(
      klass, kPropChannelStorage,
      g_param_spec_enum("channel-storage", "Channel storage",
                        "How many channels a tile stores. Downstream caps win",
                        GST_TYPE_SIMAAI_CHANNEL_STORAGE, static_cast<int>(StorageChoice::Auto),
                        kFlags));
  if (traits.takes_channel_fill)
    g_object_class_install_property(
        klass, kPropChannelPadding,
        g_param_spec_int("int8-channel-padding", "Channel padding of int8",
                         "Raw byte (-128 to 127) that fills the channel padding of int8 tensors "
                         "with channel-storage pad16, usually the zero point; -129: not set. Must "
                         "not be set for bfloat16, whose padding is zero",
                         kPaddingUnset, std::numeric_limits<std::int8_t>::max(), kPaddingUnset,
                         kFlags));
}

bool set_setting(ElementSettings& settings, guint id, const GValue* value) noexcept {
  switch (id) {
  case kPropBackend:
    settings.backend = static_cast<BackendChoice>(g_value_get_enum(value));
    return true;
  case kPropRequireZeroCopy:
    settings.require_zero_copy = g_value_get_boolean(value) != FALSE;
    return true;
  case kPropTileAxes:
    read_list(settings.tile_axes, value);
    return true;
  case kPropTileShape:
    read_list(settings.tile_shape, value);
    return true;
  case kPropChannelStorage:
    settings.storage = static_cast<StorageChoice>(g_value_get_enum(value));
    return true;
  case kPropChannelPadding: {
    const int padding = g_value_get_int(value);
    settings.channel_padding =
        padding == kPaddingUnset ? std::nullopt : std::optional(static_cast<std::int8_t>(padding));
    return true;
  }
  case kPropDevice: {
    const gchar* text = g_value_get_string(value);
    settings.device = text != nullptr ? text : "";
    return true;
  }
  case kPropJobTimeout:
    settings.job_timeout_ms = g_value_get_uint(value);
    return true;
  case kPropAsyncDepth:
    settings.async_depth = g_value_get_uint(value);
    return true;
  case kPropMinBuffers:
    settings.pool.min_buffers = g_value_get_uint(value);
    return true;
  case kPropMaxBuffers:
    settings.pool.max_buffers = g_value_get_uint(value);
    return true;
  case kPropSingleMemory:
    settings.single_memory = g_value_get_boolean(value) != FALSE;
    return true;
  default: // an id, not an enumerator: GObject passes any number
    return false;
  }
}

bool get_setting(const ElementSettings& settings, guint id, GValue* value) noexcept {
  switch (id) {
  case kPropBackend:
    g_value_set_enum(value, static_cast<int>(settings.backend));
    return true;
  case kPropRequireZeroCopy:
    g_value_set_boolean(value, settings.require_zero_copy);
    return true;
  case kPropTileAxes:
    write_list(settings.tile_axes, value);
    return true;
  case kPropTileShape:
    write_list(settings.tile_shape, value);
    return true;
  case kPropChannelStorage:
    g_value_set_enum(value, static_cast<int>(settings.storage));
    return true;
  case kPropChannelPadding:
    g_value_set_int(value,
                    settings.channel_padding ? int{*settings.channel_padding} : kPaddingUnset);
    return true;
  case kPropDevice:
    g_value_set_string(value, settings.device.empty() ? nullptr : settings.device.c_str());
    return true;
  case kPropJobTimeout:
    g_value_set_uint(value, settings.job_timeout_ms);
    return true;
  case kPropAsyncDepth:
    g_value_set_uint(value, settings.async_depth);
    return true;
  case kPropMinBuffers:
    g_value_set_uint(value, settings.pool.min_buffers);
    return true;
  case kPropMaxBuffers:
    g_value_set_uint(value, settings.pool.max_buffers);
    return true;
  case kPropSingleMemory:
    g_value_set_boolean(value, settings.single_memory);
    return true;
  default:
    return false;
  }
}

} // namespace simaai::gst

GType gst_simaai_backend_get_type(void) {
  static const GType type = simaai::gst::register_backend();
  return type;
}

GType gst_simaai_channel_storage_get_type(void) {
  static const GType type = simaai::gst::register_channel_storage();
  return type;
}
