// SPDX-License-Identifier: LGPL-2.1-or-later
// Small things that the files of the runtime share.
#pragma once

#include <cstdint>

#include <simaai/runtime/error.h>

namespace simaai::runtime {

[[nodiscard]] constexpr Error make_error(ErrorCode code, std::int64_t expected = 0,
                                         std::int64_t found = 0, int system_error = 0) noexcept {
  Error error;
  error.code = code;
  error.expected = expected;
  error.found = found;
  error.system_error = system_error;
  return error;
}

[[nodiscard]] constexpr Error on_port(Error error, Port port) noexcept {
  error.port = port;
  return error;
}

/// Sizes beyond the signed range are reported as its largest value.
[[nodiscard]] constexpr std::int64_t clamp(std::uint64_t value) noexcept {
  return value > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(value);
}

} // namespace simaai::runtime
