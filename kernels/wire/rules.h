// SPDX-License-Identifier: LGPL-2.1-or-later
// The rules of every operation, found by its wire number. Freestanding C++17.
#pragma once

#include "wire/cast/rules.h"
#include "wire/casttess/rules.h"
#include "wire/detess/rules.h"
#include "wire/detesscast/rules.h"
#include "wire/tess/rules.h"

namespace simaai::kernels::wire {

constexpr const OperationRules& rules_of(Operation operation) noexcept {
  switch (operation) {
  case Operation::Cast:
    return kCastRules;
  case Operation::Tess:
    return kTessRules;
  case Operation::CastTess:
    return kCastTessRules;
  case Operation::Detess:
    return kDetessRules;
  case Operation::DetessCast:
    return kDetessCastRules;
  }
  return kCastRules;
}

inline constexpr std::uint16_t kFirstOperation = static_cast<std::uint16_t>(Operation::Cast);
inline constexpr std::uint16_t kLastOperation = static_cast<std::uint16_t>(Operation::DetessCast);

} // namespace simaai::kernels::wire
