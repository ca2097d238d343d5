// SPDX-License-Identifier: LGPL-2.1-or-later
// The shaped roofline for each vector width. Loads of a step are combined with exclusive or, and the stores of the step
// write the outcome: nothing can be removed, and the data written are as random as the data read.
#include "shaped.h"

#include <cstdint>
#include <cstring>
#include <numeric>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace simaai::bench {
namespace {

/// The vector part that all widths share. A step reads `reads` vectors and writes `writes` ones.
struct Steps {
  std::size_t count;
  std::size_t reads;
  std::size_t writes;
};

constexpr std::size_t kMostVectors = 16;

/// Smallest step with the exact proportion if it has at most sixteen vectors a side, else the
/// nearest one whose larger side has sixteen; the rest is left to the tail.
Steps steps_of(std::size_t read_bytes, std::size_t write_bytes, std::size_t vector_bytes) {
  const std::size_t reads = read_bytes / vector_bytes;
  const std::size_t writes = write_bytes / vector_bytes;
  if (reads == 0 || writes == 0)
    return {0, 1, 1};
  const std::size_t common = std::gcd(reads, writes);
  std::size_t r = reads / common;
  std::size_t w = writes / common;
  if (r > kMostVectors || w > kMostVectors) {
    const std::size_t larger = r > w ? r : w;
    r = (r * kMostVectors + larger / 2) / larger;
    w = (w * kMostVectors + larger / 2) / larger;
    r = r == 0 ? 1 : r;
    w = w == 0 ? 1 : w;
  }
  const std::size_t count = reads / r < writes / w ? reads / r : writes / w;
  return {count, r, w};
}

/// What the vector part left: at most a few percent of one side and some bytes of the other.
void tail(const std::byte* src, std::size_t read_bytes, std::byte* dst, std::size_t write_bytes) {
  std::uint64_t sum = 0;
  std::size_t at = 0;
  for (; at + 8 <= read_bytes; at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, src + at, 8);
    sum ^= word;
  }
  for (; at < read_bytes; ++at)
    sum ^= static_cast<std::uint64_t>(src[at]);
  asm volatile("" : "+r"(sum));
  for (at = 0; at + 8 <= write_bytes; at += 8)
    std::memcpy(dst + at, &sum, 8);
  for (; at < write_bytes; ++at)
    dst[at] = static_cast<std::byte>(sum);
}

// One function a width and kind of store. The two common proportions, two to one and one to two, and equal amounts
// have bodies of their own so that their loops carry no inner loop.
#define SIMAAI_BENCH_SHAPED(name, attribute, Vector, load, join, store, fence)                     \
  attribute void name(const std::byte* src, std::size_t read_bytes, std::byte* dst,                \
                      std::size_t write_bytes) {                                                   \
    constexpr std::size_t kWidth = sizeof(Vector);                                                 \
    const Steps steps = steps_of(read_bytes, write_bytes, kWidth);                                 \
    const std::byte* from = src;                                                                   \
    std::byte* to = dst;                                                                           \
    if (steps.reads == 2 && steps.writes == 1) {                                                   \
      for (std::size_t i = 0; i < steps.count; ++i, from += 2 * kWidth, to += kWidth)              \
        store(to, join(load(from), load(from + kWidth)));                                          \
    } else if (steps.reads == 1 && steps.writes == 2) {                                            \
      for (std::size_t i = 0; i < steps.count; ++i, from += kWidth, to += 2 * kWidth) {            \
        const Vector value = load(from);                                                           \
        store(to, value);                                                                          \
        store(to + kWidth, value);                                                                 \
      }                                                                                            \
    } else if (steps.reads == 1 && steps.writes == 1) {                                            \
      for (std::size_t i = 0; i < steps.count; ++i, from += kWidth, to += kWidth)                  \
        store(to, load(from));                                                                     \
    } else {                                                                                       \
      for (std::size_t i = 0; i < steps.count; ++i) {                                              \
        Vector value = load(from);                                                                 \
        for (std::size_t r = 1; r < steps.reads; ++r)                                              \
          value = join(value, load(from + r * kWidth));                                            \
        from += steps.reads * kWidth;                                                              \
        for (std::size_t w = 0; w < steps.writes; ++w)                                             \
          store(to + w * kWidth, value);                                                           \
        to += steps.writes * kWidth;                                                               \
      }                                                                                            \
    }                                                                                              \
    fence();                                                                                       \
    const auto read = static_cast<std::size_t>(from - src);                                        \
    const auto written = static_cast<std::size_t>(to - dst);                                       \
    tail(from, read_bytes - read, to, write_bytes - written);                                      \
  }

