// SPDX-License-Identifier: LGPL-2.1-or-later
// Golden packets: hexadecimal lines, each with an optional remark behind four blanks.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "ev74/codec_suite.h"
#include "ev74/packet_reader.h"

namespace simaai::test {

/// The W and C axes of a rank 2 tensor as one tile grid.
inline kernels::MlaTiled map_wc(std::int64_t tile_w, std::int64_t tile_c,
                                kernels::ChannelStorage channels) {
  return {{-1, -1, 0, 1}, {1, 1, tile_w, tile_c}, channels};
}

/// Encodes the request without addresses and compares it with the golden byte for byte.
template <class Codec> void expect_packet(const GeneratedCase& request, std::string_view golden) {
  std::string hex;
  std::istringstream lines{std::string(golden)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start != std::string::npos)
      hex += line.substr(start, line.find("    ", start) - start) + "\n";
  }
  const auto expected = from_hex(hex);
  const auto found = relocatable_bytes<Codec>(request);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t at = 0; at < found.size(); ++at)
    EXPECT_EQ(found[at], expected[at]) << "byte " << at;
}

} // namespace simaai::test
