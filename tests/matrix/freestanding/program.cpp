// SPDX-License-Identifier: LGPL-2.1-or-later
// Uses the whole core: owned and borrowed matrices, foreign elements, products, rescale, wire form.
#include "program.h"

#include <array>
#include <cstdint>
#include <span>

#include <simaai/kernels/matrix/matrix.h>

namespace {

using namespace simaai::kernels::matrix;

/// Numbers from a linear congruence, the same everywhere.
class Random {
public:
  std::uint32_t bits() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 8;
  }
  std::int8_t element() { return static_cast<std::int8_t>(bits() & 0xFF); }
  std::int32_t word() {
    const std::uint32_t high = bits() << 16;
    return static_cast<std::int32_t>(high ^ bits());
  }
  /// Statements of their own: the order of calls within one expression is the compiler's choice.
  simaai::kernels::matrix::Requant requant(unsigned least_shift) {
    const std::int32_t multiplier = word();
    const unsigned shift = least_shift + bits() % (63 - least_shift);
    return {multiplier, shift};
  }

private:
  std::uint32_t state_ = 2463534242U;
};

/// Writes numbers little-endian, whatever the machine does.
void report(std::int64_t value) {
  std::array<std::uint8_t, 8> bytes{};
  for (std::size_t n = 0; n < bytes.size(); ++n)
    bytes[n] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (8 * n));
  write_bytes(bytes.data(), bytes.size());
}

template <class Values> void report_all(const Values& values) {
  for (const auto value : values)
    report(value);
}

struct Checkers {
  static constexpr std::size_t kRows = 9;
  static constexpr std::size_t kCols = 23;
  std::int8_t element(std::size_t row, std::size_t col) const {
    return (row + col) % 2 == 0 ? std::int8_t{-128} : std::int8_t{127};
  }
};

// Weights in read-only memory.
constexpr Matrix<2, 3> kWorked({{1, -2, 3}, {4, 5, -6}});
constexpr std::array<std::int8_t, 6> kBorrowed = {1, 4, -2, 5, 3, -6};

void fill(std::span<std::int8_t> elements, Random& random) {
  for (std::int8_t& element : elements)
    element = random.element();
}

template <class OA, class OB, class OC> void report_products(Random& random) {
  static Matrix<11, 23, OA> a;
  static Matrix<23, 9, OB> b;
  fill(a.storage_mut(), random);
  fill(b.storage_mut(), random);
  const Requant requant = random.requant(32);
  std::array<std::int8_t, 23> x{};
  fill(x, random);

  std::array<std::int32_t, 11> sums{};
  std::array<std::int8_t, 11> elements{};
  gemv(a, x, sums);
  gemv_requantized(a, x, requant, elements);
  report_all(sums);
  report_all(elements);

  std::array<std::int32_t, 99> contraction{};
  std::array<std::int8_t, 99> rescaled{};
  Matrix<11, 9, OC> fused;
  matmul<OC>(a, b, contraction);
  requantize_into(contraction, requant, rescaled);
  matmul_requantized(a, b, requant, fused);
  report_all(contraction);
  report_all(rescaled);
  report_all(fused.storage());
}

void report_foreign() {
  std::array<std::int8_t, 23> x{};
  x.fill(-128);
  std::array<std::int32_t, 9> sums{};
  gemv(Checkers{}, x, sums);
  report_all(sums);
  std::array<std::int32_t, 27> product{};
  matmul(Checkers{}, Matrix<23, 3, ColMajor>::from_storage(std::array<std::int8_t, 69>{5, -7, 99}),
         product);
  report_all(product);
}

void report_wire() {
  static std::array<std::byte, 64> stream{};
  const MatrixRef<2, 3, ColMajor> borrowed(kBorrowed);
  report(static_cast<std::int64_t>(borrowed.encode(stream).value()));
  write_bytes(stream.data(), stream.size());
  report(same_elements(borrowed, kWorked));
  const std::span<std::byte> exact = std::span(stream).first(39);
  const auto decoded = Matrix<2, 3, ColMajor>::decode(exact);
  report(decoded.ok() && decoded.value().at(*kWorked.path_of(1, 2)) == -6);
  report(static_cast<std::int64_t>(kWorked.encode(exact.first(38)).error().needed));
  report(kWorked.path_of(2, 0).has_value());
  // Every refusal of the reader, one damaged copy each.
  report(Matrix<2, 3>::decode(exact.first(8)).error().code);
  report(Matrix<3, 2>::decode(exact).error().code);
  report(Matrix<2, 3>::decode(exact.first(20)).error().code);
  report(Matrix<2, 3>::decode(stream).error().code);
  for (const std::size_t offset : {0U, 4U, 9U, 16U}) {
    const std::byte kept = exact[offset];
    exact[offset] = std::byte{2};
    Matrix<2, 3> destination = kWorked;
    const auto refused = decode_into(exact, destination);
    report(refused.ok() ? -1 : refused.error().code);
    report(destination == kWorked);
    exact[offset] = kept;
  }
}

void report_requant() {
  constexpr Requant example = Requant::fixed<38'997'123, 27>();
  for (const std::int32_t accumulator : {0, 1, 4, 300, -300, 2'000'000})
    report(example.requantize(accumulator));
  Random random;
  for (int n = 0; n < 2000; ++n) {
    const Requant requant = random.requant(0);
    report(requant.requantize(random.word()));
  }
}

} // namespace

void run_program() {
  Random random;
  report_products<RowMajor, RowMajor, RowMajor>(random);
  report_products<RowMajor, ColMajor, ColMajor>(random);
  report_products<ColMajor, RowMajor, RowMajor>(random);
  report_products<ColMajor, ColMajor, ColMajor>(random);
  report_foreign();
  report_wire();
  report_requant();
#ifdef MISUSE
  // A position that only the run knows to be outside.
  report(kWorked.get(random.bits() % 2, 3));
#endif
#ifdef ALLOCATE
  static std::int64_t* volatile kept; // else the compiler may leave the allocation out
  kept = new std::int64_t(random.bits());
  report(*kept);
#endif
}
