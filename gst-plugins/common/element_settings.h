// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties of the op elements: installation, storage and checks.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include <gst/gst.h>

#include "export.h"
#include "negotiation.h"
#include "op_adapter.h"
#include "output_pool.h"

G_BEGIN_DECLS
/// Values: auto (0), a65 (1), ev74 (2).
#define GST_TYPE_SIMAAI_BACKEND (gst_simaai_backend_get_type())
SIMAAI_GST_API GType gst_simaai_backend_get_type(void);
/// Values: auto (0), compact (1), pad16 (2).
#define GST_TYPE_SIMAAI_CHANNEL_STORAGE (gst_simaai_channel_storage_get_type())
SIMAAI_GST_API GType gst_simaai_channel_storage_get_type(void);
G_END_DECLS

namespace simaai::gst {

enum class BackendChoice : int { Auto = 0, A65 = 1, Ev74 = 2 };
enum class StorageChoice : int { Auto = 0, Compact = 1, PadTo16 = 2 };

/// Property identifiers of the base class.
inline constexpr guint kPropBackend = 1;
inline constexpr guint kPropRequireZeroCopy = 2;
inline constexpr guint kPropTileAxes = 3;
inline constexpr guint kPropTileShape = 4;
inline constexpr guint kPropChannelStorage = 5;
inline constexpr guint kPropChannelPadding = 6;
inline constexpr guint kPropActiveBackend = 7;
inline constexpr guint kPropStats = 8;
inline constexpr guint kPropDevice = 9;
inline constexpr guint kPropJobTimeout = 10;
inline constexpr guint kPropAsyncDepth = 11;
inline constexpr guint kPropSingleMemory = 12;
inline constexpr guint kPropMinBuffers = 13;
inline constexpr guint kPropMaxBuffers = 14;

/// Jobs of one element that may be in flight.
inline constexpr guint kMostAsyncDepth = 16;

/// An array property as it was set: possibly of a wrong length, which is refused when the element
/// starts, by name.
struct IntList {
  std::array<int, 16> values{};
  std::size_t count = 0; ///< stated count; 0: not set

  [[nodiscard]] std::optional<std::array<int, 4>> four() const noexcept;
};

struct ElementSettings {
  BackendChoice backend = BackendChoice::Auto;
  bool require_zero_copy = false;
  IntList tile_axes;
  IntList tile_shape;
  StorageChoice storage = StorageChoice::Auto;
  std::optional<std::int8_t> channel_padding;
  std::string device;          ///< URI; empty: not set
  guint job_timeout_ms = 1000; ///< of one job
  guint async_depth = 1;       ///< jobs in flight; 1: the streaming thread waits
  bool single_memory = false;  ///< tensors of a set in one memory
  PoolLimits pool;             ///< of the outputs

  [[nodiscard]] TileSettings tile() const noexcept;
  [[nodiscard]] OpParams params() const noexcept { return {channel_padding}; }
  /// Why the element cannot start with these values; empty where it can.
  [[nodiscard]] std::string problem() const;
};

/// Installs backend, device, job-timeout, async-depth, require-zero-copy, single-memory, min-buffers, max-buffers,
/// active-backend and stats.
void install_common_properties(GObjectClass* klass);
/// Installs the properties that this op has on top.
void install_op_properties(GObjectClass* klass, const OpTraits& traits);

/// Both return false for an unknown property. The caller holds the object lock.
[[nodiscard]] bool set_setting(ElementSettings& settings, guint id, const GValue* value) noexcept;
[[nodiscard]] bool get_setting(const ElementSettings& settings, guint id, GValue* value) noexcept;

} // namespace simaai::gst
