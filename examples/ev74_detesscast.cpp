// SPDX-License-Identifier: LGPL-2.1-or-later
// DetessCast on the EV74: dense output takes the short packet, pitched output the long one.
#include <cstdio>
#include <variant>

#include <simaai/kernels/ev74/detesscast.h>
#include <simaai/kernels/ops/detesscast.h>

#include "print_bytes.h"

namespace k = simaai::kernels;
namespace op = k::ops::detesscast;
namespace ev = k::ev74::detesscast;

namespace {

k::Status print_packet(const char* label, const k::TensorSpec& tiled, const k::TensorSpec& linear) {
  // The same admission serves both processors; the EV74 adds what its 32-bit addresses demand.
  const auto checked = op::check_inference({{&tiled, 1}, {&linear, 1}});
  if (const auto* refused = std::get_if<k::Error>(&checked))
    return *refused;
  const auto& plan = std::get<op::Plan>(checked);
  if (const auto status = ev::check_inference(plan); !status.ok())
    return status;
  const auto encoded = ev::encode_relocatable(plan);
  if (const auto* refused = std::get_if<k::Error>(&encoded))
    return *refused;
  print_bytes(label, std::get<k::ev74::RelocatablePacket>(encoded).bytes());
  return {};
}

k::Status run() {
  k::MlaTiled tiles;
  tiles.axes = {-1, -1, 0, 1};
  tiles.tile_shape = {1, 1, 2, 3};
  const k::TensorSpec tiled{{2, 3}, k::DType::BFloat16, tiles};
  if (const auto status = print_packet("dense", tiled, k::TensorSpec{{2, 3}, k::DType::Float32});
      !status.ok())
    return status;
  return print_packet("pitched", tiled,
                      k::TensorSpec{{2, 3}, k::DType::Float32, k::Strided{{64, 4}}});
}

} // namespace

int main() {
  const k::Status status = run();
  if (!status.ok())
    std::fprintf(stderr, "ev74_detesscast: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
