// SPDX-License-Identifier: LGPL-2.1-or-later
// Platform of the freestanding run: entry point, two system calls for the emulator, the four memory
// functions that a compiler may call, and the program's own handler for misuse.
#include <cstddef>
#include <cstdint>

#include <simaai/kernels/matrix/violation.h>

#include "program.h"

namespace {

#if defined(__riscv)
long call(long number, long a, long b, long c) {
  register long a0 asm("a0") = a;
  register long a1 asm("a1") = b;
  register long a2 asm("a2") = c;
  register long a7 asm("a7") = number;
  asm volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a7) : "memory");
  return a0;
}
[[noreturn]] void leave(int status) {
  call(93, status, 0, 0);
  __builtin_trap();
}
void put(const void* bytes, std::size_t count) {
  call(64, 1, reinterpret_cast<long>(bytes), static_cast<long>(count));
}
#else
// Linked and measured only: no emulator of this machine is at hand.
volatile std::uint8_t last_byte;
[[noreturn]] void leave(int) { __builtin_trap(); }
void put(const void* bytes, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n)
    last_byte = static_cast<const std::uint8_t*>(bytes)[n];
}
#endif

} // namespace

void write_bytes(const void* bytes, std::size_t count) { put(bytes, count); }

#ifndef NO_HANDLER
extern "C" void
simaai_matrix_violation(const simaai::kernels::matrix::Violation* violation) noexcept {
  leave(40 + static_cast<int>(violation->kind));
}
#endif

extern "C" {
void* memcpy(void* dst, const void* src, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n)
    static_cast<volatile char*>(dst)[n] = static_cast<const char*>(src)[n];
  return dst;
}
void* memmove(void* dst, const void* src, std::size_t count) {
  if (reinterpret_cast<std::uintptr_t>(dst) <= reinterpret_cast<std::uintptr_t>(src))
    return memcpy(dst, src, count);
  for (std::size_t n = count; n > 0; --n)
    static_cast<volatile char*>(dst)[n - 1] = static_cast<const char*>(src)[n - 1];
  return dst;
}
void* memset(void* dst, int value, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n)
    static_cast<volatile char*>(dst)[n] = static_cast<char>(value);
  return dst;
}
int memcmp(const void* a, const void* b, std::size_t count) {
  for (std::size_t n = 0; n < count; ++n) {
    const int difference =
        static_cast<const unsigned char*>(a)[n] - static_cast<const unsigned char*>(b)[n];
    if (difference != 0)
      return difference;
  }
  return 0;
}
[[noreturn]] void start_program() {
  run_program();
  leave(0);
}
#if defined(__riscv)
// The emulator enters with the stack pointer set; the global pointer is not used (no relaxation).
asm(".globl _start\n_start:\n  andi sp, sp, -16\n  call start_program\n");
#else
[[noreturn]] void _start() { start_program(); }
#endif
}
