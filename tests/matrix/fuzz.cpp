// SPDX-License-Identifier: LGPL-2.1-or-later
// Seeded fuzzer of everything that reads foreign bytes: TGMX streams, .npy files and text.
//
// usage: matrix_fuzz SEED (runs COUNT | seconds COUNT)
//
// Streams are judged by a second reading of the format, which names the refusal that must come;
// every refused stream must leave its destination alone, every accepted one must write back the
// bytes it came from. The sanitizers that the program is built with watch the rest.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <simaai/kernels/matrix/dyn_matrix.h>

#include "matrix/tools/formats.h"
#include "reference.h"

namespace {

using namespace simaai::kernels::matrix;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kFixedRows = 3;
constexpr std::size_t kFixedCols = 4;
constexpr int kAccepted = -1;

unsigned pair_at(const Bytes& bytes, std::size_t offset) {
  return bytes[offset] + 256U * bytes[offset + 1];
}

/// The refusal of a stream as the format's table states it; rows 0 stands for any shape.
int judge(const Bytes& bytes, std::size_t rows, std::size_t cols) {
  if (bytes.size() < 9)
    return DecodeError::TooShort;
  if (std::memcmp(bytes.data(), "TGMX", 4) != 0)
    return DecodeError::BadMagic;
  if (bytes[4] != 1)
    return DecodeError::UnsupportedVersion;
  const unsigned stated_rows = pair_at(bytes, 5);
  const unsigned stated_cols = pair_at(bytes, 7);
  if (rows == 0 ? stated_rows < 1 || stated_cols < 1 || stated_rows > 11172 || stated_cols > 11172
                : stated_rows != rows || stated_cols != cols)
    return DecodeError::ShapeMismatch;
  const std::size_t count = std::size_t{stated_rows} * stated_cols;
  if (bytes.size() < 9 + 5 * count)
    return DecodeError::Truncated;
  if (bytes.size() > 9 + 5 * count)
    return DecodeError::TrailingBytes;
  for (std::size_t n = 0; n < count; ++n) {
    const unsigned row = pair_at(bytes, 9 + 5 * n);
    const unsigned col = pair_at(bytes, 11 + 5 * n);
    if (row >= stated_rows || col >= stated_cols)
      return DecodeError::CoordinateOutOfRange;
    if (row != n / stated_cols || col != n % stated_cols)
      return DecodeError::CoordinateMismatch;
  }
  return kAccepted;
}

[[noreturn]] void report(const char* what, const Bytes& input) {
  std::fprintf(stderr, "finding: %s; input:", what);
  for (const std::uint8_t byte : input)
    std::fprintf(stderr, " %02X", byte);
  std::fputc('\n', stderr);
  std::abort();
}

void check_written_back(const DynMatrixRef& matrix, const Bytes& input) {
  std::vector<std::byte> stream(input.size());
  const auto written = matrix.encode(stream);
  if (!written.ok() || written.value() != input.size() ||
      std::memcmp(stream.data(), input.data(), input.size()) != 0)
    report("an accepted stream is written differently", input);
}

void try_stream(const Bytes& input) {
  const std::span stream = std::as_bytes(std::span(input));
  const int any = judge(input, 0, 0);
  for (const DynOrder order : {DynOrder::RowMajor, DynOrder::ColMajor}) {
    const auto matrix = DynMatrix::decode(stream, order);
    if ((matrix.ok() ? kAccepted : int{matrix.error().code}) != any)
      report("a run-time-sized reader judges otherwise", input);
    if (matrix.ok())
      check_written_back(matrix.value(), input);
  }
  const int fixed = judge(input, kFixedRows, kFixedCols);
  Matrix<kFixedRows, kFixedCols, ColMajor> destination({{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 8, 7, 6}});
  const auto before = destination;
  const auto decoded = decode_into(stream, destination);
  if ((decoded.ok() ? kAccepted : int{decoded.error().code}) != fixed)
    report("a fixed-size reader judges otherwise", input);
  if (!decoded.ok() && !(destination == before))
    report("a refused stream changed its destination", input);
  if (decoded.ok())
    check_written_back(DynMatrixRef(destination), input);
}

/// Whatever a text or .npy reader accepts must survive its own writer.
void try_file(const Bytes& input, tool::Read (*parse)(std::string_view)) {
  const std::string content(input.begin(), input.end());
  const auto matrix = parse(content);
  if (!matrix)
    return;
  const auto from_text = tool::parse_text(tool::format_text(matrix.value()));
  const auto from_npy = tool::parse_npy(tool::format_npy(matrix.value(), DynOrder::ColMajor));
  if (!from_text.ok() || !from_npy.ok())
    report("a writer's output is refused", input);
  const DynMatrix again = DynMatrix::relocated(from_npy.value(), DynOrder::RowMajor);
  if (!std::ranges::equal(again.storage(), from_text.value().storage()))
    report("two writers disagree", input);
}

void damage(Bytes& bytes, reference::Random& random) {
  static constexpr std::uint8_t kTempting[] = {0,   1,    2,    3,   4,   127, 128,
                                               255, 0x2B, 0xA4, 'T', '(', '\''};
  for (std::uint32_t n = random.bits() % 5; n > 0 && !bytes.empty(); --n) {
    const std::size_t at = random.bits() % bytes.size();
    switch (random.bits() % 6) {
    case 0:
      bytes[at] = static_cast<std::uint8_t>(random.bits());
      break;
    case 1:
      bytes[at] = kTempting[random.bits() % std::size(kTempting)];
      break;
    case 2:
      bytes.resize(at);
      break;
    case 3:
      bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), random.bits() % 7, 0);
      break;
    case 4:
      std::swap(bytes[at], bytes[random.bits() % bytes.size()]);
      break;
    default:
      bytes[at] ^= static_cast<std::uint8_t>(1U << random.bits() % 8);
      break;
    }
  }
}

Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

void run_once(reference::Random& random) {
  const bool fixed = random.bits() % 2 == 0;
  const std::size_t row_count = fixed ? kFixedRows : random.extent(7);
  const reference::Rows rows = random.rows(row_count, fixed ? kFixedCols : random.extent(7));
  Bytes stream = reference::wire(rows);
  damage(stream, random);
  try_stream(stream);
  if (random.bits() % 8 != 0)
    return;
  DynMatrix matrix = *DynMatrix::create(rows.size(), rows.front().size(), DynOrder::RowMajor);
  for (std::int8_t& element : matrix.storage_mut())
    element = random.element();
  Bytes npy = bytes_of(tool::format_npy(matrix, DynOrder::ColMajor));
  damage(npy, random);
  try_file(npy, tool::parse_npy);
  Bytes text = bytes_of(tool::format_text(matrix));
  damage(text, random);
  try_file(text, tool::parse_text);
}

} // namespace

int main(int count, char** values) {
  if (count != 4)
    return 2;
  reference::Random random(static_cast<std::uint32_t>(std::strtoul(values[1], nullptr, 10)));
  const unsigned long limit = std::strtoul(values[3], nullptr, 10);
  const bool timed = std::strcmp(values[2], "seconds") == 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limit);
  unsigned long runs = 0;
  while (timed ? std::chrono::steady_clock::now() < end : runs < limit) {
    run_once(random);
    ++runs;
  }
  std::printf("%lu inputs without a finding\n", runs);
  return 0;
}
