// SPDX-License-Identifier: LGPL-2.1-or-later
// Tess and Detess on the host: INT8 values into tiles and back. Tile ends differ from the tensor's
// end, so both boundary tiles are smaller.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <variant>

#include <simaai/kernels/a65/detess.h>
#include <simaai/kernels/a65/tess.h>

#include "print_bytes.h"

namespace k = simaai::kernels;
namespace tess = k::a65::tess;
namespace detess = k::a65::detess;

namespace {

k::Status run() {
  const k::Shape shape{3, 5}; // W, C
  k::MlaTiled tiles;
  tiles.axes = {-1, -1, 0, 1};
  tiles.tile_shape = {1, 1, 2, 4};
  tiles.channels = k::ChannelStorage::PadTo16;
  const k::TensorSpec linear{shape, k::DType::Int8};
  const k::TensorSpec tiled{shape, k::DType::Int8, tiles};

  // Padded INT8 channels hold a byte of the caller's choice, for example the consumer's zero point.
  const auto forward = tess::check_inference(
      {{&linear, 1}, {&tiled, 1}, tess::Params{.int8_channel_padding = std::int8_t{-128}}});
  if (const auto* refused = std::get_if<k::Error>(&forward))
    return *refused;
  const auto backward = detess::check_inference({{&tiled, 1}, {&linear, 1}});
  if (const auto* refused = std::get_if<k::Error>(&backward))
    return *refused;
  const auto& pack = std::get<tess::Plan>(forward);
  const auto& unpack = std::get<detess::Plan>(backward);

  std::array<std::int8_t, 15> values{};
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<std::int8_t>(i + 1);
  std::array<std::int8_t, 15> restored{};
  const auto& needs = pack.output_requirement();
  const std::unique_ptr<void, decltype(&std::free)> memory(
      std::aligned_alloc(needs.alignment, needs.bytes), &std::free);

  const k::ConstHostBuffer source{values.data(), values.size()};
  const k::HostBuffer packed{memory.get(), needs.bytes};
  if (const auto status = tess::execute(pack, {&source, 1}, {&packed, 1}); !status.ok())
    return status;
  print_bytes("tiles", {static_cast<const std::byte*>(memory.get()), needs.bytes});

  const k::ConstHostBuffer packed_source{memory.get(), needs.bytes};
  const k::HostBuffer destination{restored.data(), restored.size()};
  if (const auto status = detess::execute(unpack, {&packed_source, 1}, {&destination, 1});
      !status.ok())
    return status;
  std::printf("restored: %s\n", restored == values ? "equal" : "different");
  return {};
}

} // namespace

int main() {
  const k::Status status = run();
  if (!status.ok())
    std::fprintf(stderr, "a65_tess_detess: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
