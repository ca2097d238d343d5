#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the arm64 instruction sets of the matrix library under QEMU.

usage: arm64.py SOURCE_ROOT

isa_check is cross-compiled with the NEON files and linked statically, so no arm64 system is needed.
A processor without dot products must not be offered them. Exit status 77: a tool is missing.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

COMPILER = 'aarch64-linux-gnu-g++-12'
SOURCES = ['kernels/matrix/dispatch.cpp', 'kernels/matrix/scalar.cpp', 'kernels/matrix/simd/neon.cpp',
           'kernels/matrix/simd/neon_wire.cpp', 'kernels/matrix/simd/neondot.cpp', 'tests/matrix/isa_check.cpp']
FLAGS = ['-std=c++20', '-O2', '-static', '-Wall', '-Wextra', '-Werror', '-Ikernels', '-Ikernels/include',
         '-Itests/matrix', '-DSIMAAI_MATRIX_HAVE_NEON=1', '-DSIMAAI_MATRIX_HAVE_NEONDOT=1']


def main():
    for tool, package in ((COMPILER, 'g++-12-aarch64-linux-gnu'), ('qemu-aarch64', 'qemu-user')):
        if not shutil.which(tool):
            print(f'skipped: {tool} is not installed (Debian package {package}); ./run test --long installs it')
            return 77
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / 'isa_check'
        subprocess.run([COMPILER, *FLAGS, *SOURCES, '-o', program], cwd=sys.argv[1], check=True)
        for cpu, names, status in (('cortex-a76', ['neondot', 'neon', 'scalar'], 0),
                                   ('cortex-a53', ['neon', 'scalar'], 0), ('cortex-a53', ['neondot'], 1)):
            result = subprocess.run(['qemu-aarch64', '-cpu', cpu, program, *names],
                                    capture_output=True, text=True)
            print(f'{cpu}: {result.stdout}{result.stderr}', end='')
            if result.returncode != status:
                print(f'FAILED: status {result.returncode} instead of {status}')
                return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
