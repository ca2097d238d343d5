// SPDX-License-Identifier: LGPL-2.1-or-later
// Everything of the coordinate matrix that needs neither an operating system nor an allocator.
#pragma once

#include <simaai/kernels/matrix/coord.h>
#include <simaai/kernels/matrix/elements.h>
#include <simaai/kernels/matrix/matrix_types.h>
#include <simaai/kernels/matrix/order.h>
#include <simaai/kernels/matrix/products.h>
#include <simaai/kernels/matrix/requant.h>
#include <simaai/kernels/matrix/result.h>
#include <simaai/kernels/matrix/violation.h>
#include <simaai/kernels/matrix/wire.h>
