// SPDX-License-Identifier: LGPL-2.1-or-later
// Allocation and filling of buffers. Data are normal, never zero: stores of zeros run faster on
// some machines, and subnormals would take slow paths of some candidates.
#include "memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace simaai::bench {

using kernels::DType;

namespace {

constexpr std::size_t kLine = 64;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kLeastSets = 8;
constexpr std::size_t kPoolElements = std::size_t{1} << 20;

/// A value of about normal distribution, mean 0, deviation 1, at least 2^-12 in magnitude: a sum
/// of twelve 16-bit draws. Integer arithmetic and one exact scaling: the same on every machine.
float normal_value(std::mt19937_64& engine) {
  std::int32_t sum = -12 * 0x8000;
  for (int draw = 0; draw < 3; ++draw) {
    const std::uint64_t bits = engine();
    for (int part = 0; part < 4; ++part)
      sum += static_cast<std::int32_t>((bits >> (16 * part)) & 0xffff);
  }
  if (sum > -16 && sum < 16)
    sum += 32;
  return static_cast<float>(sum) / 65536.0F;
}

/// Truncates; the magnitudes of normal_value() are normal numbers of Float16.
std::uint16_t to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = (bits & 0x7fffffffU) >> 13;
  return static_cast<std::uint16_t>(((bits >> 16) & 0x8000U) | (magnitude - ((127U - 15U) << 10)));
}

template <class Scalar> void append(std::vector<std::byte>* bytes, Scalar value) {
  const auto raw = std::bit_cast<std::array<std::byte, sizeof value>>(value);
  bytes->insert(bytes->end(), raw.begin(), raw.end());
}

std::vector<std::byte> make_pool(DType dtype) {
  std::mt19937_64 engine(1);
  std::vector<std::byte> pool;
  pool.reserve(kPoolElements * kernels::scalar_bytes(dtype));
  for (std::size_t i = 0; i < kPoolElements; ++i) {
    const float value = normal_value(engine);
    switch (dtype) {
    case DType::Float32:
      append(&pool, value);
      break;
    case DType::Float16:
      append(&pool, to_float16(value));
      break;
    case DType::BFloat16:
      append(&pool, static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16));
      break;
    case DType::Int8:
    case DType::UInt8:
      append(&pool, static_cast<std::int8_t>(value * 16.0F));
      break;
    case DType::Int32:
      append(&pool, static_cast<std::int32_t>(value * 65536.0F));
      break;
    }
  }
  return pool;
}

/// Fills `bytes` bytes from a pool of random scalars, from another place of it for each `seed`.
void fill(std::byte* to, std::size_t bytes, DType dtype, std::size_t seed) {
  static std::map<DType, std::vector<std::byte>> pools;
  std::vector<std::byte>& pool = pools[dtype];
  if (pool.empty())
    pool = make_pool(dtype);
  std::size_t from = seed * 64 * 1021 % pool.size();
  while (bytes != 0) {
    const std::size_t part = std::min(bytes, pool.size() - from);
    std::memcpy(to, pool.data() + from, part);
    to += part;
    bytes -= part;
    from = 0;
  }
}

std::size_t round_up(std::size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// Room for the case, for the copy of equal traffic and for peers whose layout is slightly larger.
std::size_t capacity(const Case& bench_case, std::uint64_t span) {
  const std::uint64_t bytes = std::max(span, bench_case.copy_bytes());
  return static_cast<std::size_t>(bytes + bytes / 16 + kLine);
}

std::size_t set_count(const Case& bench_case, std::size_t set_bytes) {
  if (bench_case.cache == Cache::Hot)
    return 1;
  const std::uint64_t beyond_cache = 4 * last_level_cache_bytes();
  const std::uint64_t touched = std::max<std::uint64_t>(1, bench_case.traffic_bytes());
  const std::uint64_t wanted = std::max(kLeastSets, (beyond_cache + touched - 1) / touched);
  const std::uint64_t affordable = memory_budget_bytes() / 2 / set_bytes;
  if (affordable < 2)
    throw std::runtime_error("not enough memory for the cold case " + bench_case.name);
  return static_cast<std::size_t>(std::min(wanted, affordable));
}

} // namespace

std::uint64_t last_level_cache_bytes() {
  static const std::uint64_t bytes = [] {
    for (int index = 9; index >= 0; --index) {
      std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                         "/size");
      std::uint64_t size = 0;
      std::string unit;
      if (file >> size >> unit)
        return size * (unit == "M" ? kMiB : 1024);
    }
    return 32 * kMiB;
  }();
  return bytes;
}

std::uint64_t memory_budget_bytes() {
  static const std::uint64_t bytes = [] {
    const auto pages = static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES));
    const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return std::min(4096 * kMiB, pages * page_bytes / 2);
  }();
  return bytes;
}

namespace {

struct Span {
  std::byte* data;
  std::size_t bytes;
};

std::vector<Span>& spare_spans() {
  static std::vector<Span> spans;
  return spans;
}

} // namespace

Pages::Pages(std::size_t bytes) : bytes_(bytes) {
  std::vector<Span>& spare = spare_spans();
  const auto fits = [bytes](const Span& span) { return span.bytes >= bytes; };
  if (const auto found = std::find_if(spare.begin(), spare.end(), fits); found != spare.end()) {
    data_ = found->data;
    bytes_ = found->bytes;
    spare.erase(found);
    return;
  }
  for (const Span& span : spare)
    munmap(span.data, span.bytes);
  spare.clear();
  void* const mapping =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    throw std::runtime_error("no memory for buffers of " + std::to_string(bytes) + " bytes");
  data_ = static_cast<std::byte*>(mapping);
}

Pages::~Pages() { spare_spans().push_back({data_, bytes_}); }

Ring::Ring(const Case& bench_case, std::size_t offset_bytes) {
  const std::size_t input_bytes = capacity(bench_case, bench_case.input_span);
  const std::size_t output_bytes = capacity(bench_case, bench_case.output_span);
  // An extra line after each buffer keeps equal buffers from sharing all their cache sets.
  const std::size_t input_slot = round_up(input_bytes) + 2 * kLine;
  const std::size_t set_bytes = input_slot + round_up(output_bytes) + 2 * kLine;
  const std::size_t count = set_count(bench_case, set_bytes);
  pages_ = std::make_unique<Pages>(count * set_bytes);
  for (std::size_t index = 0; index < count; ++index) {
    std::byte* const input = pages_->data() + index * set_bytes + offset_bytes;
    std::byte* const output = input + input_slot;
    fill(input, input_bytes, bench_case.input.dtype, index);
    fill(output, output_bytes, bench_case.output.dtype, index + 7);
    sets_.push_back({{{{input, input_bytes}}}, {{{output, output_bytes}}}});
  }
}

} // namespace simaai::bench
