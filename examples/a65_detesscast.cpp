// SPDX-License-Identifier: LGPL-2.1-or-later
// DetessCast on the host: BFloat16 tiles that a compiler stored in channel blocks become floats.
#include <array>
#include <cstdint>
#include <cstdio>
#include <variant>

#include <simaai/kernels/a65/detesscast.h>

namespace k = simaai::kernels;
namespace detesscast = k::a65::detesscast;

namespace {

k::Status run() {
  // H, W, C are the last three axes; 2 channels are stored as one block of 16.
  const k::TensorSpec blocked{
      {1, 2, 2}, k::DType::BFloat16, k::MlaCBlocked{.tile_shape = {1, 1, 2, 16}}};
  const k::TensorSpec linear{{1, 2, 2}, k::DType::Float32};
  const auto checked = detesscast::check_inference({{&blocked, 1}, {&linear, 1}});
  if (const auto* refused = std::get_if<k::Error>(&checked))
    return *refused;
  const auto& plan = std::get<detesscast::Plan>(checked);

  // Each pixel: 16 low bytes, then 16 high bytes. 0x3f80 is 1, 0x4000 is 2, 0xc040 is -3, 0x3f00 is
  // one half.
  alignas(16) std::array<std::uint8_t, 64> tiles{};
  tiles[0] = 0x80, tiles[16] = 0x3f;
  tiles[1] = 0x00, tiles[17] = 0x40;
  tiles[32] = 0x40, tiles[48] = 0xc0;
  tiles[33] = 0x00, tiles[49] = 0x3f;
  std::array<float, 4> values{};
  const k::ConstHostBuffer source{tiles.data(), tiles.size()};
  const k::HostBuffer destination{values.data(), sizeof values};
  if (const auto status = detesscast::execute(plan, {&source, 1}, {&destination, 1}); !status.ok())
    return status;
  std::printf("values: %g %g %g %g\n", static_cast<double>(values[0]),
              static_cast<double>(values[1]), static_cast<double>(values[2]),
              static_cast<double>(values[3]));
  return {};
}

} // namespace

int main() {
  const k::Status status = run();
  if (!status.ok())
    std::fprintf(stderr, "a65_detesscast: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
