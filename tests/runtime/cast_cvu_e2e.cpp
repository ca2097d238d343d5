// SPDX-License-Identifier: LGPL-2.1-or-later
// cast_cvu_e2e: Cast from submission to retirement on a device.
#include <array>
#include <utility>

#include <simaai/kernels/ops/cast.h>

#include "cvu_e2e.h"
#include "ev74/generate.h"
#include "oracle/random_tensor.h"

namespace simaai::runtime::test {
namespace {

using kernels::DType;
using kernels::Layout;
using kernels::Shape;
using kernels::Strided;
using kernels::TensorSpec;

constexpr std::array<std::pair<DType, DType>, 2> kDirections{
    std::pair{DType::Float32, DType::BFloat16}, std::pair{DType::BFloat16, DType::Float32}};

const char* name_of(DType from) { return from == DType::Float32 ? "narrow" : "widen"; }

std::uint32_t width(DType dtype) { return kernels::scalar_bytes(dtype); }

E2eCase make(std::string name, std::pair<DType, DType> direction, const Shape& shape,
             const Layout& source, const Layout& destination, std::uint32_t source_phase = 0,
             std::uint32_t destination_phase = 0) {
  const std::uint64_t seed = std::hash<std::string>()(name);
  return {std::string(name_of(direction.first)) + " " + std::move(name),
          {{shape, direction.first, source}, {shape, direction.second, destination}, {}, seed},
          source_phase,
          destination_phase};
}

/// Row-major strides of a two-dimensional view with that pitch in bytes.
Layout pitched(DType dtype, std::int64_t pitch) { return Strided{{pitch, width(dtype)}}; }
/// The columns of the view are contiguous, `column` elements apart.
Layout transposed(DType dtype, std::int64_t column) {
  return Strided{{width(dtype), column * width(dtype)}};
}

std::vector<E2eCase> generated_cases() {
  simaai::test::CaseRules rules;
  rules.dtypes = kDirections;
  rules.least_rank = 0;
  oracle::Random random(20240501);
  std::vector<E2eCase> cases;
  for (std::size_t i = 0; i < 300; ++i) {
    const auto made = simaai::test::generate_case(rules, i, random);
    const auto phase = [&random](DType dtype) {
      return static_cast<std::uint32_t>(random.below(64 / width(dtype))) * width(dtype);
    };
    cases.push_back({"generated " + std::to_string(i),
                     {made.source, made.destination, {}, i},
                     phase(made.source.dtype),
                     phase(made.destination.dtype)});
  }
  return cases;
}

/// Rows of the source are columns of the destination: short and bulk, ragged, at scalar-aligned phases, and with pitches
/// around the 16-bit limit of a transfer.
std::vector<E2eCase> matrix_family() {
  std::vector<E2eCase> cases;
  for (const auto& direction : kDirections) {
    const auto [from, to] = direction;
    for (const auto& [rows, columns] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{
             {7, 3}, {64, 16}, {255, 17}, {1024, 2}, {1365, 33}, {4096, 16}, {5000, 5}}) {
      const std::string size = std::to_string(rows) + "x" + std::to_string(columns);
      cases.push_back(make("matrix " + size, direction, {rows, columns}, kernels::Contiguous{},
                           transposed(to, rows)));
      cases.push_back(make("matrix " + size + " scalar phase", direction, {rows, columns},
                           kernels::Contiguous{}, transposed(to, rows + 1), width(from),
                           width(to)));
    }
    for (const std::int64_t pitch : {65532, 65536, 65540})
      cases.push_back(make("matrix pitch " + std::to_string(pitch), direction, {40, 24},
                           pitched(from, pitch), transposed(to, 40)));
  }
  return cases;
}

std::vector<E2eCase> corpus_cases() {
  std::vector<E2eCase> cases;
  for (const auto& direction : kDirections) {
    const auto [from, to] = direction;
    for (const std::int64_t elements : {1, 16, 1000, 4096, 16384, 65537, 262144, 1000000})
      cases.push_back(make("dense " + std::to_string(elements), direction, {elements},
                           kernels::Contiguous{}, kernels::Contiguous{}));
    for (const std::int64_t columns : {7, 16, 300, 4097})
      cases.push_back(make("rows of " + std::to_string(columns), direction, {64, columns},
                           pitched(from, columns * width(from) + 64),
                           pitched(to, columns * width(to) + 32)));
    cases.push_back(make("every second element", direction, {128, 33},
                         Strided{{33 * 2 * width(from), 2 * width(from)}},
                         Strided{{33 * 2 * width(to), 2 * width(to)}}));
    cases.push_back(make("gathered columns", direction, {33, 128}, transposed(from, 33),
                         kernels::Contiguous{}));
    cases.push_back(
        make("scalar", direction, Shape{}, kernels::Contiguous{}, kernels::Contiguous{}));
  }
  return cases;
}

std::vector<E2eCase> retained_cases() {
  std::vector<E2eCase> cases;
  for (const auto& direction : kDirections) {
    const auto [from, to] = direction;
    for (const std::uint32_t source : {0U, 1U, 5U, 15U})
      for (const std::uint32_t destination : {0U, 1U, 3U, 7U})
        cases.push_back(make("retained, phases " + std::to_string(source) + " and " +
                                 std::to_string(destination),
                             direction, {20000}, kernels::Contiguous{}, kernels::Contiguous{},
                             source * width(from), destination * width(to)));
  }
  return cases;
}

std::variant<Plan, Error> prepare_case(const simaai::test::Case& c) {
  return prepare(kernels::ops::cast::Request{{&c.input, 1}, {&c.output, 1}}, Backend::Ev74);
}

} // namespace
} // namespace simaai::runtime::test

int main(int count, char** arguments) {
  using namespace simaai::runtime::test;
  return run_e2e({"cast_cvu_e2e", prepare_case, generated_cases(), corpus_cases(), matrix_family(),
                  retained_cases()},
                 count, arguments);
}
