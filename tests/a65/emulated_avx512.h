// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX-512 for machines that lack it: SIMDe, and what its packaged version misses.
#pragma once

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

inline void _mm512_stream_si512(__m512i* to, __m512i value) { simde_mm512_storeu_si512(to, value); }
