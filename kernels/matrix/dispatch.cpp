// SPDX-License-Identifier: LGPL-2.1-or-later
// Chooses the instruction set once and forwards the library entry points to it.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "matrix/backends.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif
#if SIMAAI_MATRIX_HAVE_AMX
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace simaai::kernels::matrix {
namespace detail {
namespace {

struct BackendList {
  std::array<const Backend*, 4> entries{};
  std::size_t count = 0;
  void add(const Backend& backend) noexcept { entries[count++] = &backend; }
};

#if SIMAAI_MATRIX_HAVE_AVX512VNNI
bool has_avx512vnni() noexcept {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}
#endif

#if SIMAAI_MATRIX_HAVE_AMX
/// Whether there are int8 tiles and the kernel lets this process use them, which it wants to be asked:
/// their state makes signal frames larger.
bool has_tiles() noexcept {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  constexpr unsigned kAmxTile = 1U << 24;
  constexpr unsigned kAmxInt8 = 1U << 25;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 ||
      (edx & (kAmxTile | kAmxInt8)) != (kAmxTile | kAmxInt8))
    return false;
  constexpr long kRequestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;              // XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#endif

BackendList find_backends() noexcept {
  BackendList list;
#if SIMAAI_MATRIX_HAVE_AMX
  if (has_avx512vnni() && __builtin_cpu_supports("avx512vbmi") && has_tiles())
    list.add(amx_backend);
#endif
#if SIMAAI_MATRIX_HAVE_AVX512VNNI
  if (has_avx512vnni())
    list.add(__builtin_cpu_supports("avx512vbmi") ? avx512vnni_vbmi_backend : avx512vnni_backend);
#endif
#if SIMAAI_MATRIX_HAVE_AVX2
  if (__builtin_cpu_supports("avx2"))
    list.add(avx2_backend);
#endif
#if SIMAAI_MATRIX_HAVE_NEONDOT
  constexpr unsigned long kHwcapAsimdDotProduct = 1UL << 20;
  if ((getauxval(AT_HWCAP) & kHwcapAsimdDotProduct) != 0)
    list.add(neondot_backend);
#endif
#if SIMAAI_MATRIX_HAVE_NEON
  list.add(neon_backend);
#endif
  list.add(scalar_backend);
  return list;
}

const Backend& choose_backend() noexcept {
  const auto backends = available_backends();
  const char* wanted = std::getenv("SIMAAI_MATRIX_ISA");
  if (wanted == nullptr || *wanted == '\0')
    return *backends.front();
  for (const Backend* backend : backends)
    if (std::strcmp(backend->name, wanted) == 0)
      return *backend;
  std::fprintf(stderr, "simaai matrix: SIMAAI_MATRIX_ISA=%s is not available here; using %s\n",
               wanted, backends.front()->name);
  return *backends.front();
}

std::atomic<const Backend*>& selected() noexcept {
  static std::atomic<const Backend*> backend{&choose_backend()};
  return backend;
}

} // namespace

std::span<const Backend* const> available_backends() noexcept {
  static const BackendList list = find_backends();
  return {list.entries.data(), list.count};
}

const Backend& current_backend() noexcept { return *selected().load(std::memory_order_relaxed); }

void use_backend(const Backend& backend) noexcept {
  selected().store(&backend, std::memory_order_relaxed);
}

} // namespace detail

namespace library {

void gemv(const PlainView& a, const std::int8_t* x, const PlainOutput& y) noexcept {
  detail::current_backend().gemv(a, x, y);
}

void matmul(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept {
  // Where rows of c are adjacent, the transposed product writes the same bytes along columns.
  if (c.col_stride == 1)
    return detail::current_backend().matmul(a, b, c);
  detail::current_backend().matmul(b.transposed(), a.transposed(), c.transposed());
}

void requantize(const std::int32_t* src, std::size_t count, const Requant& requant,
                std::int8_t* dst) noexcept {
  detail::current_backend().requantize(src, count, requant, dst);
}

void encode_records(const PlainView& a, std::byte* records) noexcept {
  detail::current_backend().wire->encode(a, records);
}

bool check_records(const std::byte* records, std::size_t rows, std::size_t cols) noexcept {
  return detail::current_backend().wire->check(records, rows, cols);
}

bool decode_records(const std::byte* records, const PlainTarget& to) noexcept {
  return detail::current_backend().wire->decode(records, to);
}

} // namespace library

std::string_view active_instruction_set() noexcept { return detail::current_backend().name; }

} // namespace simaai::kernels::matrix
