// SPDX-License-Identifier: LGPL-2.1-or-later
// File names of a numbered series: one %d conversion (flags 0, width) in a location.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace simaai::gst {

/// Why a location is no series pattern.
struct SeriesError {
  std::string reason;
};

/// One file, or the files that a pattern such as frame-%05d.npy names. `%%` stands for a percent sign.
class FileSeries {
public:
  [[nodiscard]] static std::variant<FileSeries, SeriesError> parse(std::string_view location);

  /// Whether the location holds a number, so that paths differ.
  [[nodiscard]] bool numbered() const noexcept { return numbered_; }
  /// The file of `index`, which is at least 0 and ignored where the location holds no number.
  [[nodiscard]] std::string path(std::int64_t index) const;

private:
  std::string before_;
  std::string after_;
  std::size_t width_ = 0;
  char fill_ = ' ';
  bool numbered_ = false;
};

} // namespace simaai::gst
