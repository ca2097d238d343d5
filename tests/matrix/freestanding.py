#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Proves that the core of the matrix library needs no operating system and no allocator.

usage: freestanding.py (riscv32 | arc) SOURCE_ROOT HOST_PROGRAM

The program in freestanding/ is compiled and linked without any library but the compiler's own
arithmetic. For riscv32 it runs under QEMU and must report the bytes of HOST_PROGRAM, the same
program built for this machine with the hosted library; for arc it is linked and measured. Controls
for both: the same program with one allocation must fail to link. Exit status 77: a tool is missing.
"""
import glob
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

FLAGS = ['-std=c++20', '-O2', '-ffreestanding', '-fno-exceptions', '-fno-rtti', '-Wall', '-Wextra',
         '-Werror', '-fno-threadsafe-statics', '-fno-tree-loop-distribute-patterns',
         '-ffunction-sections', '-fdata-sections', '-nostdlib', '-static', '-Wl,--gc-sections']
MISSING = 77
# ViolationKind::IndexOutOfRange, as freestanding/bare.cpp reports it.
MISUSE_STATUS = 40


def fail(text):
    sys.exit(f'FAILED: {text}')


def skip(tool, package):
    print(f'skipped: {tool} is not installed (Debian package {package}); ./run test --long installs it')
    sys.exit(MISSING)


def riscv32():
    """Compiler command line. The toolchain has no C++ library: the headers of another target that
    uses the same C library are borrowed, and only the freestanding ones are used."""
    compiler = shutil.which('riscv64-unknown-elf-g++') or skip(
        'riscv64-unknown-elf-g++', 'gcc-riscv64-unknown-elf')
    if not shutil.which('qemu-riscv32'):
        skip('qemu-riscv32', 'qemu-user')
    headers = sorted(glob.glob('/usr/include/newlib/c++/*/span'))
    if not headers:
        skip('<span> for newlib', 'libstdc++-arm-none-eabi-dev, libnewlib-dev')
    folder = pathlib.Path(headers[-1]).parent
    return [compiler, '-march=rv32imac', '-mabi=ilp32', '-Wl,--no-relax', '-Wl,--no-warn-rwx-segments',
            '-nostdinc++', '-isystem', folder, '-isystem', folder / 'arm-none-eabi',
            '-isystem', '/usr/include/newlib'], 'riscv64-unknown-elf-size'


def arc():
    compiler = shutil.which('arc-linux-gnu-g++-12') or skip('arc-linux-gnu-g++-12', 'g++-12-arc-linux-gnu')
    # Without an entry point the linker would drop everything, and accept any program.
    return [compiler, '-mcpu=hs38', '-no-pie', '-Wl,-e,_start'], 'arc-linux-gnu-size'


def link(toolchain, root, output, *arguments):
    folder = root / 'tests' / 'matrix' / 'freestanding'
    command = [*toolchain, *FLAGS, '-I', root / 'kernels' / 'include', *arguments,
               folder / 'program.cpp', folder / 'bare.cpp', '-lgcc', '-o', output]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def expect_link(toolchain, root, output, *arguments):
    result = link(toolchain, root, output, *arguments)
    if result.returncode != 0:
        fail(f'the core does not link {arguments}:\n{result.stderr}')


def expect_no_allocator(toolchain, root, output):
    result = link(toolchain, root, output, '-DALLOCATE')
    if result.returncode == 0:
        fail('a program that allocates links: the check proves nothing')
    if 'undefined reference to `operator new' not in result.stderr:
        fail(f'a program that allocates fails for another reason:\n{result.stderr}')


def text_bytes(size_tool, program):
    lines = subprocess.run([size_tool, program], capture_output=True, text=True, check=True).stdout
    return int(lines.splitlines()[1].split()[0])


def run_in_emulator(program):
    return subprocess.run(['qemu-riscv32', program], capture_output=True)


def check_runs(toolchain, root, folder, host_program):
    expected = subprocess.run([host_program], capture_output=True, check=True).stdout
    if len(expected) < 10000:
        fail(f'the reference run reports {len(expected)} bytes only')
    for level in ('-O2', '-Os', '-O0'):
        program = folder / f'program{level}'
        expect_link(toolchain, root, program, level)
        run = run_in_emulator(program)
        if run.returncode != 0 or run.stdout != expected:
            fail(f'{level}: status {run.returncode}, {len(run.stdout)} bytes; they differ from the host')
        print(f'{level}: {len(expected)} bytes equal those of the host')
    misuse = folder / 'misuse'
    expect_link(toolchain, root, misuse, '-DMISUSE')
    run = run_in_emulator(misuse)
    if run.returncode != MISUSE_STATUS or run.stdout != expected:
        fail(f'the own handler is not called: status {run.returncode}')
    expect_link(toolchain, root, misuse, '-DMISUSE', '-DNO_HANDLER')
    run = run_in_emulator(misuse)
    if run.returncode not in (-signal.SIGTRAP, -signal.SIGILL) or run.stdout != expected:
        fail(f'misuse without a handler does not trap: status {run.returncode}')
    print('misuse ends in the own handler, and in a trap without one')


def main():
    target, root, host_program = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    toolchain, size_tool = {'riscv32': riscv32, 'arc': arc}[target]()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / 'program'
        expect_link(toolchain, root, program, '-Os')
        size = text_bytes(size_tool, program)
        if not 4000 < size < 40000:
            fail(f'{size} bytes of code are not the size of the core')
        print(f'{target}: links without libraries, {size} bytes of code')
        expect_no_allocator(toolchain, root, folder / 'allocating')
        print('a program that allocates does not link')
        if target == 'riscv32':
            check_runs(toolchain, root, folder, host_program)


if __name__ == '__main__':
    main()
