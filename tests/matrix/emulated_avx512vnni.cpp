// SPDX-License-Identifier: LGPL-2.1-or-later
// The AVX-512 VNNI file of the library, compiled over SIMDe instead of the machine's intrinsics.
#include "emulated_avx512.h"
#include "matrix/simd/avx512vnni.cpp"
