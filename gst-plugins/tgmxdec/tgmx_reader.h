// SPDX-License-Identifier: LGPL-2.1-or-later
// Cuts a byte stream into TGMX matrices: the header of each says how long it is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <gst/base/gstadapter.h>
#include <gst/gst.h>

#include <simaai/kernels/matrix/dyn_matrix.h>

#include "common/gst_ptr.h"

namespace simaai::gst {

/// What the bytes so far allow.
struct TgmxStep {
  enum Kind : std::uint8_t { NeedsMore, Matrix, Refused };
  Kind kind = NeedsMore;
  std::optional<kernels::matrix::DynMatrix> matrix{};
  GstClockTime pts = GST_CLOCK_TIME_NONE; ///< of the buffer that the matrix started in
  bool gathered = false;                  ///< the bytes came in several memories
  std::string reason{};
};

/// Bytes in any pieces, matrices out. Not synchronised.
class TgmxReader {
public:
  TgmxReader() : adapter_(gst_adapter_new()) {}
  ~TgmxReader() { g_object_unref(adapter_); }
  TgmxReader(const TgmxReader&) = delete;
  TgmxReader& operator=(const TgmxReader&) = delete;

  /// Takes the buffer; not after a refusal.
  void push(GstBuffer* buffer) { gst_adapter_push(adapter_, buffer); }
  /// The next matrix, why there is none, or that more bytes are needed. A refusal is final: where
  /// the next matrix would start is not known. What is left is thrown away.
  [[nodiscard]] TgmxStep next();
  /// Whether a refusal was returned since clear().
  [[nodiscard]] bool refused() const noexcept { return refused_; }
  /// Bytes that belong to no complete matrix.
  [[nodiscard]] std::size_t left() const { return gst_adapter_available(adapter_); }
  void clear() {
    gst_adapter_clear(adapter_);
    refused_ = false;
  }

private:
  TgmxStep refuse(const kernels::matrix::DecodeError& error);

  GstAdapter* adapter_;
  bool refused_ = false;
};

} // namespace simaai::gst
