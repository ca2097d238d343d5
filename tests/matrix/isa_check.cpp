// SPDX-License-Identifier: LGPL-2.1-or-later
// Holds instruction sets against the reference without a test framework, so that it also runs where
// there is none: emulated AVX-512 on this machine, arm64 under QEMU.
//
// usage: isa_check NAME...   exit status 0 if every named set was there and right
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <vector>

#include "matrix/backends.h"
#include "reference.h"

namespace {

using namespace simaai::kernels::matrix;
using detail::Backend;
using detail::PlainOutput;
using detail::PlainView;
using Elements = std::vector<std::int8_t>;

/// A matrix in exactly its bytes, so that a sanitizer sees every read beside them.
Elements stored(const reference::Rows& rows, bool by_rows) {
  Elements elements(rows.size() * rows.front().size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    for (std::size_t col = 0; col < rows.front().size(); ++col)
      elements[by_rows ? row * rows.front().size() + col : col * rows.size() + row] =
          static_cast<std::int8_t>(rows[row][col]);
  return elements;
}

PlainView view(const Elements& elements, std::size_t rows, std::size_t cols, bool by_rows) {
  return {elements.data(), rows, cols, by_rows ? cols : 1, by_rows ? 1 : rows};
}

std::size_t count_wrong(const std::vector<std::vector<std::int64_t>>& expected,
                        const std::vector<std::int32_t>& sums, const Elements& elements,
                        const Requant& requant) {
  std::size_t wrong = 0;
  const std::size_t cols = expected.front().size();
  for (std::size_t n = 0; n < sums.size(); ++n) {
    const std::int64_t sum = expected[n / cols][n % cols];
    wrong += sums[n] != sum;
    wrong += elements[n] != reference::requantized(sum, requant.multiplier(), requant.shift());
  }
  return wrong;
}

std::size_t check_products(const Backend& backend, const reference::Rows& a_rows,
                           const reference::Rows& b_rows, const Requant& requant) {
  const auto expected = reference::product(a_rows, b_rows);
  const std::size_t rows = a_rows.size();
  const std::size_t inner = b_rows.size();
  const std::size_t cols = b_rows.front().size();
  std::size_t wrong = 0;
  for (const bool a_by_rows : {true, false})
    for (const bool b_by_rows : {true, false}) {
      const Elements a = stored(a_rows, a_by_rows);
      const Elements b = stored(b_rows, b_by_rows);
      const PlainView a_view = view(a, rows, inner, a_by_rows);
      std::vector<std::int32_t> sums(rows * cols, -1);
      Elements elements(rows * cols, -1);
      backend.matmul(a_view, view(b, inner, cols, b_by_rows),
                     {sums.data(), nullptr, nullptr, cols, 1});
      backend.matmul(a_view, view(b, inner, cols, b_by_rows),
                     {nullptr, elements.data(), &requant, cols, 1});
      wrong += count_wrong(expected, sums, elements, requant);
      if (cols != 1)
        continue;
      backend.gemv(a_view, b.data(), {sums.data(), nullptr, nullptr, 1, rows});
      backend.gemv(a_view, b.data(), {nullptr, elements.data(), &requant, 1, rows});
      wrong += count_wrong(expected, sums, elements, requant);
    }
  if (wrong > 0)
    std::printf("%s: %zu wrong of %zu x %zu x %zu, multiplier %d, shift %u\n", backend.name, wrong,
                rows, inner, cols, requant.multiplier(), requant.shift());
  return wrong;
}

std::size_t check_rescale(const Backend& backend, reference::Random& random) {
  std::vector<std::int32_t> src(random.extent(100));
  for (std::int32_t& value : src)
    value = random.word() >> (random.bits() % 32);
  src.front() = std::numeric_limits<std::int32_t>::min();
  src.back() = std::numeric_limits<std::int32_t>::max();
  std::int32_t multiplier = random.word() >> (random.bits() % 31);
  if (random.bits() % 8 == 0)
    multiplier = random.bits() % 2 == 0 ? std::numeric_limits<std::int32_t>::min() : -1;
  const Requant requant(multiplier, random.bits() % 63);
  Elements dst(src.size());
  backend.requantize(src.data(), src.size(), requant, dst.data());
  std::size_t wrong = 0;
  for (std::size_t n = 0; n < src.size(); ++n)
    wrong += dst[n] != reference::requantized(src[n], multiplier, requant.shift());
  if (wrong > 0)
    std::printf("%s: %zu wrong of %zu rescaled, multiplier %d, shift %u\n", backend.name, wrong,
                src.size(), multiplier, requant.shift());
  return wrong;
}

/// Records of one random matrix in both orders, and a record with a wrong coordinate.
std::size_t check_wire(const Backend& backend, std::size_t rows, std::size_t cols,
                       reference::Random& random) {
  const reference::Rows matrix = random.rows(rows, cols);
  const std::vector<std::uint8_t> stream = reference::wire(matrix);
  const std::vector<std::byte> expected(reinterpret_cast<const std::byte*>(stream.data()) + 9,
                                        reinterpret_cast<const std::byte*>(stream.data()) +
                                            stream.size());
  std::vector<std::byte> broken = expected;
  const std::size_t record = random.bits() % (rows * cols);
  broken[5 * record + random.bits() % 4] ^= static_cast<std::byte>(1U << (random.bits() % 8));
  for (std::size_t n = 4; n < broken.size(); n += 5)
    broken[n] ^= std::byte{1};
  std::size_t wrong = 0;
  for (const bool by_rows : {true, false}) {
    const Elements elements = stored(matrix, by_rows);
    const PlainView from = view(elements, rows, cols, by_rows);
    std::vector<std::byte> records(expected.size());
    backend.wire->encode(from, records.data());
    wrong += records != expected;
    Elements decoded(elements.size());
    const library::PlainTarget to{decoded.data(), rows, cols, from.row_stride, from.col_stride};
    wrong += !backend.wire->decode(expected.data(), to);
    wrong += decoded != elements;
    wrong += backend.wire->decode(broken.data(), to);
    wrong += decoded != elements; // not one was written
  }
  wrong += !backend.wire->check(expected.data(), rows, cols);
  wrong += backend.wire->check(broken.data(), rows, cols);
  broken = expected;
  broken[5 * record + 4] ^= std::byte{1}; // an element is no coordinate
  wrong += !backend.wire->check(broken.data(), rows, cols);
  if (wrong > 0)
    std::printf("%s: wire form of %zu x %zu is wrong\n", backend.name, rows, cols);
  return wrong;
}

std::size_t check_random(const Backend& backend) {
  reference::Random random(61);
  std::size_t wrong = 0;
  for (int n = 0; n < 200; ++n) {
    const std::size_t rows = random.extent(40);
    wrong += check_wire(backend, rows, random.extent(random.bits() % 4 == 0 ? 700 : 50), random);
  }
  // More than waits on the stack, and coordinates whose low bytes wrap.
  for (const auto& [rows, cols] : {std::pair<std::size_t, std::size_t>{300, 70}, {20, 1000}})
    wrong += check_wire(backend, rows, cols, random);
  for (int n = 0; n < 70; ++n) {
    const std::size_t inner = random.extent(n % 5 == 0 ? 600 : 80);
    const std::size_t cols = n % 3 == 0 ? 1 : random.extent(n % 4 == 0 ? 140 : 70);
    const reference::Rows a = random.rows(random.extent(n % 7 == 0 ? 200 : 70), inner);
    const reference::Rows b = random.rows(inner, cols);
    const std::int32_t multiplier = random.word() >> (random.bits() % 20);
    wrong += check_products(backend, a, b, Requant(multiplier, random.bits() % 63));
  }
  for (int n = 0; n < 2000; ++n)
    wrong += check_rescale(backend, random);
  return wrong;
}

/// Shapes at which tiles, panels and depth blocks begin and end, also where a's rows are not adjacent.
std::size_t check_edges(const Backend& backend) {
  reference::Random random(62);
  std::size_t wrong = 0;
  struct Shape {
    std::size_t rows;
    std::size_t inner;
    std::size_t cols;
  };
  for (const auto& [rows, inner, cols] :
       {Shape{70, 1000, 1}, Shape{16, 16, 16}, Shape{17, 64, 17}, Shape{31, 63, 31},
        Shape{32, 65, 32}, Shape{33, 128, 33}, Shape{48, 60, 145}, Shape{49, 1100, 20},
        Shape{16, 1500, 100}, Shape{20, 5700, 35}})
    for (const unsigned shift : {36U, 0U, 20U, 62U}) {
      if (inner > 1000 && shift != 36) // emulated, these take seconds
        continue;
      wrong += check_products(backend, random.rows(rows, inner), random.rows(inner, cols),
                              Requant(random.word() >> 12, shift));
    }
  return wrong;
}

/// Products with a vector of matrices that begin at any place in a cache line.
std::size_t check_places(const Backend& backend) {
  reference::Random random(63);
  std::size_t wrong = 0;
  for (const std::size_t cols : {64U, 192U, 200U})
    for (const std::size_t place : {1U, 15U, 16U, 32U, 63U}) {
      constexpr std::size_t kMatrixRows = 21;
      const reference::Rows rows = random.rows(kMatrixRows, cols);
      const Elements elements = stored(rows, true);
      const std::size_t line = 64;
      std::vector<std::int8_t> memory(2 * line + elements.size());
      const std::size_t begin =
          (line - reinterpret_cast<std::uintptr_t>(memory.data()) % line) % line + place;
      std::copy(elements.begin(), elements.end(), memory.data() + begin);
      const reference::Rows factors = random.rows(cols, 1);
      const Elements x = stored(factors, true);
      std::vector<std::int32_t> sums(kMatrixRows, -1);
      backend.gemv({memory.data() + begin, kMatrixRows, cols, cols, 1}, x.data(),
                   {sums.data(), nullptr, nullptr, 1, kMatrixRows});
      const auto expected = reference::product(rows, factors);
      for (std::size_t row = 0; row < kMatrixRows; ++row)
        wrong += sums[row] != expected[row][0];
    }
  if (wrong > 0)
    std::printf("%s: %zu wrong where rows do not begin at a line\n", backend.name, wrong);
  return wrong;
}

std::size_t check_extremes(const Backend& backend) {
  constexpr std::size_t kLongest = 11172;
  std::size_t wrong = 0;
  for (const int left : {-128, 127})
    for (const int right : {-128, 127})
      for (const std::size_t cols : {1U, 65U})
        wrong += check_products(backend, reference::Rows(7, reference::Row(kLongest, left)),
                                reference::Rows(kLongest, reference::Row(cols, right)),
                                Requant(1'000'003, 30));
  // Enough rows for tiles.
  wrong +=
      check_products(backend, reference::Rows(17, reference::Row(kLongest, -128)),
                     reference::Rows(kLongest, reference::Row(17, -128)), Requant(1'000'003, 30));
  return wrong;
}

const Backend* find(const char* name) {
#if defined(SIMAAI_MATRIX_EMULATED)
  for (const Backend* backend : {&detail::amx_backend, &detail::avx512vnni_backend})
    if (std::strcmp(name, backend->name) == 0)
      return backend;
#endif
  for (const Backend* backend : detail::available_backends())
    if (std::strcmp(name, backend->name) == 0)
      return backend;
  return nullptr;
}

} // namespace

int main(int count, char** names) {
  int failures = count < 2 ? 1 : 0;
  for (int n = 1; n < count; ++n) {
    const Backend* backend = find(names[n]);
    if (backend == nullptr) {
      std::printf("%s: not available\n", names[n]);
      ++failures;
      continue;
    }
    const std::size_t wrong = check_random(*backend) + check_edges(*backend) +
                              check_places(*backend) + check_extremes(*backend);
    std::printf("%s: %s\n", names[n], wrong == 0 ? "equal to the reference" : "WRONG");
    failures += wrong == 0 ? 0 : 1;
  }
  return failures == 0 ? 0 : 1;
}
