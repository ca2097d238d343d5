// SPDX-License-Identifier: LGPL-2.1-or-later
// What libgstsimaaitensor-1.0 exports; everything else is hidden.
#pragma once

#define GST_SIMAAI_API __attribute__((visibility("default")))
