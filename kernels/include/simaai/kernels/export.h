// SPDX-License-Identifier: LGPL-2.1-or-later
// Marks what the shared libraries export; everything else is hidden.
#pragma once

#include <simaai/kernels/language.h>

#define SIMAAI_KERNELS_API __attribute__((visibility("default")))
