#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles and links all shipped firmware for a 32-bit target without operating system and library.

usage: freestanding.py (riscv32 | arc) SOURCE_ROOT

Every source of firmware/ except the model, and the wire sources that it needs, is compiled with
-fstack-usage and linked with stub bodies of firmware/target/platform.h. The frames of any one
operation must fit what slots.h reserves for them beside the slots. Exit status 77: a tool is missing.
"""
import glob
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = ['-std=c++17', '-O2', '-ffreestanding', '-fno-exceptions', '-fno-rtti', '-Wall', '-Wextra', '-Werror',
         '-fno-threadsafe-statics', '-fno-tree-loop-distribute-patterns', '-fstack-usage',
         '-ffunction-sections', '-fdata-sections']
LINK = ['-nostdlib', '-static', '-Wl,--no-undefined']
MISSING = 77
MAX_FRAME = 3072

PLATFORM = '''
#include "firmware/target/platform.h"
#include "firmware/target/services.h"
extern "C" {
ENTRIES
std::uint32_t ev74_platform_workers(void) { return 4; }
std::uint32_t ev74_platform_local_bytes(void) { return 131072; }
void* ev74_platform_local(std::uint32_t) { return nullptr; }
void ev74_platform_run(std::uint32_t, void (*)(void*, std::uint32_t), void*) {}
std::uint32_t ev74_platform_submit(std::uint32_t, const Ev74PlatformTransfer*, std::uint32_t) { return 0; }
void ev74_platform_wait(std::uint32_t, std::uint32_t) {}
void* memcpy(void* to, const void* from, __SIZE_TYPE__ n) {
  for (__SIZE_TYPE__ i = 0; i < n; ++i) ((volatile char*)to)[i] = ((const char*)from)[i];
  return to;
}
void* memset(void* to, int value, __SIZE_TYPE__ n) {
  for (__SIZE_TYPE__ i = 0; i < n; ++i) ((volatile char*)to)[i] = (char)value;
  return to;
}
void _start() {
  const Ev74Services services = simaai::firmware::target::platform_services();
CALLS
}
}
static_assert(sizeof(void*) == 4, "a 32-bit target");
'''


def fail(text):
    sys.exit(f'FAILED: {text}')


def skip(tool, package):
    print(f'skipped: {tool} is not installed (Debian package {package}); ./run test --long installs it')
    sys.exit(MISSING)


def riscv32():
    compiler = shutil.which('riscv64-unknown-elf-g++') or skip('riscv64-unknown-elf-g++', 'gcc-riscv64-unknown-elf')
    headers = sorted(glob.glob('/usr/include/newlib/c++/*/span'))
    if not headers:
        skip('<span> for newlib', 'libstdc++-arm-none-eabi-dev, libnewlib-dev')
    folder = pathlib.Path(headers[-1]).parent
    return [compiler, '-march=rv32imac', '-mabi=ilp32', '-nostdinc++', '-isystem', str(folder),
            '-isystem', str(folder / 'arm-none-eabi'), '-isystem', '/usr/include/newlib'], ['-Wl,--no-warn-rwx-segments']


def arc():
    compiler = shutil.which('arc-linux-gnu-g++-12') or skip('arc-linux-gnu-g++-12', 'g++-12-arc-linux-gnu')
    return [compiler, '-mcpu=hs38', '-no-pie'], ['-Wl,-e,_start']


def run(command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if result.returncode != 0:
        fail(' '.join(str(part) for part in command) + '\n' + result.stderr)


def shipped(root):
    """Source -> group: an operation, or what all of them share."""
    sources = {}
    for path in sorted((root / 'firmware').rglob('*.cpp')):
        group = path.relative_to(root / 'firmware').parts[0]
        if group != 'model':
            sources[path] = 'shared' if group in ('common', 'target') else group
    for name in ('check.cpp', 'descriptor.cpp'):
        sources[root / 'kernels' / 'wire' / name] = 'shared'
    return sources


def frames(path):
    """(function, bytes) of a .su file; a frame of unknown size is a failure."""
    for line in path.read_text().splitlines():
        name, size, kind = line.split('\t')
        if 'dynamic' in kind:
            fail(f'{name}: the frame has no fixed size')
        yield name, int(size)


def reserve(root):
    text = (root / 'firmware' / 'common' / 'slots.h').read_text()
    return int(re.search(r'kFrameReserveBytes = (\d+) \* 1024', text).group(1)) * 1024


def check_frames(usage, root):
    shared = sum(size for _, size in usage['shared'])
    for group, found in usage.items():
        for name, size in found:
            if size > MAX_FRAME:
                fail(f'{name}: a frame of {size} bytes, at most {MAX_FRAME} are allowed')
        # No recursion: the sum of all frames bounds every chain of calls.
        total = sum(size for _, size in found) + (shared if group != 'shared' else 0)
        if total > reserve(root):
            fail(f'{group}: frames of {total} bytes exceed the reserve of {reserve(root)}')
        print(f'{group}: all frames together {total} bytes, largest {max(size for _, size in found)}')


def main():
    target, root = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    compiler, link_flags = {'riscv32': riscv32, 'arc': arc}[target]()
    include = ['-I', root, '-I', root / 'kernels']
    usage = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        objects = []
        for number, (source, group) in enumerate(shipped(root).items()):
            compiled = folder / f'{number}.o'
            run([*compiler, *FLAGS, *include, '-c', source, '-o', compiled])
            objects.append(compiled)
            usage.setdefault(group, []).extend(frames(compiled.with_suffix('.su')))
        operations = sorted(group for group in usage if group != 'shared')
        symbols = [f'simaai_kernels_ev74_{op}_v1' for op in operations]
        platform = folder / 'platform.cpp'
        platform.write_text(
            '// Stubs.\n' + PLATFORM
            .replace('ENTRIES', '\n'.join(f'std::uint32_t {s}(const void*, std::uint32_t, const Ev74Services*);'
                                          for s in symbols))
            .replace('CALLS', '\n'.join(f'  (void){s}(nullptr, 0, &services);' for s in symbols)))
        run([*compiler, *FLAGS, *include, '-Wno-cast-qual', *LINK, *link_flags, platform, *objects, '-lgcc',
             '-o', folder / 'firmware'])
        print(f'{target}: {len(objects)} sources compile and link without libraries: {", ".join(operations)}')
        check_frames(usage, root)


if __name__ == '__main__':
    main()
