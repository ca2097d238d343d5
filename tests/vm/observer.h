// SPDX-License-Identifier: LGPL-2.1-or-later
// What tests of the virtual machine ask the kernel and the log of sync_guard.cpp.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include <sys/types.h>

namespace simaai::test {

/// DMA-BUFs that exist in this kernel, by /sys/kernel/debug/dma_buf/bufinfo; SIZE_MAX where that cannot be read.
[[nodiscard]] std::size_t living_dma_bufs();

/// Who made the DMA-BUF behind a descriptor of this process, such as "system" for the heap of that name. Empty for what is no
/// DMA-BUF.
[[nodiscard]] std::string exporter_of(int fd);

/// SYNC brackets of a process since forget_brackets() by mode: read, write, both. {{"unbalanced", -1}} where one is open or was
/// ended without a start.
[[nodiscard]] std::map<std::string, int> brackets(pid_t pid);
void forget_brackets();

/// Registers a check that at the end of the program there are as many DMA-BUFs as at its start.
void expect_no_dma_buf_left();

} // namespace simaai::test
