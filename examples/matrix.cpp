// SPDX-License-Identifier: LGPL-2.1-or-later
// A small integer layer: weights in read-only memory, a rescaled product, the bytes that another
// device receives, and the same product there although its weights lie in another order.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <simaai/kernels/matrix/matrix.h>

#include "print_bytes.h"

namespace m = simaai::kernels::matrix;

namespace {

constexpr m::Matrix<2, 3> kWeights({{1, -2, 3}, {4, 5, -6}});
constexpr m::Requant kScale = m::Requant::fixed<38'997'123, 27>();
constexpr std::array<std::int8_t, 3> kInput = {7, 8, 9};

} // namespace

int main() {
  std::array<std::int32_t, 2> sums{};
  std::array<std::int8_t, 2> elements{};
  m::gemv(kWeights, kInput, sums);
  m::gemv_requantized(kWeights, kInput, kScale, elements);
  std::printf("sums %d %d, elements %d %d\n", sums[0], sums[1], elements[0], elements[1]);

  std::array<std::byte, m::encoded_bytes(2, 3)> stream{};
  if (!kWeights.encode(stream).ok())
    return 1;
  print_bytes("tgmx", stream);

  const auto received = m::Matrix<2, 3, m::ColMajor>::decode(stream);
  if (!received.ok())
    return 1;
  print_bytes("column by column", std::as_bytes(received.value().storage()));
  std::array<std::int32_t, 2> sums_there{};
  m::gemv(received.value(), kInput, sums_there);
  std::printf("%s\n", sums_there == sums ? "the same sums" : "other sums");

  stream[9] = std::byte{1};
  std::printf("refused: %d\n",
              m::Matrix<2, 3>::decode(stream).error().code == m::DecodeError::CoordinateMismatch);
  return 0;
}
