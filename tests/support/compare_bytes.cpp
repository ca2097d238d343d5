// SPDX-License-Identifier: LGPL-2.1-or-later
// Byte comparison for tests.
#include "compare_bytes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace simaai::test {

namespace {

std::string around(std::span<const std::uint8_t> bytes, std::size_t offset) {
  std::string text;
  const std::size_t first = offset - std::min<std::size_t>(offset, 4);
  for (std::size_t at = first; at < std::min(bytes.size(), first + 16); ++at) {
    char digits[8];
    std::snprintf(digits, sizeof digits, at == offset ? " [%02x]" : " %02x", bytes[at]);
    text += digits;
  }
  return text;
}

} // namespace

::testing::AssertionResult same_bytes(std::span<const std::uint8_t> expected,
                                      std::span<const std::uint8_t> found) {
  if (expected.size() != found.size())
    return ::testing::AssertionFailure()
           << "expected " << expected.size() << " bytes, found " << found.size();
  if (expected.empty() || std::memcmp(expected.data(), found.data(), expected.size()) == 0)
    return ::testing::AssertionSuccess();
  std::size_t first = expected.size();
  std::size_t differing = 0;
  for (std::size_t at = expected.size(); at-- > 0;)
    if (expected[at] != found[at]) {
      first = at;
      ++differing;
    }
  return ::testing::AssertionFailure()
         << differing << " of " << expected.size() << " bytes differ, first at offset " << first
         << "\n  expected:" << around(expected, first) << "\n  found:   " << around(found, first);
}

} // namespace simaai::test