#define SIMAAI_BENCH_NO_FENCE() static_cast<void>(0)

#if defined(__x86_64__)

#define SIMAAI_BENCH_AVX2 __attribute__((target("avx2")))
#define SIMAAI_BENCH_AVX512 __attribute__((target("avx512f")))
#define SIMAAI_BENCH_LOAD_256(at) _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at))
#define SIMAAI_BENCH_STORE_256(at, value)                                                          \
  _mm256_store_si256(reinterpret_cast<__m256i*>(__builtin_assume_aligned(at, 32)), value)
#define SIMAAI_BENCH_STREAM_256(at, value)                                                         \
  _mm256_stream_si256(reinterpret_cast<__m256i*>(__builtin_assume_aligned(at, 32)), value)
#define SIMAAI_BENCH_LOAD_512(at) _mm512_loadu_si512(at)
#define SIMAAI_BENCH_STORE_512(at, value) _mm512_store_si512(at, value)
#define SIMAAI_BENCH_STREAM_512(at, value)                                                         \
  _mm512_stream_si512(reinterpret_cast<__m512i*>(__builtin_assume_aligned(at, 64)), value)

SIMAAI_BENCH_SHAPED(temporal_avx2, SIMAAI_BENCH_AVX2, __m256i, SIMAAI_BENCH_LOAD_256,
                    _mm256_xor_si256, SIMAAI_BENCH_STORE_256, SIMAAI_BENCH_NO_FENCE)
SIMAAI_BENCH_SHAPED(streaming_avx2, SIMAAI_BENCH_AVX2, __m256i, SIMAAI_BENCH_LOAD_256,
                    _mm256_xor_si256, SIMAAI_BENCH_STREAM_256, _mm_sfence)
SIMAAI_BENCH_SHAPED(temporal_avx512, SIMAAI_BENCH_AVX512, __m512i, SIMAAI_BENCH_LOAD_512,
                    _mm512_xor_si512, SIMAAI_BENCH_STORE_512, SIMAAI_BENCH_NO_FENCE)
SIMAAI_BENCH_SHAPED(streaming_avx512, SIMAAI_BENCH_AVX512, __m512i, SIMAAI_BENCH_LOAD_512,
                    _mm512_xor_si512, SIMAAI_BENCH_STREAM_512, _mm_sfence)

#endif

// Generic version: 16-byte vectors of the compiler.
using Vector128 = std::uint64_t __attribute__((vector_size(16)));

inline Vector128 load_128(const std::byte* from) {
  Vector128 value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline Vector128 join_128(Vector128 a, Vector128 b) { return a ^ b; }
inline void store_128(std::byte* to, Vector128 value) { std::memcpy(to, &value, sizeof value); }

SIMAAI_BENCH_SHAPED(temporal_generic, , Vector128, load_128, join_128, store_128,
                    SIMAAI_BENCH_NO_FENCE)

} // namespace

ShapedFn shaped_function(Stores stores) {
#if defined(__x86_64__)
  const bool streaming = stores == Stores::Streaming;
  if (__builtin_cpu_supports("avx512f") != 0)
    return streaming ? streaming_avx512 : temporal_avx512;
  if (__builtin_cpu_supports("avx2") != 0)
    return streaming ? streaming_avx2 : temporal_avx2;
#endif
  return stores == Stores::Temporal ? temporal_generic : nullptr;
}

} // namespace simaai::bench
