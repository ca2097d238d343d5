// SPDX-License-Identifier: LGPL-2.1-or-later
// The instruction sets that run products over plain memory, and which one is in use. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <simaai/kernels/matrix/backend.h>
#include <simaai/kernels/matrix/requant.h>

namespace simaai::kernels::matrix::detail {

/// The wire form over plain memory; see library:: in backend.h.
struct WireForm {
  void (*encode)(const PlainView& a, std::byte* records) noexcept;
  bool (*check)(const std::byte* records, std::size_t rows, std::size_t cols) noexcept;
  bool (*decode)(const std::byte* records, const PlainTarget& to) noexcept;
};

/// One instruction set. Every entry gives the result of the scalar one, byte for byte.
struct Backend {
  const char* name;
  void (*gemv)(const PlainView& a, const std::int8_t* x, const PlainOutput& y) noexcept;
  /// Columns of c are adjacent (c.col_stride is 1).
  void (*matmul)(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept;
  void (*requantize)(const std::int32_t* src, std::size_t count, const Requant& requant,
                     std::int8_t* dst) noexcept;
  const WireForm* wire;
};

extern const Backend scalar_backend;
extern const WireForm scalar_wire;
#if SIMAAI_MATRIX_HAVE_AVX2
extern const Backend avx2_backend;
extern const WireForm avx2_wire;
#endif
#if SIMAAI_MATRIX_HAVE_AVX512VNNI
extern const Backend avx512vnni_backend;
extern const Backend avx512vnni_vbmi_backend; ///< the same, with avx512vbmi_wire
extern const WireForm avx512vbmi_wire;
#endif
#if SIMAAI_MATRIX_HAVE_AMX
extern const Backend amx_backend; ///< for a process that the kernel lets use tiles
#endif
#if SIMAAI_MATRIX_HAVE_NEON
extern const Backend neon_backend;
extern const WireForm neon_wire;
#endif
#if SIMAAI_MATRIX_HAVE_NEONDOT
extern const Backend neondot_backend;
#endif

/// Instruction sets that this machine runs, best first; the last one is scalar.
[[nodiscard]] std::span<const Backend* const> available_backends() noexcept;

/// The instruction set in use; chosen at the first call.
[[nodiscard]] const Backend& current_backend() noexcept;

/// Makes later products of the process use `backend`, which available_backends() lists. For tests
/// and benchmarks.
void use_backend(const Backend& backend) noexcept;

} // namespace simaai::kernels::matrix::detail
