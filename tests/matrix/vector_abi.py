#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles files of the matrix library without optimisation: no function may take or give vectors that its own instruction set
lacks. Such a call works where it is inlined, and passes garbage where it is not."""
import argparse
import pathlib
import subprocess
import sys
import tempfile

BAD = """using Block = unsigned char __attribute__((vector_size(32)));
inline bool first(Block bytes) { return bytes[0] != 0; }
__attribute__((target("avx2"))) bool use(const Block* bytes) { return first(*bytes); }
"""


def compiles(command, source, folder):
    done = subprocess.run([*command, "-O0", "-Werror=psabi", "-c", str(source), "-o", str(folder / "out.o")],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode == 0, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", nargs="+", type=pathlib.Path)
    parser.add_argument("--command", nargs=argparse.REMAINDER, required=True)
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        bad = folder / "bad.cpp"
        bad.write_text(BAD, encoding="utf-8")
        if compiles(arguments.command, bad, folder)[0]:
            print("not found: a function without the instruction set of its argument")
            failed += 1
        for source in arguments.sources:
            right, text = compiles(arguments.command, source, folder)
            if not right:
                print(f"{source}:\n{text}")
                failed += 1
    print(f"{len(arguments.sources)} files, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
