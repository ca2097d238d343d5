// SPDX-License-Identifier: LGPL-2.1-or-later
// Packets of every operation, and ways to spoil them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "oracle/random_tensor.h"

namespace simaai::test {

/// A valid packet of any operation, addresses still zero.
[[nodiscard]] std::vector<std::byte> any_packet(oracle::Random& random);
/// Changes nothing, a bit, a word, the length, or several of them.
void damage(std::vector<std::byte>& packet, oracle::Random& random);

void store_u64(std::vector<std::byte>& packet, std::size_t at, std::uint64_t value);
[[nodiscard]] std::uint64_t load_u64(const std::vector<std::byte>& packet, std::size_t at);

} // namespace simaai::test
