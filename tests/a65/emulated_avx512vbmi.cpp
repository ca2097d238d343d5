// SPDX-License-Identifier: LGPL-2.1-or-later
// The file of this level, compiled over SIMDe instead of the machine's intrinsics.
#include "a65/emulated_avx512.h"
#include "a65/simd/rows_avx512vbmi.cpp"
