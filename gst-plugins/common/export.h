// SPDX-License-Identifier: LGPL-2.1-or-later
// Marks what the library behind the plug-ins exports to them, to libgstsimaaitensor-1.0 and to tests; everything else is hidden.
#pragma once

#define SIMAAI_GST_API __attribute__((visibility("default")))
