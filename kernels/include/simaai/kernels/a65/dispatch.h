// SPDX-License-Identifier: LGPL-2.1-or-later
// Which instruction set the A65 kernels use on this machine.
#pragma once

#include <string_view>

#include <simaai/kernels/export.h>

namespace simaai::kernels::a65 {

/// Name of the level that prepare() selects from: "scalar", "avx2", "avx512", "avx512vbmi", "neon".
///
/// The best level of the machine, unless the environment variable SIMAAI_A65_ISA names a lower one
/// that it supports. Read once, at the first call or the first prepare(). A name that is unknown or
/// not supported here is reported once on standard error and the best level is kept. Thread-safe.
[[nodiscard]] SIMAAI_KERNELS_API std::string_view active_instruction_set() noexcept;

} // namespace simaai::kernels::a65
