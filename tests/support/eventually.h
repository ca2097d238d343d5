// SPDX-License-Identifier: LGPL-2.1-or-later
// Waiting for what another thread or process does.
#pragma once

#include <chrono>
#include <thread>

namespace simaai::test {

/// Waits until `done()`; false after a minute.
template <class Done> [[nodiscard]] bool eventually(Done done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!done()) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

} // namespace simaai::test
