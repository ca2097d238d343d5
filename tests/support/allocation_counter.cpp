// SPDX-License-Identifier: LGPL-2.1-or-later
// Allocation counting by sanitizer hooks, or by interposing the C allocator.
#include "allocation_counter.h"

#include <cerrno>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIMAAI_TEST_SANITIZER_HOOKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define SIMAAI_TEST_SANITIZER_HOOKS 1
#endif
#endif

namespace {
// Initial-exec, so that reading it never allocates.
__attribute__((tls_model("initial-exec"))) thread_local std::uint64_t count = 0;
} // namespace

namespace simaai::test {
std::uint64_t allocations_of_this_thread() { return count; }
} // namespace simaai::test

#ifdef SIMAAI_TEST_SANITIZER_HOOKS

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             std::size_t),
                                                         void (*free_hook)(const volatile void*));

namespace {
const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void* /*memory*/, std::size_t /*bytes*/) { ++count; },
    [](const volatile void* /*memory*/) {});
} // namespace

#else

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t items, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

__attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
  ++count;
  return __libc_malloc(bytes);
}
__attribute__((visibility("default"))) void* calloc(std::size_t items, std::size_t bytes) {
  ++count;
  return __libc_calloc(items, bytes);
}
__attribute__((visibility("default"))) void* realloc(void* memory, std::size_t bytes) {
  ++count;
  return __libc_realloc(memory, bytes);
}
__attribute__((visibility("default"))) void* memalign(std::size_t alignment, std::size_t bytes) {
  ++count;
  return __libc_memalign(alignment, bytes);
}
__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment,
                                                           std::size_t bytes) {
  ++count;
  return __libc_memalign(alignment, bytes);
}
__attribute__((visibility("default"))) int posix_memalign(void** memory, std::size_t alignment,
                                                          std::size_t bytes) {
  ++count;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}

#endif
