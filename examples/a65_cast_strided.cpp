// SPDX-License-Identifier: LGPL-2.1-or-later
// Cast on the host between a pitched float view and a gapless BFloat16 tensor; and what a refusal
// looks like.
#include <array>
#include <cstdint>
#include <cstdio>
#include <span>
#include <variant>

#include <simaai/kernels/a65/cast.h>

#include "print_bytes.h"

namespace k = simaai::kernels;
namespace cast = k::a65::cast;

namespace {

k::Status run() {
  // Two rows of three values; rows are 32 bytes apart and values 8 bytes apart.
  const k::TensorSpec pitched{{2, 3}, k::DType::Float32, k::Strided{{32, 8}}};
  const k::TensorSpec dense{{2, 3}, k::DType::BFloat16};
  const auto checked = cast::check_inference({{&pitched, 1}, {&dense, 1}});
  if (const auto* refused = std::get_if<k::Error>(&checked))
    return *refused;
  const auto& plan = std::get<cast::Plan>(checked);
  std::printf("the pitched view spans %llu bytes\n",
              static_cast<unsigned long long>(plan.input_requirement().bytes));

  std::array<float, 16> memory{};
  for (unsigned row = 0; row < 2; ++row)
    for (unsigned column = 0; column < 3; ++column)
      memory[row * 8 + column * 2] = 1.0F + static_cast<float>(row * 3 + column) / 2;
  std::array<std::uint16_t, 6> values{};
  const k::ConstHostBuffer source{memory.data(), sizeof memory};
  const k::HostBuffer destination{values.data(), sizeof values};
  if (const auto status = cast::execute(plan, {&source, 1}, {&destination, 1}); !status.ok())
    return status;
  print_bytes("bfloat16", std::as_bytes(std::span(values)));

  // A buffer that is too small is refused before anything is written.
  const k::HostBuffer small{values.data(), 4};
  const k::Status refused = cast::execute(plan, {&source, 1}, {&small, 1});
  std::printf("refused: %s\n", refused.message().c_str());
  return {};
}

} // namespace

int main() {
  const k::Status status = run();
  if (!status.ok())
    std::fprintf(stderr, "a65_cast_strided: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
