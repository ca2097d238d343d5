// SPDX-License-Identifier: LGPL-2.1-or-later
// The intrinsics of AVX-512. Include it behind all other headers.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
// gcc 12 takes the undefined pass-through operands of its own intrinsics for uninitialized reads.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#if !defined(SIMAAI_MATRIX_EMULATED) // else a test provides them
#include <immintrin.h>
#endif
