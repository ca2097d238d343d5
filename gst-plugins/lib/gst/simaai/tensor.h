// SPDX-License-Identifier: LGPL-2.1-or-later
// All of libgstsimaaitensor-1.0: tensors of application/vnd.simaai.tensor for applications in C, C++ and, by introspection, others.
#pragma once

#include <gst/simaai/memory.h>
#include <gst/simaai/tensorinfo.h>
#include <gst/simaai/tensorset.h>
