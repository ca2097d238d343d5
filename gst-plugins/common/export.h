// SPDX-License-Identifier: LGPL-2.1-or-later
// Marks what libgstsimaaitensor-1.0 exports to the plug-ins and tests; everything else is hidden.
#pragma once

#define SIMAAI_GST_API __attribute__((visibility("default")))
