// SPDX-License-Identifier: LGPL-2.1-or-later
// CastTess on the host: a float image of 2 x 4 RGB pixels becomes BFloat16 tiles of one pixel row,
// channels padded to 16, as the accelerator reads them.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <variant>

#include <simaai/kernels/a65/casttess.h>

#include "print_bytes.h"

namespace k = simaai::kernels;
namespace casttess = k::a65::casttess;

namespace {

k::Status run() {
  // Shape H, W, C. There is no depth axis, hence -1 and a tile extent of one.
  const k::Shape shape{2, 4, 3};
  k::MlaTiled tiles;
  tiles.axes = {-1, 0, 1, 2};
  tiles.tile_shape = {1, 1, 4, 3};
  tiles.channels = k::ChannelStorage::PadTo16;

  const std::array inputs{k::TensorSpec{shape, k::DType::Float32}};
  const std::array outputs{k::TensorSpec{shape, k::DType::BFloat16, tiles}};
  const auto checked = casttess::check_inference({inputs, outputs, {}});
  if (const auto* refused = std::get_if<k::Error>(&checked))
    return *refused;
  const auto& plan = std::get<casttess::Plan>(checked);

  // The plan says how much memory each side needs, padding included, and how it must be aligned.
  std::array<float, 2 * 4 * 3> image{};
  for (std::size_t i = 0; i < image.size(); ++i)
    image[i] = static_cast<float>(i);
  const auto& needs = plan.output_requirement();
  const std::unique_ptr<void, decltype(&std::free)> tiled(
      std::aligned_alloc(needs.alignment, needs.bytes), &std::free);

  // A plan may be executed any number of times, also by several threads at once.
  const std::array sources{k::ConstHostBuffer{image.data(), sizeof image}};
  const std::array destinations{k::HostBuffer{tiled.get(), needs.bytes}};
  if (const auto status = casttess::execute(plan, sources, destinations); !status.ok())
    return status;
  print_bytes("tiles", {static_cast<const std::byte*>(tiled.get()), needs.bytes});
  return {};
}

} // namespace

int main() {
  const k::Status status = run();
  if (!status.ok())
    std::fprintf(stderr, "a65_casttess: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
