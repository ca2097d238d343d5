// SPDX-License-Identifier: LGPL-2.1-or-later
// What simaainpysrc does between start and stop: which file comes next, its caps, its buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <gst/base/gstbasesrc.h>
#include <gst/gst.h>

#include "common/caps_spec.h"
#include "common/element_stats.h"
#include "common/gst_ptr.h"
#include "common/output_pool.h"
#include "file_series.h"
#include "npy_file.h"

namespace simaai::gst {

/// Values of the properties. Copied under the object lock when the element starts.
struct NpySourceSettings {
  std::string location;
  std::int64_t start_index = 0;
  std::int64_t stop_index = -1; ///< -1: the last file before the first one that is missing
  bool loop = false;
  std::optional<kernels::DType> reinterpret;
  std::pair<int, int> framerate{0, 1}; ///< numerator 0: no timestamps
  PoolLimits pool;
};

/// Thread-bound to the streaming thread, apart from construction, start() and stats().
class NpySource {
public:
  explicit NpySource(GstBaseSrc* element)
      : element_(element), outputs_(GST_ELEMENT_CAST(element)) {}

  /// Opens the first file. Posts an error and returns false where that is not possible.
  [[nodiscard]] bool start(const NpySourceSettings& settings, GstPtr<GstCaps> forced_caps);
  void stop();

  /// Caps of the file that comes next, transfer full; null before start().
  [[nodiscard]] GstPtr<GstCaps> caps() const;
  /// Bytes of the tensor that comes next.
  [[nodiscard]] std::uint64_t payload_bytes() const;
  /// Keeps a pool of downstream and makes one otherwise: large blocks of malloc fault on each use.
  [[nodiscard]] bool decide_allocation(GstQuery* query);
  /// Reads the next tensor into a buffer of the negotiated pool. Posts an error where it fails.
  [[nodiscard]] GstFlowReturn create(GstPtr<GstBuffer>& into);
  /// Any thread, without the object lock.
  [[nodiscard]] GstStructure* stats() const;

private:
  enum class Step { Opened, End, Failed };

  [[nodiscard]] Step open_next();
  [[nodiscard]] Step open_index();
  [[nodiscard]] bool describe(const NpyFile& file);
  [[nodiscard]] std::optional<std::string> check_physical(const NpyFile& file) const;
  [[nodiscard]] GstFlowReturn allocate(std::uint64_t bytes, GstPtr<GstBuffer>& into);
  [[nodiscard]] bool read_into(GstBuffer* buffer) const;
  void stamp(GstBuffer* buffer);
  void fail(ErrorKind kind, std::string reason) const;

  GstBaseSrc* element_;
  NpySourceSettings settings_;
  FileSeries series_;
  std::optional<TensorInfo> forced_; ///< tensor that the physical bytes of the files stand for
  std::optional<NpyFile> file_;      ///< opened, header checked, not yet pushed
  GstPtr<GstCaps> caps_;             ///< of file_
  std::int64_t index_ = 0;           ///< of the file that is opened next
  std::pair<int, int> framerate_{0, 1};
  std::uint64_t frames_ = 0;
  ElementStats stats_;
  OutputPool outputs_;
};

} // namespace simaai::gst
