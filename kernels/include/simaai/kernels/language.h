// SPDX-License-Identifier: LGPL-2.1-or-later
// Refuses older language modes by name, before the headers that need C++20 fail in it.
#pragma once

#if __cplusplus <= 201703L
#error "SimaKernels needs C++20: compile with -std=c++20"
#endif
