// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbered file names. The location never reaches a printf function.
#include "file_series.h"

namespace simaai::gst {
namespace {

constexpr std::size_t kMaxWidth = 20;

SeriesError unknown_conversion(std::string_view location, std::size_t at) {
  return {"location '" + std::string(location) + "': expected %d, %5d, %05d or %% at character " +
          std::to_string(at) + ", found '" + std::string(location.substr(at, 6)) + "'"};
}

} // namespace

std::variant<FileSeries, SeriesError> FileSeries::parse(std::string_view location) {
  FileSeries series;
  std::size_t at = 0;
  while (at < location.size()) {
    std::string& part = series.numbered_ ? series.after_ : series.before_;
    const std::size_t start = at;
    if (location[at] != '%') {
      part += location[at++];
      continue;
    }
    if (location.substr(at, 2) == "%%") {
      part += '%';
      at += 2;
      continue;
    }
    ++at;
    const bool zero = location.substr(at, 1) == "0";
    std::size_t width = 0;
    while (at < location.size() && location[at] >= '0' && location[at] <= '9' && width <= kMaxWidth)
      width = width * 10 + static_cast<std::size_t>(location[at++] - '0');
    if (at >= location.size() || location[at] != 'd' || width > kMaxWidth)
      return unknown_conversion(location, start);
    if (series.numbered_)
      return SeriesError{"location '" + std::string(location) +
                         "': expected one %d, found a second one at character " +
                         std::to_string(start)};
    ++at;
    series.width_ = width;
    series.fill_ = zero ? '0' : ' ';
    series.numbered_ = true;
  }
  return series;
}

std::string FileSeries::path(std::int64_t index) const {
  if (!numbered_)
    return before_;
  const std::string digits = std::to_string(index);
  const std::size_t fill = width_ > digits.size() ? width_ - digits.size() : 0;
  return before_ + std::string(fill, fill_) + digits + after_;
}

} // namespace simaai::gst
