// SPDX-License-Identifier: LGPL-2.1-or-later
// Marks symbols that libsimaai-runtime exports.
#pragma once

#define SIMAAI_RUNTIME_API __attribute__((visibility("default")))
