// SPDX-License-Identifier: LGPL-2.1-or-later
// Plug-in of qemu-aarch64: counts the guest's instructions from mark to mark.
//
// A mark is a system call that no kernel knows (marks.h). For each one the plug-in writes a line
// "NUMBER INSTRUCTIONS", the instructions since the mark before, to the file given as out=PATH. One
// guest thread. The interface is QEMU's plug-in version 1 (QEMU 4.2 to 8.2), declared here because
// no package has the header. Compiled for this machine, as C++17.
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "instructions/marks.h"

#define SIMAAI_EXPORT __attribute__((visibility("default")))

extern "C" {

struct qemu_plugin_tb;
struct qemu_info_t;
using qemu_plugin_id_t = std::uint64_t;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

using TranslationCallback = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);
using SystemCallCallback = void (*)(qemu_plugin_id_t, unsigned, std::int64_t, std::uint64_t,
                                    std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                    std::uint64_t, std::uint64_t, std::uint64_t);

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, TranslationCallback callback);
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb* block, qemu_plugin_op operation,
                                              void* counter, std::uint64_t addend);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, SystemCallCallback callback);

SIMAAI_EXPORT extern int qemu_plugin_version;
int qemu_plugin_version = 1;
SIMAAI_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc,
                                      char** argv);
}

namespace {

std::uint64_t executed = 0; ///< QEMU's generated code adds to it
std::uint64_t at_last_mark = 0;
std::FILE* out = nullptr;

/// Each run of a translation block adds its length. A block ends at a system call, so the count is
/// exact at a mark.
void on_translation(qemu_plugin_id_t /*id*/, qemu_plugin_tb* block) {
  qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &executed,
                                           qemu_plugin_tb_n_insns(block));
}

void on_system_call(qemu_plugin_id_t /*id*/, unsigned /*vcpu*/, std::int64_t number,
                    std::uint64_t mark, std::uint64_t /*a2*/, std::uint64_t /*a3*/,
                    std::uint64_t /*a4*/, std::uint64_t /*a5*/, std::uint64_t /*a6*/,
                    std::uint64_t /*a7*/, std::uint64_t /*a8*/) {
  if (number != simaai::bench::kMarkCall)
    return;
  std::fprintf(out, "%llu %llu\n", static_cast<unsigned long long>(mark),
               static_cast<unsigned long long>(executed - at_last_mark));
  std::fflush(out);
  at_last_mark = executed;
}

} // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* /*info*/, int argc, char** argv) {
  constexpr std::string_view kOut = "out=";
  for (int i = 0; i < argc; ++i)
    if (std::string_view(argv[i]).substr(0, kOut.size()) == kOut)
      out = std::fopen(argv[i] + kOut.size(), "w");
  if (out == nullptr) {
    std::fputs("instruction counter: out=PATH is missing or cannot be written\n", stderr);
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_vcpu_syscall_cb(id, on_system_call);
  return 0;
}
