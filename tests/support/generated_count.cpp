// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads SIMAAI_TEST_DIVISOR.
#include "generated_count.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace simaai::test {

std::size_t generated_count(std::size_t count) {
  const char* text = std::getenv("SIMAAI_TEST_DIVISOR");
  if (text == nullptr || *text == '\0')
    return count;
  const std::string_view digits = text;
  std::size_t divisor = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), divisor);
  if (read.ptr != digits.data() + digits.size() || divisor == 0)
    throw std::runtime_error("SIMAAI_TEST_DIVISOR is not a number above zero");
  return std::max<std::size_t>(count / divisor, 1);
}

} // namespace simaai::test
