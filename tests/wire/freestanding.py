#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Links the packet reader as freestanding C++17 with no library at all; a program that allocates must not link."""
import pathlib
import subprocess
import sys
import tempfile

FLAGS = ["-std=c++17", "-O1", "-ffreestanding", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics",
         "-fno-stack-protector", "-fno-pie", "-no-pie", "-nostdlib", "-static", "-ffunction-sections",
         "-Wl,--gc-sections", "-Wl,-e,_start", "-Wall", "-Wextra", "-Werror"]


def link(compiler, root, output, extra):
    sources = sorted((root / "kernels/wire").glob("*.cpp")) + [root / "tests/wire/freestanding_main.cpp"]
    command = [compiler, *FLAGS, *extra, "-I", root / "kernels", *sources, "-o", output]
    return subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def main():
    compiler, root = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "program"
        done = link(compiler, root, output, [])
        if done.returncode != 0:
            print(done.stdout)
            return 1
        undefined = subprocess.run(["nm", "-u", str(output)], stdout=subprocess.PIPE, text=True, check=True).stdout
        if undefined.strip():
            print("undefined symbols:\n" + undefined)
            return 1
        control = link(compiler, root, output, ["-DSIMAAI_TEST_ALLOCATES"])
        if control.returncode == 0 or "operator new" not in control.stdout:
            print("the program that allocates was not refused\n" + control.stdout)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
