// SPDX-License-Identifier: LGPL-2.1-or-later
// Detess on the host: preparation and execution.
#include <simaai/kernels/a65/detess.h>

#include "a65/common/binding.h"
#include "a65/common/state_access.h"
#include "a65/common/tile_prepare.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detess {

Plan prepare(const ops::detess::Plan& metadata) noexcept {
  const detail::RowTable& rows = detail::rows_of(detail::active_level());
  return detail::StateAccess::make(metadata, detail::prepare_reader(metadata, rows));
}

std::variant<Plan, Error> check_inference(const Request& request) noexcept {
  const auto checked = ops::detess::check_inference(request);
  if (const auto* refused = std::get_if<Error>(&checked))
    return *refused;
  return prepare(*std::get_if<ops::detess::Plan>(&checked));
}

Status execute(const Plan& plan, std::span<const ConstHostBuffer> inputs,
               std::span<const HostBuffer> outputs) noexcept {
  const Status bound = detail::check_binding(plan.metadata(), inputs, outputs);
  if (!bound || plan.empty())
    return bound;
  detail::run_tiles(detail::StateAccess::get<detail::TileState>(plan), inputs[0].data,
                    outputs[0].data);
  return {};
}

} // namespace simaai::kernels::a65::detess
