// SPDX-License-Identifier: LGPL-2.1-or-later
// The one way a misused matrix stops the program, in every build type.
//
// A position outside a matrix, an output that shares bytes with an operand, a run-time shift above
// 62 and buffers of the wrong run-time length are mistakes of the caller, not data. They never
// return: simaai_matrix_violation() is called when the program defines it, and whatever it does,
// the program stops afterwards. Hosted programs without a handler print one line and abort.
#pragma once

#include <cstddef>
#include <cstdint>

#if __STDC_HOSTED__
#include <cstdio>
#include <cstdlib>
#endif

namespace simaai::kernels::matrix {

/// What the caller did. The comments say what `found` and `limit` of the Violation hold.
enum class ViolationKind : std::uint8_t {
  IndexOutOfRange, ///< found: row, column; limit: rows, columns
  OutputOverlap,   ///< found: bytes of the output, bytes of the operand
  ShiftOutOfRange, ///< found[0]: the shift; limit[0]: largest shift
  SizeMismatch,    ///< found[0]: elements given; limit[0]: elements expected
};

/// A contract violation. `operation` is a static string, such as "get" or "gemv".
struct Violation {
  ViolationKind kind;
  const char* operation;
  std::size_t found[2];
  std::size_t limit[2];
};

} // namespace simaai::kernels::matrix

/// Hook that a program may define, once, in any translation unit. It must not return; if it does,
/// the program is stopped all the same. It may be called on any thread.
extern "C" __attribute__((weak, visibility("default"))) void
simaai_matrix_violation(const simaai::kernels::matrix::Violation* violation) noexcept;

namespace simaai::kernels::matrix::detail {

#if __STDC_HOSTED__
inline void print(const Violation& violation) noexcept {
  const auto& [kind, operation, found, limit] = violation;
  switch (kind) {
  case ViolationKind::IndexOutOfRange:
    std::fprintf(stderr, "simaai matrix: %s: position (%zu, %zu) is outside a %zu x %zu matrix\n",
                 operation, found[0], found[1], limit[0], limit[1]);
    return;
  case ViolationKind::OutputOverlap:
    std::fprintf(stderr, "simaai matrix: %s: the output (%zu bytes) overlaps an operand (%zu)\n",
                 operation, found[0], found[1]);
    return;
  case ViolationKind::ShiftOutOfRange:
    std::fprintf(stderr, "simaai matrix: %s: shift %zu is above %zu\n", operation, found[0],
                 limit[0]);
    return;
  case ViolationKind::SizeMismatch:
    std::fprintf(stderr, "simaai matrix: %s: %zu elements were given, %zu are expected\n",
                 operation, found[0], limit[0]);
    return;
  }
}
#endif

/// Stops the program. Not constexpr on purpose: reaching it in a constant expression is an error.
[[noreturn, gnu::cold, gnu::noinline]] inline void stop(const Violation& violation) noexcept {
  if (&simaai_matrix_violation != nullptr)
    simaai_matrix_violation(&violation);
#if __STDC_HOSTED__
  print(violation);
  std::abort();
#else
  __builtin_trap();
#endif
}

[[noreturn, gnu::cold]] inline void stop_index(const char* operation, std::size_t row,
                                               std::size_t col, std::size_t rows,
                                               std::size_t cols) noexcept {
  stop({ViolationKind::IndexOutOfRange, operation, {row, col}, {rows, cols}});
}

/// Stops where the byte ranges intersect. Ranges that only touch do not.
inline void refuse_overlap(const char* operation, const void* output, std::size_t output_bytes,
                           const void* operand, std::size_t operand_bytes) noexcept {
  const auto out = reinterpret_cast<std::uintptr_t>(output);
  const auto in = reinterpret_cast<std::uintptr_t>(operand);
  if (out < in + operand_bytes && in < out + output_bytes)
    stop({ViolationKind::OutputOverlap, operation, {output_bytes, operand_bytes}, {0, 0}});
}

} // namespace simaai::kernels::matrix::detail
