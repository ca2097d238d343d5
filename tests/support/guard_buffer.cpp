// SPDX-License-Identifier: LGPL-2.1-or-later
// Guarded memory by mmap and mprotect.
#include "guard_buffer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <sys/mman.h>
#include <unistd.h>

namespace simaai::test {

namespace {

constexpr std::uint8_t kCanary = 0xc7;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

void require(bool ok, const char* what) {
  if (ok)
    return;
  std::perror(what);
  std::abort();
}

} // namespace

GuardBuffer::GuardBuffer(std::size_t size_bytes, Placement placement) : size_bytes_(size_bytes) {
  const std::size_t page = page_bytes();
  const std::size_t accessible = std::max(page, (size_bytes + page - 1) / page * page);
  mapping_bytes_ = accessible + 2 * page;
  void* mapping = mmap(nullptr, mapping_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  require(mapping != MAP_FAILED, "mmap");
  mapping_ = static_cast<std::uint8_t*>(mapping);
  std::uint8_t* first = mapping_ + page;
  require(mprotect(first, accessible, PROT_READ | PROT_WRITE) == 0, "mprotect");
  payload_ = placement == Placement::AtStart ? first : first + accessible - size_bytes;
  std::fill(first, payload_, kCanary);
  std::fill(payload_ + size_bytes, first + accessible, kCanary);
}

GuardBuffer::~GuardBuffer() { munmap(mapping_, mapping_bytes_); }

std::size_t GuardBuffer::slack_after() const {
  const std::uint8_t* end = mapping_ + mapping_bytes_ - page_bytes();
  return static_cast<std::size_t>(end - (payload_ + size_bytes_));
}

bool GuardBuffer::canaries_intact() const {
  const auto intact = [](std::uint8_t byte) { return byte == kCanary; };
  const std::uint8_t* after = payload_ + size_bytes_;
  return std::all_of(static_cast<const std::uint8_t*>(mapping_) + page_bytes(),
                     static_cast<const std::uint8_t*>(payload_), intact) &&
         std::all_of(after, after + slack_after(), intact);
}

void GuardBuffer::protect_from_writes() {
  const std::size_t page = page_bytes();
  require(mprotect(mapping_ + page, mapping_bytes_ - 2 * page, PROT_READ) == 0, "mprotect");
}

} // namespace simaai::test
