// SPDX-License-Identifier: LGPL-2.1-or-later
// What is behind the opaque types of libgstsimaaitensor-1.0.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include <gst/simaai/tensor.h>

#include "common/caps_spec.h"
#include "common/port_layout.h"

struct _GstSimaaiTensorInfo {
  simaai::gst::TensorInfo tensor;
  /// What getters of arrays point to; refresh() follows each change of `tensor`.
  std::array<gint, GST_SIMAAI_MAX_RANK> shape{};
  std::array<gint64, GST_SIMAAI_MAX_RANK> strides{};
  bool has_strides = false;
  std::array<gint, 4> tile_axes{};
  std::array<gint, 4> tile_shape{};

  void refresh() noexcept;
};

struct _GstSimaaiTensorSet {
  simaai::gst::TensorSet set;
  std::optional<std::pair<int, int>> framerate; ///< of a set; a plain tensor has its own
  bool is_own = false; ///< made by calls, and so to be written, not read from caps of somebody else
  /// Places of the tensors, made anew after a change; nothing where there can be no buffer.
  std::optional<simaai::gst::PortLayout> layout;
  std::string problem;    ///< why not
  std::string unwritable; ///< why no tensor may be written; empty: all may

  void refresh();
};

namespace simaai::gst {

/// Sets a GError of the library.
void set_error(GError** error, GstSimaaiError code, const std::string& reason) noexcept;

/// A fraction of a getter: false where there is none.
bool get_fraction(const std::optional<std::pair<int, int>>& fraction, gint* numerator,
                  gint* denominator) noexcept;
/// A fraction of a setter: none where the denominator is 0.
std::optional<std::pair<int, int>> to_fraction(gint numerator, gint denominator) noexcept;

/// Whether caps that can be read are of one structure without ranges and lists; else with an error set.
bool check_fixed(const GstCaps* caps, GError** error);

} // namespace simaai::gst
