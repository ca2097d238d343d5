// SPDX-License-Identifier: LGPL-2.1-or-later
// Execution of one case on bytes written out by hand.
#include "golden_bytes.h"

#include <utility>

namespace simaai::test {

oracle::Bytes words32(std::initializer_list<std::uint32_t> words) {
  oracle::Bytes bytes;
  for (const std::uint32_t word : words)
    for (int shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<std::uint8_t>(word >> shift));
  return bytes;
}

oracle::Bytes words16(std::initializer_list<std::uint16_t> words) {
  oracle::Bytes bytes;
  for (const std::uint16_t word : words) {
    bytes.push_back(static_cast<std::uint8_t>(word));
    bytes.push_back(static_cast<std::uint8_t>(word >> 8));
  }
  return bytes;
}

oracle::Bytes zeros(std::size_t count) { return oracle::Bytes(count, 0); }

oracle::Bytes operator+(oracle::Bytes left, const oracle::Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

::testing::AssertionResult run_golden(const Case& c, const oracle::Bytes& input,
                                      const oracle::Bytes& output, oracle::Bytes background) {
  if (background.empty())
    background.assign(output.size(), 0xee);
  return run_case(operation_under_test(), c, {input, std::move(background), output});
}

} // namespace simaai::test
