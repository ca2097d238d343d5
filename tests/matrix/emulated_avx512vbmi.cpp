// SPDX-License-Identifier: LGPL-2.1-or-later
// The AVX-512 VBMI file of the library over SIMDe.
#include "emulated_avx512.h"
#include "matrix/simd/avx512vbmi_wire.cpp"
