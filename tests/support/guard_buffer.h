// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory between two inaccessible pages: a read or write outside of it stops the test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace simaai::test {

/// Which end of the payload touches a guard page. AtStart gives a page-aligned address; AtEnd gives
/// the address whose last byte is the last accessible one, so its alignment is that of the size.
enum class Placement : std::uint8_t { AtStart, AtEnd };

/// Owns size_bytes of memory. Accessible bytes beside the payload (the rest of its pages) hold a
/// canary. Both ends are guarded for real only over two placements, so suites run both.
class GuardBuffer {
public:
  GuardBuffer(std::size_t size_bytes, Placement placement);
  ~GuardBuffer();
  GuardBuffer(const GuardBuffer&) = delete;
  GuardBuffer& operator=(const GuardBuffer&) = delete;

  [[nodiscard]] std::uint8_t* data() { return payload_; }
  [[nodiscard]] const std::uint8_t* data() const { return payload_; }
  [[nodiscard]] std::size_t size() const { return size_bytes_; }
  [[nodiscard]] std::span<std::uint8_t> bytes() { return {payload_, size_bytes_}; }
  /// Accessible bytes behind the payload: 0 for AtEnd.
  [[nodiscard]] std::size_t slack_after() const;
  /// True while no canary byte has changed.
  [[nodiscard]] bool canaries_intact() const;
  /// Makes the payload read-only: a later write to it stops the test.
  void protect_from_writes();

private:
  std::uint8_t* mapping_ = nullptr;
  std::size_t mapping_bytes_ = 0;
  std::uint8_t* payload_ = nullptr;
  std::size_t size_bytes_ = 0;
};

} // namespace simaai::test
