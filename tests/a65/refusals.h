// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests with one fault, and the refusal that each must meet.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "a65/operation.h"

namespace simaai::test {

/// A request that can be changed.
struct Draft {
  std::vector<kernels::TensorSpec> inputs;
  std::vector<kernels::TensorSpec> outputs;
  Fill fill;
};

struct Refusal {
  std::string name;
  std::function<void(Draft&)> change;
  kernels::Error expected;
  std::vector<std::string> words; ///< of the message, beside the operand
};

/// Shape [2,3,4,5]; the tiled port, if any, has axes {-1,1,2,3} and tile {1,2,4,5}, Compact.
Draft valid_draft(const Operation& operation, DTypePair dtypes);
void set_shape(Draft& draft, const kernels::Shape& shape);
kernels::TensorSpec& port(Draft& draft, kernels::Operand operand);

kernels::Error about(kernels::Operand operand, kernels::ErrorCode code, std::int64_t expected,
                     std::int64_t found, std::int16_t axis = -1);

/// Changes the draft and checks the refusal by both entry points: fields (of SizeOverflow only code
/// and operand), words of the message, no allocation.
void expect_refused(const Operation& operation, Draft draft, const Refusal& refusal);

/// Every refusal with every pair of dtypes.
void expect_all_refused(const Operation& operation, const std::vector<Refusal>& refusals);

} // namespace simaai::test
